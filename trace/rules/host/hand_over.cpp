// Thread hand-over: a thread that falls silent while another one works waits for it (forward to
// autograd thread and back, loader threads). Marks on both threads carry the dependency; the
// silence itself is not kept.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include "trace/rules/assembly/activity.h"
#include "trace/rules/assembly/constants.h"
#include "trace/rules/assembly/rule.h"

namespace foretrace::trace::rules::hand_over_parts {
namespace {

struct Giver {
  std::uint32_t thread = nothing;
  std::int64_t time = -1;
};

/// A thread that goes on at `to`: which one fell silent in (from, to]?
struct Question {
  std::uint32_t taker = 0;
  std::int64_t from = 0;
  std::int64_t to = 0;
  bool is_first = false;  ///< of its thread
};

/// A stretch between two boundaries of a thread that no call covers.
struct Pause {
  std::int32_t rank = 0;
  std::int64_t begin = 0;
  bool call_ends_there = false;  ///< at `begin` the thread is still inside a call
  std::int64_t end = 0;
  std::uint32_t thread = 0;
};

/// Silences long enough for a hand-over, by rank and begin.
std::vector<Pause> pauses_of(const std::vector<Activity>& activity) {
  std::vector<Pause> list;
  for (std::size_t i = 0; i < activity.size(); ++i) {
    const auto& at = activity[i].boundaries;
    for (std::size_t k = 0; k < at.size(); ++k) {
      const std::int64_t end = k + 1 < at.size() ? at[k + 1] : Activity::forever;
      if (end - at[k] > hand_over_gap_ns && !activity[i].inside_call(at[k], end)) {
        list.push_back({activity[i].rank, at[k], activity[i].inside_call(at[k], at[k]), end,
                        static_cast<std::uint32_t>(i)});
      }
    }
  }
  std::sort(list.begin(), list.end(), [](const Pause& a, const Pause& b) {
    return std::tie(a.rank, a.begin, a.call_ends_there) <
           std::tie(b.rank, b.begin, b.call_ends_there);
  });
  return list;
}

/// The silences that last at a time which only moves on.
class Silent {
 public:
  void add(const Pause& pause) { begun_.push(&pause); }
  void clear() { begun_ = {}; }

  /// The latest begin of another thread after `from`; of equal ones the first thread's.
  [[nodiscard]] Giver latest(const Question& question) {
    const Pause* first = current(question.to);
    if (first != nullptr && first->thread == question.taker) {
      begun_.pop();
      const Pause* const second = current(question.to);
      begun_.push(first);
      first = second;
    }
    return first == nullptr || first->begin <= question.from ? Giver{}
                                                             : Giver{first->thread, first->begin};
  }

 private:
  /// What is over by now is over for good; of a thread at most one lasts.
  const Pause* current(std::int64_t time) {
    while (!begun_.empty() && begun_.top()->end <= time) {
      begun_.pop();
    }
    return begun_.empty() ? nullptr : begun_.top();
  }

  struct Later {
    bool operator()(const Pause* a, const Pause* b) const {
      return a->begin != b->begin ? a->begin < b->begin : a->thread > b->thread;
    }
  };
  std::priority_queue<const Pause*, std::vector<const Pause*>, Later> begun_;
};

/// For each question the thread whose last boundary lies latest in (from, to] and that stays silent
/// beyond `to`. Processes wait for each other by other means: only threads of the taker's rank.
std::vector<Giver> find_givers(const std::vector<Activity>& activity,
                               const std::vector<Question>& questions) {
  const auto rank_of = [&](std::uint32_t q) { return activity[questions[q].taker].rank; };
  std::vector<std::uint32_t> order(questions.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::pair(rank_of(a), questions[a].to) < std::pair(rank_of(b), questions[b].to);
  });
  const std::vector<Pause> pauses = pauses_of(activity);
  auto next = pauses.begin();
  std::vector<Giver> givers(questions.size());
  Silent silent;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Question& question = questions[order[i]];
    const std::int32_t rank = rank_of(order[i]);
    if (i > 0 && rank_of(order[i - 1]) != rank) {
      silent.clear();
    }
    for (; next != pauses.end() && std::tie(next->rank, next->begin) <= std::tie(rank, question.to);
         ++next) {
      if (next->rank == rank && next->begin == question.to && next->call_ends_there) {
        break;  // silent from here on, but not yet
      }
      if (next->rank == rank) {
        silent.add(*next);
      }
    }
    givers[order[i]] = silent.latest(question);
  }
  return givers;
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

void hand_first_event(Assembly& assembly, const Giver& giver, std::uint32_t taker) {
  const auto& calls = assembly.threads[taker].calls;
  const auto mark = std::find_if(calls.begin(), calls.end(), [&](std::uint32_t i) {
    return assembly.calls[i].kind == CallKind::thread_first;
  });
  if (mark != calls.end()) {
    connect(assembly, giver, *mark);
  }
}

/// The first event of a thread, and what ends each of its silences.
void ask(const Assembly& assembly, const Activity& activity, std::uint32_t taker,
         std::vector<Question>& questions) {
  const std::int64_t first = assembly.threads[taker].first_ns;
  questions.push_back({taker, first - first_event_hand_over_ns, first, true});
  const auto& boundaries = activity.boundaries;
  for (std::size_t i = 1; i < boundaries.size(); ++i) {
    const std::int64_t from = boundaries[i - 1];
    const std::int64_t to = boundaries[i];
    if (to - from > hand_over_gap_ns && !activity.inside_call(from, to)) {
      questions.push_back({taker, from, to});
    }
  }
}

void find_hand_overs(Assembly& assembly) {
  if (assembly.threads.size() < 2) return;
  const std::vector<Activity> activity = activity_of(assembly, StepEnds::ignore);
  std::vector<Question> questions;
  for (std::size_t i = 0; i < assembly.threads.size(); ++i) {
    ask(assembly, activity[i], static_cast<std::uint32_t>(i), questions);
  }
  const std::vector<Giver> givers = find_givers(activity, questions);
  for (std::size_t i = 0; i < questions.size(); ++i) {
    const Question& question = questions[i];
    if (givers[i].thread == nothing) continue;
    if (question.is_first) {
      hand_first_event(assembly, givers[i], question.taker);
      continue;
    }
    const std::uint32_t mark =
        add_mark(assembly, CallKind::hand_over_to, question.taker, question.to);
    assembly.calls[mark].silent_ns = question.to - question.from;
    connect(assembly, givers[i], mark);
  }
}

}  // namespace

extern constexpr Rule info = {.name = "hand_over",
                              .doc = "threads that pause while another one works wait for it",
                              .apply = find_hand_overs};

}  // namespace foretrace::trace::rules::hand_over_parts
