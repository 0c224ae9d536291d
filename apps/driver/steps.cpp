// Steps of a run and the one that answers.
#include "apps/driver/steps.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace foretrace::driver {
namespace {

// The first launch of a step comes a little earlier or later in every step. Only a device that
// falls behind by more than this share of the host's time limits the run; below it is that jitter.
constexpr double run_ahead_share = 0.02;

/// Whether the device, over all steps whose device period is known, took longer than the host.
bool device_falls_behind(const StepTimes& times) {
  std::int64_t host = 0;
  std::int64_t device = 0;
  for (std::size_t i = 0; i < times.device_ns.size(); ++i) {
    if (times.device_ns[i] >= 0) {
      host += times.host_ns[i];
      device += times.device_ns[i];
    }
  }
  return static_cast<double>(device) > static_cast<double>(host) * (1 + run_ahead_share);
}

std::vector<std::int64_t> known_periods(const StepTimes& times) {
  std::vector<std::int64_t> known = times.device_ns;
  known.erase(std::remove(known.begin(), known.end(), -1), known.end());
  return known;
}

std::size_t nearest(const std::vector<std::int64_t>& values, std::int64_t wanted) {
  const auto farther = [wanted](std::int64_t a, std::int64_t b) {
    return std::abs(a - wanted) < std::abs(b - wanted);
  };
  return static_cast<std::size_t>(std::min_element(values.begin(), values.end(), farther) -
                                  values.begin());
}

std::vector<std::int64_t> periods(const std::vector<std::int64_t>& first_start) {
  std::vector<std::int64_t> device;
  for (std::size_t i = 1; i < first_start.size(); ++i) {
    const bool known = first_start[i] >= 0 && first_start[i - 1] >= 0;
    device.push_back(known ? std::max<std::int64_t>(0, first_start[i] - first_start[i - 1]) : -1);
  }
  return device;
}

}  // namespace

Result<StepChoice> parse_step_choice(std::string_view text) {
  if (text == "median") {
    return StepChoice{};
  }
  if (text == "all") {
    return StepChoice{StepChoice::Kind::all, 0};
  }
  StepChoice choice{StepChoice::Kind::number, 0};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, choice.number);
  if (error != std::errc() || stop != end) {
    return Error{ErrorCode::bad_usage,
                 fmt::format("--step: got '{}', expected median, all or a step number", text)};
  }
  return choice;
}

StepTimes measured_steps(const trace::BuiltGraph& built) {
  StepTimes times;
  std::vector<std::int64_t> first_start;
  for (const trace::MeasuredStep& step : built.steps) {
    times.numbers.push_back(step.number);
    times.host_ns.push_back(step.end_ns - step.start_ns);
    first_start.push_back(step.first_device_start_ns);
  }
  times.device_ns = periods(first_start);
  times.span_ns = built.honesty.span_ns;
  return times;
}

StepTimes simulated_steps(const TaskGraph& graph, const Timeline& timeline) {
  const std::vector<Step>& steps = graph.context().steps;
  StepTimes times;
  std::vector<std::int64_t> first_start(steps.size(), -1);
  for (const Step& step : steps) {
    times.numbers.push_back(step.number);
    times.host_ns.push_back(timeline.end_ns(step.end) - timeline.start_ns(step.begin));
  }
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const TaskId task = make_id<TaskId>(i);
    if (graph.step(task) >= 0 && is_device(graph.kind(task))) {
      std::int64_t& first = first_start[static_cast<std::size_t>(graph.step(task))];
      const std::int64_t start = timeline.start_ns(task);
      first = first < 0 ? start : std::min(first, start);
    }
  }
  times.device_ns = periods(first_start);
  times.span_ns = timeline.span_ns;
  return times;
}

Result<StepAnswer> answer_of(const StepTimes& times, const StepChoice& choice) {
  StepAnswer answer;
  if (times.host_ns.empty()) {
    if (choice.kind == StepChoice::Kind::number) {
      return Error{ErrorCode::bad_usage,
                   fmt::format("--step {}: the trace has no steps", choice.number)};
    }
    answer.step_ns = answer.host_ns = times.span_ns;
    answer.is_span = true;
    return answer;
  }
  if (choice.kind == StepChoice::Kind::number) {
    const auto found = std::find(times.numbers.begin(), times.numbers.end(), choice.number);
    if (found == times.numbers.end()) {
      return Error{ErrorCode::bad_usage,
                   fmt::format("--step {}: the trace has the steps {}", choice.number,
                               fmt::join(times.numbers, ", "))};
    }
    answer.index = static_cast<std::size_t>(found - times.numbers.begin());
    answer.host_ns = times.host_ns[answer.index];
    answer.device_ns = answer.index < times.device_ns.size() ? times.device_ns[answer.index] : -1;
  } else {
    answer.host_ns = median(times.host_ns);
    answer.index = nearest(times.host_ns, answer.host_ns);
    const std::vector<std::int64_t> known = known_periods(times);
    answer.device_ns = known.empty() ? -1 : median(known);
  }
  answer.device_limits =
      device_falls_behind(times) && static_cast<double>(answer.device_ns) >
                                        static_cast<double>(answer.host_ns) * (1 + run_ahead_share);
  answer.step_ns = answer.device_limits ? answer.device_ns : answer.host_ns;
  return answer;
}

double scatter_of(const StepTimes& times) {
  if (times.host_ns.size() < 3) {
    return 0;
  }
  const std::int64_t middle = median(times.host_ns);
  std::vector<std::int64_t> distances;
  for (const std::int64_t step : times.host_ns) {
    distances.push_back(std::abs(step - middle));
  }
  return middle == 0 ? 0 : static_cast<double>(median(distances)) / static_cast<double>(middle);
}

std::int64_t median(std::vector<std::int64_t> values) {
  if (values.empty()) {
    return 0;
  }
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle]
                                : std::midpoint(values[middle - 1], values[middle]);
}

}  // namespace foretrace::driver
