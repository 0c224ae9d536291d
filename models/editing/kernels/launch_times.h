// What a launch usually costs in a recording; for calls that a what-if puts in.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>

#include "sim/graph/task_graph.h"

namespace foretrace::editing {

/// Medians over plain launches of one kernel; 0 without any.
struct LaunchTimes {
  std::int64_t call_ns = 0;     ///< duration of the call
  std::int64_t latency_ns = 0;  ///< from the call to its kernel, on an idle stream
};
[[nodiscard]] LaunchTimes usual_launch(const TaskGraph& graph);

/// What a launch that is recorded costs the host when a what-if repeats it. A kernel's first launch
/// may load its code, compile it or choose an algorithm, which is not done again: it costs no more
/// than the next launch of this kernel on the same shapes. Where there is none, a first launch that
/// is far longer than others costs what they usually do.
class RepeatedLaunches {
 public:
  struct Times {
    std::int64_t call_ns = 0;  ///< duration of the call
    std::int64_t host_ns = 0;  ///< before it, on its thread
  };
  explicit RepeatedLaunches(const TaskGraph& graph);
  /// Of a kernel that has a call of its own.
  [[nodiscard]] Times of(TaskId kernel, TaskId call) const;

 private:
  struct Seen {
    TaskId first = none<TaskId>;  ///< call
    TaskId next = none<TaskId>;
  };
  using Key = std::tuple<std::int32_t, NameId, NameId>;  // rank, kernel, shapes
  [[nodiscard]] Key key_of(TaskId kernel) const;
  [[nodiscard]] Times recorded(TaskId call) const;

  const TaskGraph& graph_;
  std::map<Key, Seen> seen_;
  Times usual_;
};

}  // namespace foretrace::editing
