#include "trace/ranks/stalls.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "sim/core/statistics.h"
#include "trace/ranks/matching/constants.h"
#include "trace/rules/assembly/activity.h"

namespace foretrace::trace {
namespace {

/// Where a call stands, in words that mean the same on every rank.
using Place = std::tuple<std::uint32_t, std::int32_t, std::string_view, std::string_view,
                         std::uint32_t>;  // role, steps from the end, call, operator, occurrence

struct Silence {
  std::size_t rank = 0;
  std::uint32_t position = 0;
  std::int64_t duration_ns = 0;
};

/// The longest stretch between two boundaries in [from, to] that no call covers.
std::int64_t longest_silence(const rules::Activity& activity, std::int64_t from, std::int64_t to) {
  std::int64_t longest = 0;
  std::int64_t last = from;
  auto at = std::upper_bound(activity.boundaries.begin(), activity.boundaries.end(), from);
  for (; last < to; ++at) {
    const std::int64_t next = at == activity.boundaries.end() ? to : std::min(*at, to);
    if (next - last > longest && !activity.inside_call(last, next)) {
      longest = next - last;
    }
    last = next;
    if (at == activity.boundaries.end()) break;
  }
  return longest;
}

/// Roles: 0 for the thread that carries the steps, then by when threads begin.
std::vector<std::uint32_t> roles_of(const rules::Assembly& rank) {
  const TrackId main =
      rank.annotation.steps.empty() ? none<TrackId> : rank.annotation.steps.front().track;
  std::vector<std::uint32_t> order(rank.threads.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    order[i] = static_cast<std::uint32_t>(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const auto key = [&](std::uint32_t i) {
      return std::pair(rank.threads[i].track != main, rank.threads[i].first_ns);
    };
    return key(a) < key(b);
  });
  std::vector<std::uint32_t> role(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    role[order[i]] = static_cast<std::uint32_t>(i);
  }
  return role;
}

class Silences {
 public:
  void add(const rules::Assembly& rank, std::size_t position_of_rank) {
    const std::vector<std::uint32_t> roles = roles_of(rank);
    const std::vector<rules::Activity> activity = rules::activity_of(rank, rules::StepEnds::count);
    for (std::size_t thread = 0; thread < rank.threads.size(); ++thread) {
      add_thread(rank, position_of_rank, {rank.threads[thread], roles[thread], activity[thread]});
    }
  }

  [[nodiscard]] std::vector<RankStall> stalls() const {
    std::vector<RankStall> found;
    for (const auto& [place, silences] : by_place_) {
      for (const Silence& silence : silences) {
        std::vector<std::int64_t> others;
        for (const Silence& other : silences) {
          if (other.rank != silence.rank) {
            others.push_back(other.duration_ns);
          }
        }
        if (others.empty() || silence.duration_ns <= ranks::stall_ns) continue;
        const std::int64_t usual = upper_median(others);
        const std::int64_t excess = silence.duration_ns - usual;
        if (excess > ranks::stall_ns && silence.duration_ns > ranks::stall_factor * usual) {
          found.push_back({silence.rank, silence.position, silence.duration_ns, excess});
        }
      }
    }
    std::sort(found.begin(), found.end(), [](const RankStall& a, const RankStall& b) {
      return std::tuple(a.rank, a.position) < std::tuple(b.rank, b.position);
    });
    return found;
  }

 private:
  struct Thread {
    const rules::HostThread& thread;
    std::uint32_t role = 0;
    const rules::Activity& activity;
  };

  void add_thread(const rules::Assembly& rank, std::size_t position_of_rank, const Thread& one) {
    const auto& [thread, role, activity] = one;
    const auto& steps = rank.annotation.steps;
    std::map<std::tuple<std::int32_t, std::string_view, std::string_view>, std::uint32_t> seen;
    std::int64_t last = thread.first_ns;
    for (const std::uint32_t index_of_call : thread.calls) {
      const rules::HostCall& call = rank.calls[index_of_call];
      const std::int64_t from = last;
      last = call.end_ns;
      if (call.event == none<EventId> || call.hidden) {
        continue;  // marks end no silence of their own: a hand-over is waiting
      }
      const auto after = std::partition_point(
          steps.begin(), steps.end(),
          [&](const StepWindow& step) { return step.start_ns <= call.start_ns; });
      const auto from_end = static_cast<std::int32_t>(steps.end() - after);
      const EventId op = rank.annotation.operator_event[index(call.event)];
      const std::string_view around = op == none<EventId> ? "" : rank.events.name_of(op);
      const std::uint32_t occurrence = seen[{from_end, rank.api(call), around}]++;
      by_place_[{role, from_end, rank.api(call), around, occurrence}].push_back(
          {position_of_rank, call.position, longest_silence(activity, from, call.start_ns)});
    }
  }

  std::map<Place, std::vector<Silence>> by_place_;
};

}  // namespace

std::vector<RankStall> find_stalls(std::span<const rules::Assembly* const> ranks) {
  if (ranks.size() < 2) {
    return {};
  }
  Silences silences;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    silences.add(*ranks[i], i);
  }
  return silences.stalls();
}

}  // namespace foretrace::trace
