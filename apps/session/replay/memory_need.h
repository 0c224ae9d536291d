// What runs of a recording need of a device's memory, and whether it has room for them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/session/memory/memory_fits.h"
#include "apps/session/memory/memory_report.h"
#include "apps/session/recording/recording.h"
#include "sim/core/result.h"
#include "sim/engine/memory/memory_tracker.h"
#include "sim/graph/task_graph.h"
#include "sim/result/timeline.h"

namespace foretrace {

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

/// The memory of the accelerator that a change of the recording runs on; `before` is the need of
/// the recorded run.
[[nodiscard]] MemoryTarget target_of(const Recording& recording, const MemoryNeed& before,
                                     const Accelerator& accelerator);
/// "does not fit: needs 36.6 GiB, has 24.0 GiB (rtx_4090)".
[[nodiscard]] std::string text_of_misfit(const MemoryTarget& target, const MemoryNeed& need);
/// "24 GiB" on the accelerator of the run, or the name of an accelerator. Errors give an example.
[[nodiscard]] Result<MemoryTarget> parse_target(const Catalogue& catalogue, std::string_view text,
                                                const std::optional<Accelerator>& accelerator);

}  // namespace foretrace
