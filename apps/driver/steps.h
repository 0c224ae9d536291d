// Steps of a run: how long each took on the host and on the device, and which one is the answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "sim/core/result.h"
#include "sim/graph/task_graph.h"
#include "sim/result/timeline.h"
#include "trace/build_graph.h"

namespace foretrace::driver {

/// One entry per step. A host period is the time between the marks of a step; a device period the
/// time from the first device operation launched in the step to that of the next step.
struct StepTimes {
  std::vector<std::int64_t> numbers;
  std::vector<std::int64_t> host_ns;
  std::vector<std::int64_t> device_ns;  ///< one less than steps; -1 where one of the two has none
  std::int64_t span_ns = 0;
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
  std::size_t index = 0;        ///< the step whose host period is nearest; into the graph's steps
};

/// Steps as the trace recorded them.
[[nodiscard]] StepTimes measured_steps(const trace::BuiltGraph& built);
/// Steps of a simulated graph.
[[nodiscard]] StepTimes simulated_steps(const TaskGraph& graph, const Timeline& timeline);
/// Medians over all steps, or the chosen one. The error names the steps there are.
[[nodiscard]] Result<StepAnswer> answer_of(const StepTimes& times, const StepChoice& choice);

/// The usual distance of a step from the median (median absolute deviation) as a share of it: gains
/// below it drown in the trace's own scatter. 0 with fewer than 3 steps.
[[nodiscard]] double scatter_of(const StepTimes& times);

/// The middle value, or the mean of the two middle ones (rounded down); 0 if there is none.
[[nodiscard]] std::int64_t median(std::vector<std::int64_t> values);

}  // namespace foretrace::driver
