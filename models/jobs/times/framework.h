// Framework: what a training or serving library launches, fuses, overlaps and holds, read from
// configs/frameworks.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "models/hardware/catalogue/sources.h"
#include "models/hardware/networks/cluster.h"
#include "models/jobs/times/precisions.h"
#include "models/jobs/times/shard_travel.h"
#include "models/jobs/workloads/context_ring.h"
#include "models/jobs/workloads/kernel_set.h"
#include "models/jobs/workloads/model_spec.h"
#include "sim/core/result.h"

namespace foretrace {

struct Evidence;

/// Of a step that writes tokens, beside the device's work: scheduling, sampling, preparing inputs.
struct StepHost {
  double fixed_ns = 0;
  double per_sequence_ns = 0;  ///< that runs
  double tensor_ns = 0;        ///< where several ranks divide the layers

  [[nodiscard]] double of(double sequences, double tensor) const {
    return fixed_ns + per_sequence_ns * sequences + (tensor > 1 ? tensor_ns : 0);
  }
};

struct Framework {
  std::string name;     ///< file stem
  std::string product;  ///< for people
  /// Of platform_words: whose devices it runs on; empty: the file does not say.
  std::vector<std::string> runs_on;
  std::vector<std::string> usual_on;  ///< of them: a plan that names no framework takes it there
  KernelSet kernels;
  /// Of products on matrix units, against the accelerator's sustained rate: libraries that a
  /// generation was new to are slower. By Generation.
  std::array<double, 5> product_share{1, 1, 1, 1, 1};
  Ranged host_kernel_ns{0, 0, 0};  ///< of the host per kernel that it launches; 0: never limits
  StepHost step_host;

  double update_bytes = 28;   ///< read and written per parameter by the optimizer step
  double update_kernels = 0;  ///< per parameter tensor that the host launches for it; 0: few in all
  double accumulate_bytes = 0;  ///< the same per micro-batch, to add up gradients
  double weight_bytes = 2;      ///< held per parameter
  double gradient_bytes = 2;
  double state_bytes = 12;  ///< master copy and moments
  double reduce_bytes = 2;  ///< of a gradient when ranks add them up
  double unpack_bytes = 0;  ///< moved per sharded parameter after it was collected
  double pack_bytes = 0;    ///< moved per gradient before it is reduced and sharded
  double gather_bytes = 2;  ///< of a parameter when ranks collect it

  bool overlaps_gradients = false;  ///< reduction runs beside the last backward pass
  /// Then gradients leave together as soon as they have so many bytes, the first ones earlier
  /// (PyTorch's DistributedDataParallel); 0: as many elements as Megatron-LM waits for.
  double bucket_bytes = 0;
  double first_bucket_bytes = 0;
  bool overlaps_parameters = false;  ///< collection of updated parameters beside forward
  bool overlaps_tensor = true;       ///< input gradients are added up beside weight gradients
  /// Pieces of sequence parallelism are copied into order, or added up, by a kernel of their own.
  bool copies_pieces = false;
  bool gathers_8_bit = false;     ///< inputs of 8-bit products are cast before they travel
  bool forwards_tokens = false;   ///< a token goes once to each node of its experts (DeepEP)
  bool overlaps_experts = false;  ///< tokens travel beside the layers of another micro-batch
  bool pipelines_tensor = false;  ///< tensor collectives run piece by piece beside the products
  bool sends_block = true;        ///< pipeline sends are part of a stage's own time
  bool scatters_sends = true;     ///< a tensor group sends its activation in parts
  bool reshards_after_forward = true;  ///< sharded parameters are collected again for backward
  bool keeps_last_collected = false;   ///< but those of the last block, whose turn is next
  /// With a pipeline, sharded parameters are collected once a step and stay until the last backward
  /// pass; gradients are added up whole until then (PyTorch FSDP 2 in its pipeline schedules).
  bool pipeline_keeps_collected = false;
  /// With a pipeline, what a stage gets from others stays until the end of a step, with gradients,
  /// and so do the logits (torch.distributed.pipelining).
  bool pipeline_keeps_messages = false;
  /// Memory is what PyTorch's caching allocator reserves: for each stream apart, and segments of what
  /// operators of a layer pass on beside larger tensors of the head, which do not fit into them.
  bool reserves_segments = false;
  bool balances_context = true;  ///< causal attention is the same work on every context rank
  ContextRing context_ring;
  bool recompute_stops_early = false;  ///< at the last result that backward needs
  /// Products run in 16 bit, on casts of 32-bit weights, and so does what takes their results as they
  /// are; sums, norms and softmax are in 32 bit (torch.autocast).
  bool autocasts = false;
  std::uint32_t prefetch = 1;      ///< sharded layers collected ahead
  ShardTravel travel;              ///< of sharded parameters
  double vocabulary_multiple = 1;  ///< the vocabulary of a tensor rank is padded to this
  double cast_bytes = 4;           ///< per number that is cast to 8 bit for a product
  /// What the file states instead of evidence: a step takes up to 1 + this times as long or as
  /// short; of models without experts, and with them. Below 0: nothing.
  double step_error = -1;
  double expert_step_error = -1;
  /// Computation makes overlapped collectives this much slower.
  Ranged communication_slowdown{1, 1, 1};
  /// Overlapped collectives take multiprocessors from products and bandwidth from other kernels:
  /// they are this much slower.
  Ranged product_slowdown{1, 1, 1};
  Ranged memory_slowdown{1, 1, 1};
  FigureSources sources;
  /// Measured steps of this and other frameworks; null: of a file that stands alone.
  std::shared_ptr<const Evidence> evidence;
};

/// With the evidence of the catalogue. A name, or a file, may have single fields changed:
/// "torchtitan:reduce=2,prefetch=1", of its top or of what it says of parameters, overlap and
/// kernels.
[[nodiscard]] Result<Framework> find_framework(const Catalogue& catalogue, std::string_view name);
/// The one that it is `like` stands beside the file, or else in the catalogue. `changes`:
/// "reduce=2,prefetch=1".
[[nodiscard]] Result<Framework> parse_framework(const Catalogue& catalogue, std::string_view text,
                                                const std::string& where,
                                                std::string_view changes = {});
/// The same program where it computes in these precisions: in 32 bit, weights, what travels of them
/// and gradients have 4 bytes, and the weights are their own master copy. Itself where it does so as
/// it is.
[[nodiscard]] std::shared_ptr<const Framework> computing_in(
    const Precisions& precisions, const std::shared_ptr<const Framework>& framework);
[[nodiscard]] std::vector<std::string> framework_names(const Catalogue& catalogue);

/// What programs of a device are written for, as a word of its vendor.
inline constexpr std::array<std::string_view, 3> platform_words = {"cuda", "rocm", "tpu"};
/// One of these, by the maker; empty: another device.
[[nodiscard]] std::string_view platform_of(const Accelerator& accelerator);
/// Not where the file names platforms and the device's is none of them.
[[nodiscard]] bool runs_on(const Framework& framework, const Accelerator& accelerator);

}  // namespace foretrace
