// A picture of one simulated run, or of two above each other on one clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "sim/engine/memory/memory_tracker.h"
#include "sim/graph/task_graph.h"
#include "sim/result/timeline.h"

namespace foretrace::svg {

/// One run. What it refers to outlives the call.
struct TimelineView {
  std::string label;  ///< "as recorded"
  std::string note;   ///< beside it: "176.3 ms per step"
  const TaskGraph& graph;
  const Timeline& timeline;
  std::span<const MemoryCurve> memory{};
};

struct TimelinePicture {
  std::string title;                  ///< a sentence: what the picture shows
  std::string subtitle{};             ///< beside it, smaller
  std::size_t steps = 2;              ///< whole steps to show of each run, after the first one
  std::size_t most_rows = 8;          ///< lanes per run, the busiest ones; what is left out is said
  std::int64_t measured_step_ns = 0;  ///< a tick in the last run; 0: none
};

/// Streams and host threads as rows, colours by phase, live bytes below them, a time axis with
/// round ticks. The longest gap of the streams says for what, a shorter run shows the saved time.
/// An SVG document.
[[nodiscard]] std::string timeline_picture(const TimelinePicture& picture,
                                           std::span<const TimelineView> views);

}  // namespace foretrace::svg
