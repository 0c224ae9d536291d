// Steps of a run and the one that answers.
#include "apps/driver/steps.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <numeric>
#include <type_traits>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/graph/links.h"
#include "sim/result/summary.h"

namespace foretrace::driver {
namespace {

// The first launch of a step comes a little earlier or later in every step. Only a device that is
// slower than the host by more than this share limits the run; below it is that jitter.
constexpr double run_ahead_share = 0.02;

/// Whether the device still falls further behind the host at the end of the trace: its distance
/// grows over the second half of the steps. Early on it may grow until a queue is full.
bool device_falls_behind(const StepTimes& times) {
  if (!times.ranks.empty()) {  // most of the ranks decide
    const auto behind = static_cast<std::size_t>(
        std::count_if(times.ranks.begin(), times.ranks.end(), device_falls_behind));
    return 2 * behind > times.ranks.size();
  }
  const std::size_t count = times.begin_ns.size();
  if (count < 2 || times.device_begin_ns[count - 1] < 0) {
    return false;
  }
  const std::size_t middle = (count - 1) / 2;
  if (times.device_begin_ns[middle] < 0) {
    return false;
  }
  const std::int64_t host = times.begin_ns[count - 1] - times.begin_ns[middle];
  const std::int64_t device = times.device_begin_ns[count - 1] - times.device_begin_ns[middle];
  return static_cast<double>(device) > static_cast<double>(host) * (1 + run_ahead_share);
}

bool is_slower(const StepAnswer& answer) {
  return static_cast<double>(answer.device_ns) >
         static_cast<double>(answer.host_ns) * (1 + run_ahead_share);
}

/// Positions of the middle value, or of the two middle ones; values below 0 are not known.
std::array<std::size_t, 2> middle_of(const std::vector<std::int64_t>& values) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] >= 0) {
      order.push_back(i);
    }
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  return {order[(order.size() - 1) / 2], order[order.size() / 2]};
}

bool knows_any(const std::vector<std::int64_t>& values) {
  return std::any_of(values.begin(), values.end(), [](std::int64_t value) { return value >= 0; });
}

std::int64_t mean_at(const std::vector<std::int64_t>& values,
                     const std::array<std::size_t, 2>& positions) {
  return std::midpoint(values[positions[0]], values[positions[1]]);
}

std::vector<std::int64_t> periods(const std::vector<std::int64_t>& begin) {
  std::vector<std::int64_t> device;
  for (std::size_t i = 1; i < begin.size(); ++i) {
    const bool known = begin[i] >= 0 && begin[i - 1] >= 0;
    device.push_back(known ? std::max<std::int64_t>(0, begin[i] - begin[i - 1]) : -1);
  }
  return device;
}

/// The steps of every rank of a list of steps that is sorted by rank.
std::vector<StepTimes> by_rank(const std::vector<Step>& steps, const StepTimes& all) {
  std::vector<StepTimes> ranks;
  const auto piece = [](const auto& values, std::size_t from, std::size_t to) {
    using Values = std::decay_t<decltype(values)>;
    const auto at = [&](std::size_t i) {
      return values.begin() + static_cast<std::ptrdiff_t>(std::min(i, values.size()));
    };
    return Values(at(from), at(to));
  };
  for (std::size_t from = 0, to = 0; from < all.host_ns.size(); from = to) {
    while (to < all.host_ns.size() && steps[to].rank == steps[from].rank) {
      ++to;
    }
    StepTimes rank;
    rank.rank = steps[from].rank;
    rank.first_step = from;
    rank.numbers = piece(all.numbers, from, to);
    rank.begin_ns = piece(all.begin_ns, from, to);
    rank.host_ns = piece(all.host_ns, from, to);
    rank.device_begin_ns = piece(all.device_begin_ns, from, to);
    rank.first_device_task = piece(all.first_device_task, from, to);
    rank.device_ns = periods(rank.device_begin_ns);
    rank.span_ns = all.span_ns;
    ranks.push_back(std::move(rank));
  }
  return ranks;
}

/// One step of a job: of every rank the step that is equally far from its last one.
void add_job_step(std::size_t from_end, StepTimes& job) {
  std::vector<std::int64_t> host;
  std::vector<std::int64_t> device;
  for (const StepTimes& rank : job.ranks) {
    const std::size_t at = rank.host_ns.size() - from_end;
    host.push_back(rank.host_ns[at]);
    device.push_back(at < rank.device_ns.size() ? rank.device_ns[at] : -1);
  }
  const auto middle = middle_of(host);
  const StepTimes& rank = job.ranks[middle[0]];
  const std::size_t at = rank.host_ns.size() - from_end;
  job.median_rank.push_back(middle[0]);
  job.host_ns.push_back(mean_at(host, middle));
  job.numbers.push_back(rank.numbers[at]);
  job.begin_ns.push_back(rank.begin_ns[at]);
  job.device_begin_ns.push_back(rank.device_begin_ns[at]);
  if (from_end > 1) {
    job.device_ns.push_back(knows_any(device) ? mean_at(device, middle_of(device)) : -1);
  }
}

