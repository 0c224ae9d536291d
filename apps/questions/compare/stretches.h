// What every instant of a stretch of time was spent on, as one rank sees it: each instant counts
// once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "sim/core/ids.h"
#include "sim/graph/task_graph.h"
#include "sim/result/summary.h"
#include "sim/result/timeline.h"

namespace foretrace {

/// In the order in which they claim an instant; the parts of a Breakdown.
enum class Use : std::uint8_t {
  compute,        ///< a kernel or a set runs
  communication,  ///< a collective transfers, nothing computes
  waiting,        ///< a collective waits for late ranks
  copy,           ///< only a copy runs
  host,           ///< the device is idle; a thread that launches is at work
  idle            ///< neither works: latencies, gaps of the device, hand-overs
};
inline constexpr std::size_t use_count = 6;
/// "device computes", "exposed communication", "waiting for late ranks", ...
[[nodiscard]] std::string_view to_string(Use use);

/// Time that one task claims. Of several that could, the one with the smallest id does.
struct Stretch {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  Use use = Use::idle;
  TaskId task = none<TaskId>;  ///< none: idle
  NameId label{};              ///< host: the region of the segment, or the call
};

/// The window without gaps or overlaps, in order of time. Adds up as summarize() does.
[[nodiscard]] std::vector<Stretch> stretches_of(const TaskGraph& graph, const Timeline& timeline,
                                                const Window& window);

/// The rank that arrived last where the finish of a collective waited; -1 if the graph does not
/// say.
[[nodiscard]] std::int32_t late_rank(const TaskGraph& graph, const Timeline& timeline,
                                     TaskId finish);

}  // namespace foretrace
