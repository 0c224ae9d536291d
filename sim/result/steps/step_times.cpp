// The steps of a run, of every rank and of the job.
#include <algorithm>
#include <numeric>
#include <type_traits>
#include <utility>

#include "sim/result/steps/steps.h"
#include "sim/result/summary.h"

namespace foretrace {
namespace {

std::vector<std::int64_t> periods(const std::vector<DeviceStep>& steps) {
  std::vector<std::int64_t> device;
  for (std::size_t i = 1; i < steps.size(); ++i) {
    const bool known = steps[i].begin_ns >= 0 && steps[i - 1].begin_ns >= 0;
    device.push_back(known ? std::max<std::int64_t>(0, steps[i].begin_ns - steps[i - 1].begin_ns)
                           : -1);
  }
  return device;
}

void add_lengths(StepTimes& times) {
  times.device_ns = periods(times.device);
  for (std::size_t i = 0; i < times.host_ns.size(); ++i) {
    times.reach_ns.push_back(
        std::max(times.host_ns[i], times.device[i].end_ns - times.begin_ns[i]));
  }
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
    rank.device = piece(all.device, from, to);
    rank.span_ns = all.span_ns;
    add_lengths(rank);
    ranks.push_back(std::move(rank));
  }
  return ranks;
}

/// Steps up to the last one that counts: the window of a rank may end with a piece of one.
std::size_t steps_to_the_last_whole(const StepTimes& rank) {
  const std::vector<bool> whole = whole_steps(rank);
  std::size_t count = whole.size();
  while (count > 0 && !whole[count - 1]) {
    --count;
  }
  return count;
}

/// One step of a job: of every rank the step that is equally far from its last one.
void add_job_step(const std::vector<std::size_t>& at, bool is_last, StepTimes& job) {
  std::array<std::vector<std::int64_t>, step_limit_count> lengths;
  const auto of = [&](StepLimit limit) -> std::vector<std::int64_t>& {
    return lengths[static_cast<std::size_t>(limit)];
  };
  for (std::size_t r = 0; r < at.size(); ++r) {
    const StepTimes& rank = job.ranks[r];
    of(StepLimit::host).push_back(rank.host_ns[at[r]]);
    of(StepLimit::device_period)
        .push_back(at[r] < rank.device_ns.size() ? rank.device_ns[at[r]] : -1);
    of(StepLimit::device_work).push_back(rank.device[at[r]].work_ns);
    of(StepLimit::device_end).push_back(rank.reach_ns[at[r]]);
  }
  std::array<std::size_t, step_limit_count> ranks{};
  std::array<std::int64_t, step_limit_count> medians{};
  for (std::size_t i = 0; i < step_limit_count; ++i) {
    const bool knows_any = std::any_of(lengths[i].begin(), lengths[i].end(),
                                       [](std::int64_t length) { return length >= 0; });
    medians[i] = -1;
    if (knows_any) {
      const auto middle = middle_of(lengths[i]);
      ranks[i] = middle[0];
      medians[i] = std::midpoint(lengths[i][middle[0]], lengths[i][middle[1]]);
    }
  }
  const std::size_t middle = ranks[static_cast<std::size_t>(StepLimit::host)];
  const StepTimes& rank = job.ranks[middle];
  job.median_rank.push_back(ranks);
  job.rank_steps.push_back(at);
  job.numbers.push_back(rank.numbers[at[middle]]);
  job.begin_ns.push_back(rank.begin_ns[at[middle]]);
  job.device.push_back(rank.device[at[middle]]);
  job.host_ns.push_back(medians[static_cast<std::size_t>(StepLimit::host)]);
  job.device.back().work_ns = medians[static_cast<std::size_t>(StepLimit::device_work)];
  job.reach_ns.push_back(medians[static_cast<std::size_t>(StepLimit::device_end)]);
  if (!is_last) {
    job.device_ns.push_back(medians[static_cast<std::size_t>(StepLimit::device_period)]);
  }
}

}  // namespace

StepTimes steps_of_job(const std::vector<Step>& steps, StepTimes all) {
  std::vector<StepTimes> ranks = by_rank(steps, all);
  if (ranks.size() < 2) {
    add_lengths(all);
    return all;
  }
  StepTimes job;
  job.span_ns = all.span_ns;
  std::vector<std::size_t> ends;
  ends.reserve(ranks.size());
  for (const StepTimes& rank : ranks) {
    ends.push_back(steps_to_the_last_whole(rank));
  }
  job.ranks = std::move(ranks);
  for (std::size_t from_end = *std::min_element(ends.begin(), ends.end()); from_end > 0;
       --from_end) {
    std::vector<std::size_t> at;
    at.reserve(ends.size());
    for (const std::size_t end : ends) {
      at.push_back(end - from_end);
    }
    add_job_step(at, from_end == 1, job);
  }
  return job;
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
  times.device = device_steps(graph, timeline);
  times.span_ns = timeline.span_ns;
  return steps_of_job(steps, std::move(times));
}

}  // namespace foretrace
