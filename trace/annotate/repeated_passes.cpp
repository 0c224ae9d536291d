#include "trace/annotate/repeated_passes.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "sim/core/statistics.h"
#include "sim/core/text.h"
#include "trace/annotate/launch_sequence.h"

namespace foretrace::trace {
namespace {

// Two of a kind may be chance.
constexpr std::size_t fewest_passes = 3;
// Fewer operations are a measurement of one kernel, not a pass of a program.
constexpr std::size_t fewest_operations = 8;
// Of the launches, and of the time of the device: what is left over is warm-up and the end.
constexpr double covered_share = 0.8;
// Distances between equal launches that are looked at; a program has few that are frequent.
constexpr std::size_t most_periods = 64;
// A shorter period is taken if it covers nearly as much: twice a pass repeats as well.
constexpr double as_good = 0.98;
// Ranges of one name are passes only if their launches differ in number by less than this.
constexpr double most_uneven = 2.0;

/// Launches [first, first + count x period) repeat with this period.
struct Run {
  std::size_t first = 0;
  std::size_t period = 0;
  std::size_t length = 0;
};

/// Frequent distances between a launch and the next equal one, shortest first.
std::vector<std::size_t> likely_periods(std::span<const LaunchedWork> launches) {
  std::map<std::uint32_t, std::size_t> last;
  std::map<std::size_t, std::size_t> covered;  // by distance: launches between equal ones
  for (std::size_t i = 0; i < launches.size(); ++i) {
    const auto [at, is_new] = last.emplace(launches[i].work, i);
    if (!is_new) {
      covered[i - at->second] += i - at->second;
      at->second = i;
    }
  }
  std::vector<std::pair<std::size_t, std::size_t>> order(covered.begin(), covered.end());
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  order.resize(std::min(order.size(), most_periods));
  std::vector<std::size_t> periods;
  periods.reserve(order.size());
  for (const auto& [period, weight] : order) {
    periods.push_back(period);
  }
  std::sort(periods.begin(), periods.end());
  return periods;
}

/// The longest stretch that repeats with this period.
Run longest_run(std::span<const LaunchedWork> launches, std::size_t period) {
  Run best{.first = 0, .period = period, .length = 0};
  std::size_t equal = 0;
  for (std::size_t i = 0; i + period < launches.size(); ++i) {
    equal = launches[i].work == launches[i + period].work ? equal + 1 : 0;
    if (equal > 0 && equal + period > best.length) {
      best.length = equal + period;
      best.first = i + 1 - equal;
    }
  }
  return best;
}

std::optional<Run> best_run(std::span<const LaunchedWork> launches) {
  std::optional<Run> best;
  for (const std::size_t period : likely_periods(launches)) {
    const Run run = longest_run(launches, period);
    const bool is_better =
        !best || static_cast<double>(best->length) < as_good * static_cast<double>(run.length);
    if (run.length >= fewest_passes * period && is_better) {
      best = run;
    }
  }
  return best;
}

/// Launches of passes: pass k is [first + k x period, first + (k + 1) x period).
struct Passes {
  std::size_t first = 0;
  std::size_t period = 0;
  std::size_t count = 0;
};

/// A pass begins where its thread was silent longest before a launch.
std::optional<Passes> aligned(std::span<const LaunchedWork> launches, const Run& run) {
  std::optional<Passes> best;
  std::int64_t longest = -1;
  for (std::size_t offset = 0; offset < run.period; ++offset) {
    Passes passes{run.first + offset, run.period, (run.length - offset) / run.period};
    std::vector<std::int64_t> silences;
    bool one_thread = passes.count >= fewest_passes;
    for (std::size_t k = 0; k < passes.count; ++k) {
      const std::size_t at = passes.first + k * run.period;
      one_thread = one_thread && launches[at].track == launches[passes.first].track;
      if (at > 0) {
        silences.push_back(launches[at].start_ns - launches[at - 1].end_ns);
      }
    }
    const std::int64_t silence = lower_median(std::move(silences));
    if (one_thread && silence > longest) {
      longest = silence;
      best = passes;
    }
  }
  return best;
}

/// Which window holds a time; their number if none does.
std::size_t window_at(std::span<const StepWindow> windows, std::int64_t time) {
  const auto after = std::upper_bound(
      windows.begin(), windows.end(), time,
      [](std::int64_t value, const StepWindow& window) { return value < window.start_ns; });
  const auto at = static_cast<std::size_t>(after - windows.begin());
  return at > 0 && time < windows[at - 1].end_ns ? at - 1 : windows.size();
}

bool each_holds_one(std::span<const StepWindow> windows, std::span<const std::int64_t> times) {
  std::vector<bool> holds(windows.size() + 1, false);
  for (const std::int64_t time : times) {
    holds[window_at(windows, time)] = true;
  }
  return std::find(holds.begin(), holds.end() - 1, false) == holds.end() - 1;
}

/// Whether the launches from one to another time are nearly all, in number and in device time.
bool are_most(const LaunchSequence& sequence, std::int64_t from_ns, std::int64_t to_ns) {
  std::size_t launches = 0;
  std::int64_t device_ns = 0;
  std::int64_t all_device_ns = 0;
  for (const LaunchedWork& launch : sequence.launches) {
    const bool is_between = from_ns <= launch.start_ns && launch.start_ns <= to_ns;
    launches += is_between ? 1 : 0;
    device_ns += is_between ? launch.device_ns : 0;
    all_device_ns += launch.device_ns;
  }
  return static_cast<double>(launches) >=
             covered_share * static_cast<double>(sequence.launches.size()) &&
         static_cast<double>(device_ns) >= covered_share * static_cast<double>(all_device_ns);
}

/// Whether each window holds enough work, not much more than others, and what a pass does once.
bool are_passes(const LaunchSequence& sequence, std::span<const StepWindow> windows) {
  std::vector<std::size_t> operations(windows.size() + 1, 0);
  for (const LaunchedWork& launch : sequence.launches) {
    operations[window_at(windows, launch.start_ns)] += launch.operations;
  }
  const auto [fewest, most] = std::minmax_element(operations.begin(), operations.end() - 1);
  return *fewest >= fewest_operations &&
         static_cast<double>(*most) <= most_uneven * static_cast<double>(*fewest) &&
         (each_holds_one(windows, sequence.meetings_ns) ||
          each_holds_one(windows, sequence.updates_ns));
}

StepWindow window_of(const EventTable& events, TrackId track, std::size_t number) {
  return {.rank = events.tracks[index(track)].rank,
          .track = track,
          .number = static_cast<std::int64_t>(number)};
}

/// The last end of a call of this thread.
std::int64_t last_call_end(const EventTable& events, TrackId track) {
  std::int64_t last = 0;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (events.kind[i] == EventKind::runtime && events.track[i] == track) {
      last = std::max(last, events.end_ns(make_id<EventId>(i)));
    }
  }
  return last;
}

RepeatedPasses by_launches(const EventTable& events, const LaunchSequence& sequence) {
  const std::span<const LaunchedWork> launches = sequence.launches;
  const std::optional<Run> run = best_run(launches);
  const std::optional<Passes> passes = run ? aligned(launches, *run) : std::nullopt;
  // What is cut off a pass at either end of the run is a part of it too.
  if (!passes || !are_most(sequence, launches[run->first].start_ns,
                           launches[run->first + run->length - 1].start_ns)) {
    return {};
  }
  const TrackId track = launches[passes->first].track;
  RepeatedPasses found;
  for (std::size_t k = 0; k < passes->count; ++k) {
    StepWindow window = window_of(events, track, k + 1);
    const std::size_t next = passes->first + (k + 1) * passes->period;
    window.start_ns = launches[passes->first + k * passes->period].start_ns;
    window.end_ns = next < launches.size() ? launches[next].start_ns : last_call_end(events, track);
    found.steps.push_back(window);
  }
  found.note =
      fmt::format("{} equal passes, found by their launches ({} each); nothing marks steps",
                  passes->count, passes->period);
  return found;
}

/// "iteration 12" -> "iteration".
std::string_view without_number(std::string_view name) {
  constexpr std::string_view between = " #_:-.";
  while (!name.empty() &&
         (is_digit(name.back()) || between.find(name.back()) != std::string_view::npos)) {
    name.remove_suffix(1);
  }
  return name;
}

// Names of ranges that are looked at closely: those that repeat over most of the launches.
constexpr std::size_t most_names = 64;

using NamedRanges = std::map<std::pair<TrackId, std::string_view>, std::vector<EventId>>;

NamedRanges named_ranges(const EventTable& events) {
  NamedRanges ranges;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const auto id = make_id<EventId>(i);
    const std::string_view name = without_number(events.name_of(id));
    if (events.kind[i] == EventKind::user_annotation && !name.empty()) {
      ranges[{events.track[i], name}].push_back(id);
    }
  }
  return ranges;
}

