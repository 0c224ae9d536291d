// The step that answers.
#include "sim/result/steps/steps.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <numeric>

#include "sim/result/steps/step_breakdown.h"

namespace foretrace {
namespace {

// The first launch of a step comes a little earlier or later in every step. Only a device that is
// slower than the host by more than this share limits the run; below it is that jitter.
constexpr double run_ahead_share = 0.02;

// A device period is a throughput only where the device waits for no host: it hardly ever idles, or
// the host had done all of a step before the device began it. Of steps that merely overlap the
// device waits for the host in between. The share is that of `honesty.doubt`.
constexpr double nearly_always = 0.9;

// A step with less than this share of the operations and of the host time of the largest one is a
// piece of a step: windows begin with 0.02 to 0.05 ms of one, and end with one that holds nothing.
constexpr double piece_share = 0.1;

double share(std::int64_t part, std::int64_t whole) {
  return static_cast<double>(part) / static_cast<double>(std::max<std::int64_t>(1, whole));
}

/// Whether the device is busy and still falls further behind the host at the end of the trace: its
/// distance grows over the second half of the steps. Early on it may grow until a queue is full.
bool device_falls_behind(const StepTimes& times) {
  if (!times.ranks.empty()) {  // most of the ranks decide
    const auto behind = static_cast<std::size_t>(
        std::count_if(times.ranks.begin(), times.ranks.end(), device_falls_behind));
    return 2 * behind > times.ranks.size();
  }
  const std::vector<bool> whole = whole_steps(times);
  std::vector<std::size_t> at;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    if (whole[i]) {
      at.push_back(i);
    }
  }
  if (at.size() < 2) return false;
  const std::size_t middle = at[(at.size() - 1) / 2];
  const std::size_t last = at.back();
  if (times.device[middle].begin_ns < 0 || times.device[last].begin_ns < 0) return false;
  const std::int64_t host = times.begin_ns[last] - times.begin_ns[middle];
  const std::int64_t device = times.device[last].begin_ns - times.device[middle].begin_ns;
  std::int64_t occupied = 0;
  for (std::size_t i = middle; i < last; ++i) {
    occupied += times.device[i].occupied_ns;
  }
  const bool host_is_done =
      times.begin_ns[last] + times.host_ns[last] <= times.device[last].begin_ns;
  return static_cast<double>(device) > static_cast<double>(host) * (1 + run_ahead_share) &&
         (host_is_done || share(occupied, device) >= nearly_always);
}

/// Lengths of the steps that count; -1 for the others.
std::vector<std::int64_t> kept(std::vector<std::int64_t> lengths, const std::vector<bool>& whole) {
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    lengths[i] = whole[i] ? lengths[i] : -1;
  }
  return lengths;
}

std::vector<std::int64_t> work_of(const StepTimes& times) {
  std::vector<std::int64_t> work;
  for (const DeviceStep& step : times.device) {
    work.push_back(step.work_ns);
  }
  return work;
}

/// The median of the lengths that are known: its value and where it lies.
struct Median {
  std::int64_t ns = -1;
  std::array<std::size_t, 2> middle{};
};
Median median_of(const std::vector<std::int64_t>& lengths) {
  if (std::none_of(lengths.begin(), lengths.end(),
                   [](std::int64_t length) { return length >= 0; })) {
    return {};
  }
  const auto middle = middle_of(lengths);
  return {std::midpoint(lengths[middle[0]], lengths[middle[1]]), middle};
}

/// What a stream does per step, from what it did in each. Where most steps are alike that is their
/// median; of one that works in every third step, or hardly in the others, the mean. At most one
/// step in eight is exceptional: it does more than twice as much as what comes after it in size,
/// and counts as that.
std::int64_t rate_of(std::vector<std::int64_t> work) {
  std::sort(work.begin(), work.end(), std::greater<>());
  const std::size_t most = work.size() < 3 ? 0 : std::max<std::size_t>(1, work.size() / 8);
  for (std::size_t exceptional = most; exceptional > 0; --exceptional) {
    const auto usual = work.begin() + static_cast<std::ptrdiff_t>(exceptional);
    if (*(usual - 1) / 2 > *usual) {
      std::fill(work.begin(), usual, *usual);
      break;
    }
  }
  const std::int64_t mean = std::accumulate(work.begin(), work.end(), std::int64_t{0}) /
                            static_cast<std::int64_t>(work.size());
  const std::int64_t middle = median(work);
  return middle < mean / 2 ? mean : std::min(middle, mean);
}

/// What the busiest stream does per step. Where streams run at different rates, one that is ahead
/// takes the time of steps to come, and the work of a step alone says too little.
std::int64_t busiest_stream_ns(const StepTimes& times) {
  if (!times.ranks.empty()) {
    std::vector<std::int64_t> ranks;
    for (const StepTimes& rank : times.ranks) {
      ranks.push_back(busiest_stream_ns(rank));
    }
    return median(ranks);
  }
  const std::vector<bool> whole = whole_steps(times);
  const auto count = std::count(whole.begin(), whole.end(), true);
  std::map<LaneId, std::vector<std::int64_t>> streams;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (const auto& [lane, ns] : times.device[i].streams) {
      if (whole[i]) {
        streams[lane].push_back(ns);
      }
    }
  }
  std::int64_t busiest = 0;
  for (auto& [lane, work] : streams) {
    work.resize(static_cast<std::size_t>(count), 0);
    busiest = std::max(busiest, rate_of(work));
  }
  return busiest;
}

