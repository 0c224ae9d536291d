// What a run needs of a device's memory, and what there is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/session/memory/memory_report.h"
#include "apps/session/recording/recording.h"
#include "sim/core/result.h"
#include "sim/engine/memory/memory_tracker.h"
#include "sim/graph/task_graph.h"
#include "sim/result/timeline.h"

namespace foretrace {

/// What the allocator of the fullest device takes.
struct MemoryNeed {
  std::int32_t rank = 0;
  std::int32_t device = 0;
  std::int64_t live_bytes = 0;  ///< peak of allocated blocks
  ReservedRange reserved{};
  bool is_least = false;  ///< tensors follow from shapes: what those do not tell comes on top
  double coverage = 1;    ///< see memory_coverage()

  /// What a fresh process reserves, or less where the recorded one did with less. What a process
  /// caches beyond is given back before it runs out of memory.
  [[nodiscard]] std::int64_t reserved_bytes() const;
};

/// Of the kernels of a recording, the share in operators whose tensors are known; 1 where memory
/// was recorded, and the least of the devices.
[[nodiscard]] double memory_coverage(const trace::BuiltGraph& built);

/// Refuses a recording without tensors, or whose shapes tell too little of what it holds; `what`
/// asks for them.
[[nodiscard]] Status check_tensors(const Recording& recording, std::string_view what);

/// What the devices of a run hold, one curve each, and what the allocator reserves for it.
struct HeldMemory {
  std::vector<MemoryCurve> curves;
  std::vector<ReservedRange> reserved;  ///< per curve
};

/// Predicts memory of changed runs; what does not change with them is computed once.
class MemoryModel {
 public:
  /// `timeline` is the simulated recording; both must outlive the model.
  MemoryModel(const Recording& recording, const Timeline& timeline);

  [[nodiscard]] bool is_known() const { return !recorded_.empty(); }
  /// Of the recorded graph or a changed one, simulated by the engine of the recorded one.
  [[nodiscard]] HeldMemory held(const TaskGraph& graph, const Timeline& timeline) const;
  /// Of the device that needs most; nothing where no tensor is recorded.
  [[nodiscard]] std::optional<MemoryNeed> need(const HeldMemory& held) const;
  [[nodiscard]] std::optional<MemoryNeed> need(const TaskGraph& graph,
                                               const Timeline& timeline) const {
    return is_known() ? need(held(graph, timeline)) : std::nullopt;
  }

 private:
  const Recording& recording_;
  std::vector<MemoryCurve> recorded_;
  std::vector<std::int64_t> fresh_bytes_;  // per recorded curve
  bool is_least_ = false;
  double coverage_ = 1;
};

/// Memory that a run has to fit in.
struct MemoryTarget {
  std::string name{};  ///< of an accelerator; empty: a size
  std::int64_t capacity_bytes = 0;
  std::int64_t context_low_bytes = 0;  ///< of it taken by the driver, outside the allocator
  std::int64_t context_high_bytes = 0;

  /// Compared with the capacity: reserved bytes and the largest context.
  [[nodiscard]] std::int64_t needed_bytes(const MemoryNeed& need) const {
    return need.reserved_bytes() + context_high_bytes;
  }
  /// Live blocks and the smallest context: nothing takes less.
  [[nodiscard]] std::int64_t low_bytes(const MemoryNeed& need) const {
    return need.live_bytes + context_low_bytes;
  }
  /// With all that the recorded process had cached without a cause in the trace.
  [[nodiscard]] std::int64_t high_bytes(const MemoryNeed& need) const {
    return need.reserved.high_bytes + context_high_bytes;
  }
  [[nodiscard]] bool fits(const MemoryNeed& need) const {
    return needed_bytes(need) <= capacity_bytes;
  }
  /// With its whole range, and nothing unknown on top.
  [[nodiscard]] bool surely_fits(const MemoryNeed& need) const {
    return high_bytes(need) <= capacity_bytes && !need.is_least;
  }
};

/// The memory of an accelerator.
[[nodiscard]] MemoryTarget target_of(const Accelerator& accelerator);
/// "24 GiB" on the accelerator of the run, or the name of an accelerator. Errors give an example.
[[nodiscard]] Result<MemoryTarget> parse_target(const Catalogue& catalogue, std::string_view text,
                                                const std::optional<Accelerator>& accelerator);

}  // namespace foretrace
