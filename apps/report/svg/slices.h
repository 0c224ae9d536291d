// Lanes of a simulated run as rows of coloured time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "apps/report/svg/strip.h"
#include "sim/graph/task_graph.h"
#include "sim/result/timeline.h"

namespace foretrace::svg {

/// The part of a run that fills a row, and where in it the run is shown to stop.
struct RowWindow {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;   ///< of the row
  std::int64_t stop_ns = 0;  ///< of what is drawn in it
  std::size_t pixels = 0;
};

struct LaneRow {
  std::string label;  ///< "stream 7", "thread 4021"; with the rank where there are several
  std::vector<Run> runs;
  double busy_ns = 0;
  bool is_device = false;
};

/// The longest stretch of a window in which no stream works.
struct DeviceGap {
  std::size_t first = 0;  ///< pixel
  std::size_t count = 0;
  bool for_data = false;  ///< a thread loads data for at least half of it
};
[[nodiscard]] DeviceGap longest_gap(std::span<const LaneRow> rows, std::size_t pixels);

/// Streams first, then host threads, each with the busiest first. Lanes with nothing in the window
/// and lanes that no rank has are left out.
[[nodiscard]] std::vector<LaneRow> lane_rows(const TaskGraph& graph, const Timeline& timeline,
                                             const RowWindow& window);

}  // namespace foretrace::svg