RepeatedPasses by_ranges(const EventTable& events, const LaunchSequence& sequence) {
  std::size_t names = 0;
  for (auto& [key, list] : named_ranges(events)) {
    std::vector<EventId> ranges = list;
    std::stable_sort(ranges.begin(), ranges.end(), [&](EventId a, EventId b) {
      return events.start_ns[index(a)] < events.start_ns[index(b)];
    });
    RepeatedPasses found;
    bool follow = ranges.size() >= fewest_passes;
    for (std::size_t k = 0; follow && k < ranges.size(); ++k) {
      StepWindow window = window_of(events, key.first, k + 1);
      window.start_ns = events.start_ns[index(ranges[k])];
      window.end_ns =
          k + 1 < ranges.size() ? events.start_ns[index(ranges[k + 1])] : events.end_ns(ranges[k]);
      follow = events.end_ns(ranges[k]) <= window.end_ns;
      found.steps.push_back(window);
    }
    follow = follow &&
             are_most(sequence, found.steps.front().start_ns, found.steps.back().end_ns) &&
             ++names <= most_names;
    if (follow && are_passes(sequence, found.steps)) {
      found.note = fmt::format("{} passes, found by ranges named '{}'; nothing marks steps",
                               found.steps.size(), key.second);
      return found;
    }
  }
  return {};
}

}  // namespace

RepeatedPasses find_repeated_passes(const EventTable& events) {
  const LaunchSequence sequence = launch_sequence(events);
  if (sequence.launches.size() < fewest_passes) {
    return {};
  }
  RepeatedPasses passes = by_launches(events, sequence);
  if (!passes.steps.empty() && are_passes(sequence, passes.steps)) return passes;
  return by_ranges(events, sequence);
}

}  // namespace foretrace::trace