/// Steps of the job where there are several ranks; the rank's own otherwise.
StepTimes job_of(const std::vector<Step>& steps, StepTimes all) {
  std::vector<StepTimes> ranks = by_rank(steps, all);
  if (ranks.size() < 2) {
    all.device_ns = periods(all.device_begin_ns);
    return all;
  }
  StepTimes job;
  job.span_ns = all.span_ns;
  std::size_t common = ranks.front().host_ns.size();
  for (const StepTimes& rank : ranks) {
    common = std::min(common, rank.host_ns.size());
  }
  job.ranks = std::move(ranks);
  for (std::size_t from_end = common; from_end > 0; --from_end) {
    add_job_step(from_end, job);
  }
  return job;
}

/// Sets the answer to the medians over all steps.
void take_medians(const StepTimes& times, StepAnswer& answer) {
  answer.middle = middle_of(times.host_ns);
  answer.host_ns = mean_at(times.host_ns, answer.middle);
  if (!knows_any(times.device_ns)) {
    return;
  }
  const auto middle = middle_of(times.device_ns);
  answer.device_ns = mean_at(times.device_ns, middle);
  answer.device_limits = device_falls_behind(times) && is_slower(answer);
  answer.middle = answer.device_limits ? middle : answer.middle;
}

/// Sets the answer to one step.
Status take_step(const StepTimes& times, std::int64_t number, StepAnswer& answer) {
  const auto found = std::find(times.numbers.begin(), times.numbers.end(), number);
  if (found == times.numbers.end()) {
    return Error{ErrorCode::bad_usage, fmt::format("--step {}: the trace has the steps {}", number,
                                                   fmt::join(times.numbers, ", "))};
  }
  const auto at = static_cast<std::size_t>(found - times.numbers.begin());
  answer.middle = {at, at};
  answer.host_ns = times.host_ns[at];
  answer.device_ns = at < times.device_ns.size() ? times.device_ns[at] : -1;
  answer.device_limits = device_falls_behind(times) && is_slower(answer);
  return ok_status();
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
  for (const trace::MeasuredStep& step : built.steps) {
    times.numbers.push_back(step.number);
    times.begin_ns.push_back(step.start_ns);
    times.host_ns.push_back(step.end_ns - step.start_ns);
    times.device_begin_ns.push_back(step.first_device_start_ns);
  }
  times.span_ns = built.honesty.span_ns;
  return job_of(built.graph.context().steps, std::move(times));
}

StepTimes simulated_steps(const TaskGraph& graph, const Timeline& timeline) {
  const std::vector<Step>& steps = graph.context().steps;
  StepTimes times;
  for (const Step& step : steps) {
    const Window window = step_window(graph, timeline, step);
    times.numbers.push_back(step.number);
    times.begin_ns.push_back(window.begin_ns);
    times.host_ns.push_back(window.end_ns - window.begin_ns);
  }
  times.device_begin_ns.assign(steps.size(), -1);
  times.first_device_task.assign(steps.size(), none<TaskId>);
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const auto task = make_id<TaskId>(i);
    if (graph.step(task) >= 0 && is_device(graph.kind(task))) {
      const auto step = static_cast<std::size_t>(graph.step(task));
      const std::int64_t start = timeline.start_ns(task);
      if (times.device_begin_ns[step] < 0 || start < times.device_begin_ns[step]) {
        times.device_begin_ns[step] = start;
        times.first_device_task[step] = task;
      }
    }
  }
  times.span_ns = timeline.span_ns;
  return job_of(steps, std::move(times));
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
    if (Status taken = take_step(times, choice.number, answer); !taken.ok()) {
      return taken.error();
    }
  } else {
    take_medians(times, answer);
  }
  answer.step_ns = answer.device_limits ? answer.device_ns : answer.host_ns;
  return answer;
}

StepScope scope_of(const TaskGraph& graph, const StepTimes& times, const StepAnswer& answer,
                   std::size_t position) {
  if (!times.ranks.empty() && !answer.is_span) {
    const StepTimes& rank = times.ranks[times.median_rank[position]];
    const std::size_t from_end = times.host_ns.size() - position;
    return scope_of(graph, rank, answer, rank.host_ns.size() - from_end);
  }
  StepScope scope;
  scope.end_ns = times.span_ns;
  const std::vector<Lane>& lanes = graph.context().lanes;
  const auto host = std::find_if(lanes.begin(), lanes.end(), [](const Lane& lane) {
    return lane.kind == LaneKind::host_thread;
  });
  scope.rank = host == lanes.end() ? 0 : host->rank;
  if (answer.is_span) {
    return scope;
  }
  const Step& step = graph.context().steps[times.first_step + position];
  scope.rank = step.rank;
  if (!answer.device_limits) {
    scope.from = start_of(step.begin);
    scope.to = start_of(step.end);
    scope.last = step.end;
    scope.begin_ns = times.begin_ns[position];
    scope.end_ns = scope.begin_ns + times.host_ns[position];
    return scope;
  }
  const TaskId next = times.first_device_task[position + 1];
  scope.from = start_of(times.first_device_task[position]);
  scope.to = start_of(next);
  // The stream of a device that limits is never empty: what ran before is what held it.
  const TaskId before = previous_on_lane(graph, next);
  scope.last = before == none<TaskId> ? next : before;
  scope.begin_ns = times.device_begin_ns[position];
  scope.end_ns = times.device_begin_ns[position + 1];
  return scope;
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

std::int64_t median(const std::vector<std::int64_t>& values) {
  return values.empty() ? 0 : mean_at(values, middle_of(values));
}

}  // namespace foretrace::driver
