// What one rank does for a block: kernels and collectives in order, with their times.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "models/hardware/collectives/collective_costs.h"
#include "models/jobs/times/framework.h"
#include "models/jobs/times/kernel_times.h"
#include "models/jobs/workloads/operator.h"

namespace foretrace {

enum class Recompute : std::uint8_t {
  none,
  selective,  ///< the core of attention
  full,       ///< all of a layer
  operators,  ///< all but attention and every second product (torchtitan's "selective, op")
};
[[nodiscard]] std::string_view to_string(Recompute recompute);

enum class ActionType : std::uint8_t {
  compute,     ///< kernels
  collective,  ///< waited for at once
  start,       ///< a collective that runs beside what follows
  wait,        ///< for all collectives that were started
};

struct Action {
  ActionType type = ActionType::compute;
  CostSource source = CostSource::memory;
  Provenance provenance = Provenance::roofline;
  Axis axis = Axis::tensor;
  CollectiveKind collective = CollectiveKind::none;
  bool is_again = false;  ///< recomputed forward work
  std::uint16_t kernels = 0;
  float slowed = 1;  ///< while a collective runs beside it
  double ns = 0;
  double bytes = 0;  ///< collectives
  std::string_view name = {};
  friend bool operator==(const Action&, const Action&) = default;
};

/// Factors of times by source; all 1 for the prediction itself.
using SourceScale = std::array<double, cost_source_count>;
[[nodiscard]] constexpr SourceScale no_scale() {
  SourceScale scale{};
  for (double& factor : scale) factor = 1;
  return scale;
}

/// Where the time of a pass through a block goes, in ns.
struct PassTime {
  double total = 0;  ///< device and exposed collectives, or the host if that is longer
  std::array<double, cost_source_count> computed{};      ///< kernels by source
  std::array<double, axis_count> exposed{};              ///< collectives that were waited for
  std::array<double, provenance_count> by_provenance{};  ///< computed and exposed
  double overlapped = 0;                                 ///< collectives beside kernels
  double again = 0;                                      ///< recomputation, part of the above
  double host = 0;                                       ///< what the host needs to launch it
  double host_bound = 0;                                 ///< what it needs beyond the device
  void add(const PassTime& other, double count);
  friend bool operator==(const PassTime&, const PassTime&) = default;
};

/// A collective of gradients that a recording states.
struct GradientExchange {
  Exchange exchange;
  bool among_expert_copies = false;
  friend bool operator==(const GradientExchange&, const GradientExchange&) = default;
};

struct BlockProgram {
  std::vector<Action> forward;
  std::vector<Action> backward;  ///< with recomputation
  /// Gradients of weights alone, for schedules that split backward; then not in `backward`.
  std::vector<Action> weight_gradients;
  /// Collectives of gradients of recorded layers, in the order in which they start.
  std::vector<GradientExchange> gradients;
  double dense_weights = 0;  ///< parameters of this rank
  double expert_weights = 0;
  std::uint32_t tensors = 0;  ///< that the parameters are held in
  /// Elements of the dense ones, in the order of their use, where they travel one by one.
  std::vector<double> traveling = {};
  double kept_bytes = 0;     ///< per micro-batch in flight
  double working_bytes = 0;  ///< while one block is computed or recomputed: what else is alive
  double input_bytes = 0;
  double window = 0;  ///< keys of a sequence that attention looks at; 0: all
  friend bool operator==(const BlockProgram&, const BlockProgram&) = default;
};

/// What turns operators into actions.
struct LoweringOptions {
  const KernelTimes& kernels;
  const Framework& framework;
  Recompute recompute = Recompute::none;
  bool trains = true;
  bool splits_backward = false;
  double tensor_ranks = 1;
  /// Time of a collective of this group.
  std::function<CollectiveTime(Axis axis, CollectiveKind kind, double bytes)> collective = {};
  /// Whether the group leaves the node.
  std::function<bool(Axis axis)> leaves_node = {};
};

/// `block` is divided already.
[[nodiscard]] BlockProgram lower(const Block& block, const LoweringOptions& options);

/// Runs actions on a device with two lanes.
[[nodiscard]] PassTime time_of(const std::vector<Action>& actions, const Framework& framework,
                               const SourceScale& scale);

}  // namespace foretrace
