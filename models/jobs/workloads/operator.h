// What a layer of a model computes and keeps, before anything is spread over devices.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/hardware/catalogue/gemm_shape.h"
#include "models/hardware/catalogue/operator_fit.h"
#include "sim/graph/task.h"

namespace foretrace {

enum class OperatorType : std::uint8_t {
  product,        ///< with weights: forward, gradient of the input, gradient of the weights
  batch_product,  ///< without weights: two gradients of operands
  attention,      ///< fused attention
  rows,           ///< normalization or softmax of rows
  elementwise,    ///< bytes
  gather,         ///< rows of a table by index
  enter,          ///< what follows is divided over the tensor group; here its input becomes whole
  leave,          ///< what came before is divided; here its parts are added up
  dispatch,       ///< tokens go to their experts
  combine,        ///< and come back
  recorded,       ///< of another program's measurement: times as they stand
};

/// How tensor parallelism divides an operator.
enum class Split : std::uint8_t {
  none,      ///< every rank of the group does all of it
  sequence,  ///< rows, under sequence parallelism only
  columns,   ///< product: outputs; also tables by their rows of outputs
  rows,      ///< product: inputs; the results of the ranks are added up
  inside,    ///< elements between a divided product and the next
};

/// A fused attention over `heads` of `head_size`; queries x keys pairs, half of them if causal.
struct AttentionPart {
  double heads = 0;
  double key_heads = 0;
  double queries = 0;
  double keys = 0;
  double head_size = 0;
  double value_size = 0;
  double window = 0;  ///< keys that a query sees at most; 0: all
  bool causal = true;
  /// Keys that one query sees on average.
  [[nodiscard]] double keys_seen() const;
  friend bool operator==(const AttentionPart&, const AttentionPart&) = default;
};

/// Groups of ranks that a plan makes.
enum class Axis : std::uint8_t { tensor, context, expert, data, pipeline, embedding };
inline constexpr std::size_t axis_count = 6;
[[nodiscard]] std::string_view to_string(Axis axis);

/// When a collective runs against the computation of its rank.
enum class Overlap : std::uint8_t {
  none,     ///< before what needs it
  itself,   ///< while the operator that it belongs to runs, piece by piece
  weights,  ///< backward: while the gradient of the weights is computed
  pieces,   ///< in pieces beside the product that it belongs to; one piece has nothing beside it
};

/// A collective that an operator needs; put there by the parallelism.
struct Exchange {
  CollectiveKind kind = CollectiveKind::none;
  Axis axis = Axis::tensor;
  Overlap overlap = Overlap::none;
  double bytes = 0;                  ///< as nccl-tests counts them
  double delay_ns = 0;               ///< behind it, before its result is there
  bool is_part = false;              ///< the bytes are what one rank of the group gives
  bool among_expert_copies = false;  ///< gradients: round the copies of an expert, not the axis
  friend bool operator==(const Exchange&, const Exchange&) = default;
};

/// Times of a recorded layer, of one micro-batch on one rank.
struct RecordedTimes {
  double forward_ns = 0;
  double input_gradient_ns = 0;
  double weight_gradient_ns = 0;
  friend bool operator==(const RecordedTimes&, const RecordedTimes&) = default;
};

struct Operator {
  OperatorType type = OperatorType::elementwise;
  Split split = Split::none;
  OperatorKind rows_kind = OperatorKind::layer_norm;
  std::string_view name = {};  ///< lives as long as the program
  /// product: batch, m tokens, n outputs, k inputs. Others: batch x m rows of n numbers.
  GemmShape shape;
  AttentionPart attention;  ///< of shape.batch sequences
  /// product: how often each number of its input is used; a convolution moves fewer bytes than its
  /// implicit product seems to.
  double input_reuse = 1;
  double forward_bytes = 0;  ///< per number: elementwise, rows (backward), gather; sent: attention
  double backward_bytes = 0;
  std::uint16_t forward_kernels = 1;
  std::uint16_t backward_kernels = 1;
  double kept_bytes = 0;           ///< for the backward pass, all in all
  bool keeps_result = false;       ///< it keeps its result for the backward pass; else its input
  double divided_kept = 1;         ///< factor of it where a tensor group divides the operator
  bool keeps_whole_input = false;  ///< sequence parallelism does not divide what it keeps
  double kept_core_bytes = 0;      ///< the part of it that selective recomputation does not keep
  bool is_core = false;            ///< computed again by selective recomputation
  bool is_expert = false;          ///< one copy per expert; the batch of the shape counts experts
  bool keeps_precision = false;    ///< stays in 16 bit where products of layers are in 8 bit
  double weights = 0;              ///< parameters
  RecordedTimes recorded;          ///< recorded: what it takes
  double message_bytes = 0;        ///< enter, leave, dispatch, combine: what one rank has
  Exchange forward;                ///< before the operator; all that enter and the like do
  Exchange backward;
  Exchange again;  ///< backward, before the gradient of the weights
  /// recorded: of its gradients, beside all that follows; the end of the step waits for it.
  Exchange gradients;
  friend bool operator==(const Operator&, const Operator&) = default;
};

enum class BlockRole : std::uint8_t { embedding, layer, head };

/// Operators that are placed together: one layer, the embedding, the head.
struct Block {
  std::string name;
  BlockRole role = BlockRole::layer;
  std::vector<Operator> operators;
  double input_bytes = 0;  ///< activation that enters it, of one micro-batch
  friend bool operator==(const Block&, const Block&) = default;
};

/// `count` equal blocks in a row.
struct BlockRun {
  std::uint32_t block = 0;
  std::uint32_t count = 1;
  friend bool operator==(const BlockRun&, const BlockRun&) = default;
};

/// A model as blocks in the order in which they run.
struct Workload {
  std::vector<Block> blocks;
  std::vector<BlockRun> order;
  bool ties_embeddings = false;  ///< the head uses the table of the embedding
};

[[nodiscard]] double weights_of(const Block& block);
/// Weights of the whole model; tied tables count once.
[[nodiscard]] double weights_of(const Workload& workload);

}  // namespace foretrace