/// The longest of the lengths answers; of equal ones the first.
void settle(StepLimit limit, const Median& length, StepAnswer& answer) {
  if (length.ns > answer.step_ns) {
    answer.step_ns = length.ns;
    answer.limit = limit;
    answer.middle = length.middle;
  }
}

/// Whether the device's period is more than the jitter of a first launch above the host's.
bool is_slower(const StepAnswer& answer) {
  return static_cast<double>(answer.device_ns) >
         static_cast<double>(answer.host_ns) * (1 + run_ahead_share);
}

/// Sets the answer to the medians over the steps that count.
void take_medians(const StepTimes& times, StepAnswer& answer) {
  const std::vector<bool> whole = whole_steps(times);
  const Median host = median_of(kept(times.host_ns, whole));
  const Median device = median_of(kept(times.device_ns, whole));
  const Median work = median_of(kept(work_of(times), whole));
  const auto count = static_cast<std::size_t>(std::count(whole.begin(), whole.end(), true));
  answer.left_out = whole.size() - count;
  answer.step_ns = answer.host_ns = host.ns;
  answer.middle = host.middle;
  answer.device_ns = device.ns;
  answer.work_ns = work.ns;
  if (count == 1) {
    // Nothing comes after it that could wait for its device work: the work is part of the step.
    settle(StepLimit::device_end, median_of(kept(times.reach_ns, whole)), answer);
    return;
  }
  if (device_falls_behind(times) && is_slower(answer)) {
    settle(StepLimit::device_period, device, answer);
  }
  settle(StepLimit::device_work, {std::max(work.ns, busiest_stream_ns(times)), work.middle},
         answer);
}

/// Sets the answer to one step. False: there is no such step.
bool take_step(const StepTimes& times, std::int64_t number, StepAnswer& answer) {
  const auto found = std::find(times.numbers.begin(), times.numbers.end(), number);
  if (found == times.numbers.end()) return false;
  const auto at = static_cast<std::size_t>(found - times.numbers.begin());
  const auto one = [&](std::int64_t length) { return Median{length, {at, at}}; };
  answer.step_ns = answer.host_ns = times.host_ns[at];
  answer.middle = {at, at};
  answer.work_ns = times.device[at].work_ns;
  answer.device_ns = at < times.device_ns.size() ? times.device_ns[at] : -1;
  const std::vector<bool> whole = whole_steps(times);
  if (whole[at] && std::count(whole.begin(), whole.end(), true) == 1) {
    settle(StepLimit::device_end, one(times.reach_ns[at]), answer);
    return true;
  }
  if (device_falls_behind(times) && is_slower(answer)) {
    settle(StepLimit::device_period, one(answer.device_ns), answer);
  }
  settle(StepLimit::device_work, one(answer.work_ns), answer);
  return true;
}

}  // namespace

std::string_view to_string(StepLimit limit) {
  switch (limit) {
    case StepLimit::host: return "host period";
    case StepLimit::device_period: return "device period";
    case StepLimit::device_work: return "device work";
    case StepLimit::device_end: return "device end";
  }
  return "?";
}

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

std::vector<bool> whole_steps(const StepTimes& times) {
  std::vector<bool> whole(times.host_ns.size(), true);
  std::size_t operations = 0;
  for (const DeviceStep& step : times.device) {
    operations = std::max(operations, step.operations);
  }
  const std::int64_t host =
      times.host_ns.empty() ? 0 : *std::max_element(times.host_ns.begin(), times.host_ns.end());
  const auto has_few = [&](std::size_t i) {
    return static_cast<double>(times.device[i].operations) <
           piece_share * static_cast<double>(operations);
  };
  std::size_t pieces = 0;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    pieces += has_few(i) ? 1 : 0;
    whole[i] = !has_few(i) ||
               (times.device[i].operations > 0 && share(times.host_ns[i], host) >= piece_share);
  }
  // Pieces lie at the ends of a window. Where most steps are like that, their work was lost.
  if (2 * pieces > whole.size()) {
    for (std::size_t i = 0; i < whole.size(); ++i) {
      whole[i] = whole[i] || share(times.host_ns[i], host) >= piece_share;
    }
  }
  return whole;
}

std::optional<StepAnswer> find_answer(const StepTimes& times, const StepChoice& choice) {
  const bool is_chosen = choice.kind == StepChoice::Kind::number;
  StepAnswer answer;
  if (times.host_ns.empty()) {
    if (is_chosen) return std::nullopt;
    answer.step_ns = answer.host_ns = times.span_ns;
    answer.is_span = true;
    return answer;
  }
  if (!is_chosen) {
    take_medians(times, answer);
  } else if (!take_step(times, choice.number, answer)) {
    return std::nullopt;
  }
  return answer;
}

double scatter_of(const StepTimes& times) {
  const std::vector<std::int64_t> steps = kept(times.host_ns, whole_steps(times));
  const Median middle = median_of(steps);
  std::vector<std::int64_t> distances;
  for (const std::int64_t step : steps) {
    if (step >= 0) {
      distances.push_back(std::abs(step - middle.ns));
    }
  }
  return distances.size() < 3 || middle.ns <= 0
             ? 0
             : static_cast<double>(median(distances)) / static_cast<double>(middle.ns);
}

std::int64_t median(const std::vector<std::int64_t>& values) {
  return std::max<std::int64_t>(0, median_of(values).ns);
}

}  // namespace foretrace
