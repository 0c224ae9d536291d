// Primitive: replace.
#include "sim/edit/replace.h"

#include <algorithm>

#include <fmt/format.h>

#include "sim/edit/insert.h"
#include "sim/edit/remove.h"
#include "sim/edit/rewire.h"

namespace foretrace::transform {

namespace {

Status check(const TaskGraph& graph, std::span<const Replacement> replacements) {
  std::vector<bool> seen(graph.size(), false);
  for (const Replacement& replacement : replacements) {
    if (replacement.tasks.empty() || replacement.with.empty()) {
      return Error{ErrorCode::bad_usage,
                   "replace: a group without tasks, or nothing to put in its place (use remove)"};
    }
    TaskId before = none<TaskId>;
    for (const TaskId task : replacement.tasks) {
      if (index(task) >= graph.size() || seen[index(task)] ||
          (before != none<TaskId> && task < before)) {
        return Error{
            ErrorCode::bad_usage,
            fmt::format("replace: task {} does not exist, is named twice or is out of order",
                        index(task))};
      }
      seen[index(task)] = true;
      before = task;
    }
  }
  return ok_status();
}

/// The tasks that go. A call that enqueues tasks of several groups (a graph launch) stays: the new
/// tasks of all groups come from it.
std::vector<TaskId> tasks_that_go(const TaskGraph& graph, const Relations& relations,
                                  std::span<const Replacement> replacements) {
  std::vector<std::uint32_t> group(graph.size(), 0);  // 1 + group of a member
  std::vector<TaskId> named;
  for (std::size_t g = 0; g < replacements.size(); ++g) {
    for (const TaskId task : replacements[g].tasks) {
      group[index(task)] = static_cast<std::uint32_t>(g + 1);
      named.push_back(task);
    }
  }
  std::vector<TaskId> going = with_partners(graph, relations, named);
  const auto shared = [&](TaskId task) {
    if (group[index(task)] != 0) return false;
    const auto work = relations.enqueued_by(task);
    return std::any_of(work.begin(), work.end(), [&](TaskId device) {
      return group[index(device)] != group[index(work.front())];
    });
  };
  going.erase(std::remove_if(going.begin(), going.end(), shared), going.end());
  return going;
}

class Replacer {
 public:
  Replacer(Change& change, const TaskGraph& graph, const Relations& relations,
           const std::vector<TaskId>& going)
      : change_(change), graph_(graph), relations_(relations), going_(going) {}

  /// The new tasks; stand-ins for the group and for its calls are added to `groups`.
  std::vector<TaskId> put(const Replacement& replacement, std::vector<StandIn>& groups) {
    const TaskId last = replacement.tasks.back();
    const TaskId launch = relations_.launch_of(last);
    const bool own_call = launch != none<TaskId> && goes(launch);
    std::vector<TaskId> result;
    std::vector<TaskId> calls;
    TaskId anchor = own_call ? launch : last;
    for (const NewTask& task : replacement.with) {
      const TaskSpec spec = device_spec(replacement, task, result.empty());
      if (own_call) {
        TaskSpec call = like(graph_, launch);
        if (!result.empty()) call.segment_ns = replacement.launch_segment_ns;
        const Dependency cause = relations_.launch_dependency(last);
        const LatencyFrom from = is_end(cause.source) ? LatencyFrom::end : LatencyFrom::start;
        const PairSpec pair{call, spec, cause.lag_ns, anchor, from};
        const LaunchPair put = insert_pair(change_, graph_, pair);
        result.push_back(put.device);
        calls.push_back(put.launch);
      } else {
        result.push_back(insert(change_, graph_, spec, anchor));
      }
      anchor = result.back();
      if (task.trust.low == 1.0F && task.trust.high == 1.0F) continue;
      change_.durations.push_back(
          {anchor, task.duration_ns, task.trust.provenance, task.trust.low, task.trust.high});
    }
    groups.push_back({replacement.tasks, result.front(), result.back()});
    if (own_call) add_calls(replacement, launch, calls, groups);
    return result;
  }

 private:
  [[nodiscard]] bool goes(TaskId task) const {
    return std::binary_search(going_.begin(), going_.end(), task);
  }

  /// The call of the last task hands everything over; the others only what they came after.
  void add_calls(const Replacement& replacement, TaskId launch, const std::vector<TaskId>& calls,
                 std::vector<StandIn>& groups) {
    std::vector<TaskId> others;
    for (const TaskId task : replacement.tasks) {
      const TaskId call = relations_.launch_of(task);
      if (call != none<TaskId> && call != launch && goes(call)) others.push_back(call);
    }
    std::sort(others.begin(), others.end());
    others.erase(std::unique(others.begin(), others.end()), others.end());
    groups.push_back({{launch}, calls.front(), calls.back()});
    if (!others.empty()) groups.push_back({others, calls.front(), none<TaskId>});
  }

  [[nodiscard]] TaskSpec device_spec(const Replacement& replacement, const NewTask& task,
                                     bool first) {
    const TaskId last = replacement.tasks.back();
    TaskSpec spec = like(graph_, last);
    spec.duration_ns = task.duration_ns;
    spec.provenance = task.trust.provenance;
    if (!task.name.empty()) spec.work = add_work(change_, graph_, graph_.work(last), task.name);
    // Host segments pass on by themselves; the gap before device work is set here.
    if (!is_host(spec.kind)) {
      spec.segment_ns = graph_.segment_ns(first ? replacement.tasks.front() : last);
    }
    return spec;
  }

  Change& change_;
  const TaskGraph& graph_;
  const Relations& relations_;
  const std::vector<TaskId>& going_;
};

}  // namespace

Result<std::vector<std::vector<TaskId>>> replace(Change& change, const TaskGraph& graph,
                                                 const Relations& relations,
                                                 std::span<const Replacement> replacements) {
  if (auto status = check(graph, replacements); !status) return std::move(status).error();
  const std::vector<TaskId> going = tasks_that_go(graph, relations, replacements);
  for (const TaskId task : going) {
    change.removed.push_back({task, is_host(graph.kind(task)) ? SegmentOf::keep : SegmentOf::take});
  }
  Replacer replacer(change, graph, relations, going);
  std::vector<std::vector<TaskId>> result;
  std::vector<StandIn> groups;
  for (const Replacement& replacement : replacements) {
    result.push_back(replacer.put(replacement, groups));
  }
  rewire(change, graph, relations, groups, going);
  return result;
}

}  // namespace foretrace::transform
