// Steps of a run: how long each took on the host and on the device, and which one is the answer.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "sim/core/result.h"
#include "sim/graph/task_graph.h"
#include "sim/result/timeline.h"
#include "trace/assemble/build_graph.h"

namespace foretrace::driver {

/// One entry per step. A host period is the time between the marks of a step; a device period the
/// time from the first device operation launched in the step to that of the next step.
struct StepTimes {
  std::vector<std::int64_t> numbers;
  std::vector<std::int64_t> begin_ns;
  std::vector<std::int64_t> host_ns;
  std::vector<std::int64_t> device_begin_ns;  ///< -1: the step launched no device work
  std::vector<std::int64_t> device_ns;    ///< one less than steps; -1 where one of the two has none
  std::vector<TaskId> first_device_task;  ///< of simulated steps; none where there is none
  std::int64_t span_ns = 0;
  std::int32_t rank = 0;
  std::size_t first_step = 0;  ///< index of its first step among the graph's
  /// Of a job: the steps of every rank. The steps above are then those that all ranks have, counted
  /// from the last one back (windows begin at different steps): host and device periods are medians
  /// over the ranks, everything else is of the rank whose step is the (lower) median.
  std::vector<StepTimes> ranks;
  std::vector<std::size_t> median_rank;  ///< per step of a job: index of `ranks`
};

/// Which step is asked for.
struct StepChoice {
  enum class Kind : std::uint8_t { median, number, all };
  Kind kind = Kind::median;
  std::int64_t number = 0;
};
/// "median", "all" or the number of a step.
[[nodiscard]] Result<StepChoice> parse_step_choice(std::string_view text);

/// The time of a step. Where a trace has no steps the span counts as one.
struct StepAnswer {
  std::int64_t step_ns = 0;  ///< the throughput: host or device period, the one that limits
  std::int64_t host_ns = 0;
  std::int64_t device_ns = -1;  ///< -1: not known
  bool device_limits = false;   ///< the host runs ahead of the device, step_ns is device_ns
  bool is_span = false;         ///< no steps were recorded
  /// The steps whose mean step_ns is: the middle one, or the two middle ones.
  std::array<std::size_t, 2> middle{};
};

/// Where the time of a step lies in a simulated run: T[to] - T[from] is its length.
struct StepScope {
  Point from = no_point;       ///< no_point: the begin of the window
  Point to = no_point;         ///< no_point: the last end
  TaskId last = none<TaskId>;  ///< a critical path of the step ends with this task
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::int32_t rank = 0;
};

/// Steps as the trace recorded them.
[[nodiscard]] StepTimes measured_steps(const trace::BuiltGraph& built);
/// Steps of a simulated graph.
[[nodiscard]] StepTimes simulated_steps(const TaskGraph& graph, const Timeline& timeline);
/// Medians over all steps, or the chosen one. The error names the steps there are.
[[nodiscard]] Result<StepAnswer> answer_of(const StepTimes& times, const StepChoice& choice);

/// The stretch of the step at `position` of the graph's steps that `answer` is about.
[[nodiscard]] StepScope scope_of(const TaskGraph& graph, const StepTimes& times,
                                 const StepAnswer& answer, std::size_t position);

/// The usual distance of a step from the median (median absolute deviation) as a share of it: gains
/// below it drown in the trace's own scatter. 0 with fewer than 3 steps.
[[nodiscard]] double scatter_of(const StepTimes& times);

/// The middle value, or the mean of the two middle ones (rounded down), of values from 0 up; 0 if
/// there is none.
[[nodiscard]] std::int64_t median(const std::vector<std::int64_t>& values);

}  // namespace foretrace::driver
