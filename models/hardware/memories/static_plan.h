// Static memory planning: fixed offsets for tensors, reused only where order proves it safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "sim/core/result.h"
#include "sim/engine/memory/memory_tracker.h"
#include "sim/graph/task_graph.h"

namespace foretrace {

inline constexpr std::uint32_t never_done = std::numeric_limits<std::uint32_t>::max();

/// A tensor to place. Device order is counted per stream: "the first n operations are done".
struct PlanItem {
  std::int64_t bytes = 0;
  std::size_t from = 0;      ///< host order: after this event it is needed
  std::size_t to = 0;        ///< host order: from this event on it is not; the size of the program
                             ///< if it outlives it
  std::uint32_t stream = 0;  ///< the one that uses it
  std::uint32_t needed_until = 0;  ///< so many operations of its stream must be done to reuse it
  /// Per stream: how many operations are surely done when its own first operation starts.
  std::vector<std::uint32_t> done_before;
};

/// Tensors of a device from a simulated run: used by the operations that their stream gets between
/// their allocation and their free. What is surely done follows from launches, stream order, events
/// and synchronizations, never from times.
[[nodiscard]] std::vector<PlanItem> plan_items(const TaskGraph& graph, const MemoryCurve& curve);

/// True if `second` may lie where `first` was.
[[nodiscard]] bool may_follow(const PlanItem& first, const PlanItem& second);

struct StaticPlan {
  std::vector<std::int64_t> offset;  ///< per item
  std::int64_t bytes = 0;            ///< what the plan takes in all
  std::int64_t no_reuse_bytes = 0;   ///< every tensor at a place of its own
  std::int64_t ideal_bytes = 0;      ///< most bytes live at once: no plan in host order takes less
  std::size_t streams = 0;
};
/// Largest first, each into the tightest gap that is left among those it may not share with;
/// several orders are tried and the smallest plan is kept. Errors: more than 30,000 items (the work
/// grows with their square).
[[nodiscard]] Result<StaticPlan> plan_statically(std::span<const PlanItem> items);

/// Checks a plan on its own terms: every two items that share a byte must be in a safe order. The
/// error names the first pair that is not.
[[nodiscard]] Status check_plan(std::span<const PlanItem> items, const StaticPlan& plan);

}  // namespace foretrace
