// Writes simulated timelines as a Chrome trace (JSON) that ui.perfetto.dev and chrome://tracing
// open.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "sim/core/result.h"
#include "sim/graph/task_graph.h"
#include "sim/result/export/chrome_counters.h"
#include "sim/result/export/text_sink.h"
#include "sim/result/timeline.h"

namespace foretrace {

/// One executed graph; several in one file lie above each other, all starting at time 0.
struct ChromeTraceView {
  std::string_view label;  ///< put before the name of every process: "predicted"; may be empty
  const TaskGraph& graph;
  const Timeline& timeline;
  std::vector<ChromeCounter> counters{};
  std::vector<ChromeInstants> instants{};  ///< at most one list per device
};

/// A slice per task and per host segment on one track per thread and stream, a track of steps, one
/// of phases and modules per device (nested, of its busiest stream), and an arrow per launch,
/// hand-over, event wait and synchronization; other waits get an arrow where they decided the
/// start. Begin and finish of a blocking call are one slice. Counters become "C" events, instants
/// "i" events. ErrorCode::io if the sink refused.
[[nodiscard]] Status write_chrome_trace(std::span<const ChromeTraceView> views,
                                        const TextSink& sink);

}  // namespace foretrace
