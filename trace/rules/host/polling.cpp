// A thread that polls: it launches a kernel, falls silent and goes on when that kernel has ended,
// because it reads a flag that the kernel sets (libraries that send the tokens of experts learn so
// how many arrive). No call is recorded; the silence is a wait for the kernel.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "trace/rules/assembly/activity.h"
#include "trace/rules/assembly/constants.h"
#include "trace/rules/assembly/rule.h"

namespace foretrace::trace::rules::polling_parts {
namespace {

/// A silence behind a launch whose work was still running.
struct Silence {
  std::uint32_t thread = 0;
  std::int64_t from_ns = 0;
  std::int64_t to_ns = 0;
  std::uint32_t op = 0;  ///< the last to end of what was launched
  bool ends_with_it = false;
};

/// What is known of the silences behind one kernel.
struct Evidence {
  std::size_t seen = 0;
  std::size_t matched = 0;
  std::int64_t longest_ns = 0;

  [[nodiscard]] bool is_polled() const {
    const bool is_enough = matched > 1 || longest_ns >= single_polling_gap_ns;
    return matched > 0 && is_enough && matched * 4 >= seen * 3;
  }
};

class Polling {
 public:
  explicit Polling(Assembly& assembly) : a_(assembly), by_name_(assembly.events.names.size()) {}

  void run() {
    const std::vector<Activity> activity = activity_of(a_, StepEnds::count);
    for (std::size_t thread = 0; thread < a_.threads.size(); ++thread) {
      find_silences(static_cast<std::uint32_t>(thread), activity[thread]);
    }
    for (const Silence& silence : silences_) {
      if (silence.ends_with_it && evidence_of(silence.op).is_polled()) {
        add_wait(silence);
      }
    }
  }

 private:
  void find_silences(std::uint32_t thread, const Activity& activity) {
    const std::vector<std::uint32_t> launches = launches_of(thread);
    const std::vector<std::int64_t> explained = explained_ends(thread);
    auto next = launches.begin();
    for (std::size_t i = 1; i < activity.boundaries.size(); ++i) {
      const std::int64_t from = activity.boundaries[i - 1];
      const std::int64_t to = activity.boundaries[i];
      if (to - from <= short_polling_gap_ns) continue;
      next = std::partition_point(next, launches.end(), [&](std::uint32_t call) {
        return a_.calls[call].start_ns <= from;
      });
      if (next == launches.begin() || activity.inside_call(from, to) ||
          std::binary_search(explained.begin(), explained.end(), to)) {
        continue;
      }
      look_at({thread, from, to, last_op(a_.calls[*(next - 1)])});
    }
  }

  void look_at(Silence silence) {
    const std::int64_t end = a_.ops[silence.op].end_ns;
    if (end <= silence.from_ns + polled_ns + a_.slack_ns) return;
    const std::int64_t late = silence.to_ns - end;
    silence.ends_with_it =
        late >= -polling_before_ns - a_.slack_ns && late <= polling_after_ns + a_.slack_ns;
    const std::int64_t length = silence.to_ns - silence.from_ns;
    if (length >= polling_gap_ns) {
      Evidence& evidence = evidence_of(silence.op);
      ++evidence.seen;
      if (silence.ends_with_it) {
        ++evidence.matched;
        evidence.longest_ns = std::max(evidence.longest_ns, length);
      }
    }
    silences_.push_back(silence);
  }

  /// Calls that launched something, by start.
  [[nodiscard]] std::vector<std::uint32_t> launches_of(std::uint32_t thread) const {
    std::vector<std::uint32_t> list;
    for (const std::uint32_t call : a_.threads[thread].calls) {
      if (a_.calls[call].op_count > 0) {
        list.push_back(call);
      }
    }
    std::sort(list.begin(), list.end(), [&](std::uint32_t x, std::uint32_t y) {
      return a_.calls[x].start_ns != a_.calls[y].start_ns
                 ? a_.calls[x].start_ns < a_.calls[y].start_ns
                 : x < y;
    });
    return list;
  }

  /// Ends of the silences that other rules explain.
  [[nodiscard]] std::vector<std::int64_t> explained_ends(std::uint32_t thread) const {
    std::vector<std::int64_t> ends;
    for (const std::uint32_t i : a_.threads[thread].calls) {
      const HostCall& call = a_.calls[i];
      if (call.hidden || call.kind == CallKind::hand_over_to) {
        ends.push_back(call.end_ns);
      }
    }
    std::sort(ends.begin(), ends.end());
    return ends;
  }

  [[nodiscard]] std::uint32_t last_op(const HostCall& call) const {
    std::uint32_t last = call.first_op;
    for (std::uint32_t i = call.first_op; i < call.first_op + call.op_count; ++i) {
      last = a_.ops[i].end_ns > a_.ops[last].end_ns ? i : last;
    }
    return last;
  }

  [[nodiscard]] Evidence& evidence_of(std::uint32_t op) {
    return by_name_[index(a_.events.name[index(a_.ops[op].event)])];
  }

  void add_wait(const Silence& silence) {
    HostCall wait;
    const HostCall& launch = a_.calls[a_.ops[silence.op].call];
    wait.event = launch.event;  // it belongs to the same operator and layer
    wait.api = launch.api;
    wait.kind = CallKind::event_sync;
    wait.hidden = true;
    wait.waits_for = silence.op;
    wait.thread = silence.thread;
    wait.start_ns = silence.from_ns;
    wait.end_ns = silence.to_ns;
    a_.threads[silence.thread].calls.push_back(static_cast<std::uint32_t>(a_.calls.size()));
    a_.calls.push_back(wait);
  }

  Assembly& a_;
  std::vector<Evidence> by_name_;  // per name of a kernel
  std::vector<Silence> silences_;
};

void find_polling(Assembly& assembly) { Polling(assembly).run(); }

}  // namespace

extern constexpr Rule info = {
    .name = "polling",
    .doc = "pauses that end together with the kernel launched just before: the CPU polls for it",
    .apply = find_polling};

}  // namespace foretrace::trace::rules::polling_parts
