// Steps of a run: how long each took on the host and on the device, and which one is the answer.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "sim/core/result.h"
#include "sim/graph/task_graph.h"
#include "sim/result/device_steps.h"
#include "sim/result/timeline.h"

namespace foretrace {

/// What a step is measured by; the longest answers.
enum class StepLimit : std::uint8_t {
  host,           ///< from mark to mark
  device_period,  ///< from the first operation of the step to that of the next one
  device_work,    ///< what the device does for the step alone
  device_end      ///< from the begin mark to the last end on the device: of a lone step
};
inline constexpr std::size_t step_limit_count = 4;
/// "host period", "device period", "device work", "device end".
[[nodiscard]] std::string_view to_string(StepLimit limit);

/// One entry per step.
struct StepTimes {
  std::vector<std::int64_t> numbers;
  std::vector<std::int64_t> begin_ns;
  std::vector<std::int64_t> host_ns;
  std::vector<DeviceStep> device;
  std::vector<std::int64_t> device_ns;  ///< periods: one less than steps; -1 where not known
  /// From the begin mark to the end mark or the last end of the step's device work.
  std::vector<std::int64_t> reach_ns;
  std::int64_t span_ns = 0;
  std::int32_t rank = 0;
  std::size_t first_step = 0;  ///< index of its first step among the graph's
  /// Of a job: the steps of every rank. The steps above are then those that all ranks have, counted
  /// from the last one back (windows begin at different steps): lengths are medians over the ranks,
  /// everything else is of the rank whose host period is the (lower) median.
  std::vector<StepTimes> ranks;
  /// Per step of a job and limit: index of the rank in `ranks` whose length is the (lower) median.
  std::vector<std::array<std::size_t, step_limit_count>> median_rank;
  /// Per step of a job and rank: which of the rank's steps it is.
  std::vector<std::vector<std::size_t>> rank_steps;
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
  std::int64_t step_ns = 0;  ///< the longest of those below that are known
  std::int64_t host_ns = 0;
  std::int64_t device_ns = -1;  ///< period; -1: not known
  std::int64_t work_ns = 0;     ///< of the device, for a step alone
  StepLimit limit = StepLimit::host;
  bool is_span = false;      ///< no steps were recorded
  std::size_t left_out = 0;  ///< steps that are cut off or empty: medians are over the others
  /// The steps whose mean step_ns is: the middle one, or the two middle ones.
  std::array<std::size_t, 2> middle{};

  [[nodiscard]] bool device_limits() const { return limit != StepLimit::host; }
};

/// Where the time of a step lies in a simulated run: T[to] - T[from] is its length.
struct StepScope {
  Point from = no_point;       ///< no_point: the begin of the window
  Point to = no_point;         ///< no_point: the last end
  TaskId last = none<TaskId>;  ///< a critical path of the step ends with this task
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::int32_t rank = 0;
  /// Not -1: only the device work of this step of the graph counts, which is less than the stretch.
  std::int32_t work_of = -1;
};

/// Steps of the job where there are several ranks, the rank's own otherwise: `all` holds numbers,
/// begins, lengths and device work of every step of `steps`, which is sorted by rank.
[[nodiscard]] StepTimes steps_of_job(const std::vector<Step>& steps, StepTimes all);
/// Steps of a simulated graph.
[[nodiscard]] StepTimes simulated_steps(const TaskGraph& graph, const Timeline& timeline);

/// Whether each step counts: not if it launched (next to) nothing of what others launch and is
/// empty or short, as the first and last one of a window may be.
[[nodiscard]] std::vector<bool> whole_steps(const StepTimes& times);

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
/// Positions of the middle value, or of the two middle ones; values below 0 are not known, one must
/// be.
[[nodiscard]] std::array<std::size_t, 2> middle_of(const std::vector<std::int64_t>& values);

}  // namespace foretrace
