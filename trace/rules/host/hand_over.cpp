// Thread hand-over: a thread that falls silent while another one works waits for it (forward to
// autograd thread and back, loader threads). Marks on both threads carry the dependency; the
// silence itself is not kept.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "trace/rules/assembly/assembly.h"
#include "trace/rules/assembly/constants.h"
#include "trace/rules/assembly/rule.h"

namespace foretrace::trace::rules {
namespace {

constexpr std::int64_t forever = std::numeric_limits<std::int64_t>::max();

/// Starts and ends of a thread's operators, annotations and calls, and the calls themselves.
struct Activity {
  std::int32_t rank = 0;
  std::vector<std::int64_t> boundaries;
  std::vector<std::pair<std::int64_t, std::int64_t>> calls;

  /// Last boundary not after `time`, or -1 (times are never negative).
  [[nodiscard]] std::int64_t last_until(std::int64_t time) const {
    const auto at = std::upper_bound(boundaries.begin(), boundaries.end(), time);
    return at == boundaries.begin() ? -1 : *(at - 1);
  }
  [[nodiscard]] std::int64_t next_after(std::int64_t time) const {
    const auto at = std::upper_bound(boundaries.begin(), boundaries.end(), time);
    return at == boundaries.end() ? forever : *at;
  }
  /// True if one runtime call covers the stretch: the thread is inside CUDA, not waiting for us.
  [[nodiscard]] bool inside_call(std::int64_t from, std::int64_t to) const {
    const auto after = std::partition_point(calls.begin(), calls.end(),
                                            [&](const auto& call) { return call.first <= from; });
    return after != calls.begin() && (after - 1)->second >= to;
  }
};

std::vector<Activity> collect_activity(const Assembly& assembly) {
  const EventTable& events = assembly.events;
  const std::vector<std::uint32_t> thread_of_track = assembly.thread_of_track();
  std::vector<Activity> list(assembly.threads.size());
  for (std::size_t i = 0; i < list.size(); ++i) {
    list[i].rank = events.tracks[index(assembly.threads[i].track)].rank;
  }
  for (std::size_t i = 0; i < events.size(); ++i) {
    const EventKind kind = events.kind[i];
    const std::uint32_t thread = thread_of_track[index(events.track[i])];
    const bool counts = kind == EventKind::cpu_op || kind == EventKind::runtime ||
                        kind == EventKind::user_annotation;
    const auto event = make_id<EventId>(i);
    if (thread == nothing || !counts || events.name_of(event).starts_with("ProfilerStep")) {
      continue;
    }
    list[thread].boundaries.push_back(events.start_ns[i]);
    list[thread].boundaries.push_back(events.end_ns(event));
    if (kind == EventKind::runtime) {
      list[thread].calls.emplace_back(events.start_ns[i], events.end_ns(event));
    }
  }
  for (Activity& activity : list) {
    std::sort(activity.boundaries.begin(), activity.boundaries.end());
    std::sort(activity.calls.begin(), activity.calls.end());
  }
  return list;
}

struct Giver {
  std::uint32_t thread = nothing;
  std::int64_t time = -1;
};

/// The thread whose last boundary lies latest in (from, to] and that stays silent beyond `to`.
Giver find_giver(const std::vector<Activity>& activity, std::uint32_t taker, std::int64_t from,
                 std::int64_t to) {
  Giver best;
  for (std::size_t i = 0; i < activity.size(); ++i) {
    if (i == taker || activity[i].rank != activity[taker].rank) {
      continue;  // processes wait for each other by other means
    }
    const std::int64_t last = activity[i].last_until(to);
    if (last <= from || last <= best.time) {
      continue;
    }
    const std::int64_t next = activity[i].next_after(last);
    if (next > to && next - last > hand_over_gap_ns && !activity[i].inside_call(last, to)) {
      best = {static_cast<std::uint32_t>(i), last};
    }
  }
  return best;
}

std::uint32_t add_mark(Assembly& assembly, CallKind kind, std::uint32_t thread, std::int64_t time) {
  HostCall mark;
  mark.kind = kind;
  mark.thread = thread;
  mark.start_ns = mark.end_ns = time;
  const auto id = static_cast<std::uint32_t>(assembly.calls.size());
  assembly.threads[thread].calls.push_back(id);
  assembly.calls.push_back(mark);
  return id;
}

void connect(Assembly& assembly, const Giver& giver, std::uint32_t to_mark) {
  const std::uint32_t from_mark =
      add_mark(assembly, CallKind::hand_over_from, giver.thread, giver.time);
  HostCall& mark = assembly.calls[to_mark];
  mark.handed_by = from_mark;
  mark.hand_over_ns = mark.start_ns - giver.time;
  ++assembly.honesty.hand_overs;
}

void first_event(Assembly& assembly, const std::vector<Activity>& activity, std::uint32_t taker) {
  const auto& calls = assembly.threads[taker].calls;
  const auto mark = std::find_if(calls.begin(), calls.end(), [&](std::uint32_t i) {
    return assembly.calls[i].kind == CallKind::thread_first;
  });
  const std::int64_t time = assembly.threads[taker].first_ns;
  const Giver giver = find_giver(activity, taker, time - first_event_hand_over_ns, time);
  if (mark != calls.end() && giver.thread != nothing) {
    connect(assembly, giver, *mark);
  }
}

void gaps_of(Assembly& assembly, const std::vector<Activity>& activity, std::uint32_t taker) {
  const auto& boundaries = activity[taker].boundaries;
  for (std::size_t i = 1; i < boundaries.size(); ++i) {
    const std::int64_t from = boundaries[i - 1];
    const std::int64_t to = boundaries[i];
    if (to - from <= hand_over_gap_ns || activity[taker].inside_call(from, to)) {
      continue;
    }
    const Giver giver = find_giver(activity, taker, from, to);
    if (giver.thread != nothing) {
      const std::uint32_t mark = add_mark(assembly, CallKind::hand_over_to, taker, to);
      assembly.calls[mark].silent_ns = to - from;
      connect(assembly, giver, mark);
    }
  }
}

void find_hand_overs(Assembly& assembly) {
  if (assembly.threads.size() < 2) {
    return;
  }
  const std::vector<Activity> activity = collect_activity(assembly);
  for (std::size_t i = 0; i < assembly.threads.size(); ++i) {
    first_event(assembly, activity, static_cast<std::uint32_t>(i));
    gaps_of(assembly, activity, static_cast<std::uint32_t>(i));
  }
}

}  // namespace

extern const Rule hand_over;
constinit const Rule hand_over{
    .name = "hand_over",
    .doc = "threads that fall silent while another one works: they wait for it",
    .apply = find_hand_overs};

}  // namespace foretrace::trace::rules
