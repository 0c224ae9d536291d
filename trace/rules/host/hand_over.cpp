// Thread hand-over: a thread that falls silent while another one works waits for it (forward to
// autograd thread and back, loader threads). Marks on both threads carry the dependency; the
// silence itself is not kept.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "trace/rules/assembly/activity.h"
#include "trace/rules/assembly/constants.h"
#include "trace/rules/assembly/rule.h"

namespace foretrace::trace::rules {
namespace {

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
  const std::vector<Activity> activity = activity_of(assembly, StepEnds::ignore);
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
