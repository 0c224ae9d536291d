// What a file in models/policies/ exports: a run-time policy for a memory budget.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "models/hardware/catalogue/accelerator.h"
#include "sim/core/params.h"
#include "sim/core/result.h"
#include "sim/engine/event/event_driven.h"
#include "sim/engine/event/policy.h"
#include "sim/graph/task_graph.h"

namespace foretrace {

/// What a policy did in one run.
struct PolicyCounts {
  std::size_t evictions = 0;  ///< tensors that left the device, whichever way
  std::int64_t evicted_bytes = 0;
  std::size_t recomputed_kernels = 0;
  std::int64_t recomputed_ns = 0;  ///< device time of these, as measured when they first ran
  std::size_t swaps = 0;           ///< tensors copied to the host
  std::int64_t out_bytes = 0;
  std::int64_t in_bytes = 0;
  std::int64_t copy_ns = 0;  ///< both ways, bytes over bandwidth
  bool gave_up = false;      ///< it recomputed so much that it was stopped
};

/// A policy of the event-driven engine that makes room on devices with a budget.
class MemoryPolicy : public Policy {
 public:
  [[nodiscard]] const PolicyCounts& counts() const { return counts_; }
  /// The last request that did not fit; none: all did.
  [[nodiscard]] const std::optional<MemoryPressure>& last_pressure() const { return pressure_; }

 protected:
  [[nodiscard]] PolicyCounts& account() { return counts_; }
  void note(const MemoryPressure& pressure) { pressure_ = pressure; }

 private:
  PolicyCounts counts_;
  std::optional<MemoryPressure> pressure_;
};

struct PolicyInfo {
  std::string_view name;
  std::string_view summary;                       ///< one line
  std::string_view paper;                         ///< authors, title, venue, year
  std::string_view recipe;                        ///< what it does while the graph runs
  std::span<const std::string_view> assumptions;  ///< each a thing that could be false
  std::span<const std::string_view> ignores;      ///< what is left out
  std::string_view calibrate;                     ///< which parameter, from which measurement
  std::span<const ParamInfo> params;
  /// The graph is one of with_copy_lanes() and outlives the policy. Errors: a parameter that does
  /// not fit the others; unsupported for a graph that does not tell enough.
  Result<std::unique_ptr<MemoryPolicy>> (*make)(const TaskGraph& graph, const ParamValues& params);
};

namespace policies {
/// Every policy, sorted by name (generated from the files of models/policies).
[[nodiscard]] std::span<const PolicyInfo* const> all();
}  // namespace policies

/// The graph with streams of their own for copies to and from the host, one each way per device
/// with a budget, behind the other lanes. Tasks, times and order are those of the graph.
[[nodiscard]] TaskGraph with_copy_lanes(const TaskGraph& graph,
                                        std::span<const MemoryBudget> budgets);

}  // namespace foretrace
