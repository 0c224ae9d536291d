#include "sim/engine/event/executed_graph.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "sim/engine/pull/pull.h"
#include "sim/graph/links.h"
#include "tests/sim/graph/text_graph.h"

namespace foretrace {
namespace {

using test::graph;
using test::task;

/// Repeats a call and its kernel when a task is about to start: the call in front of it, the kernel
/// in front of that task's.
class Repeater final : public Policy {
 public:
  Repeater(TaskId before, TaskId kernel_before) : before_(before), kernel_before_(kernel_before) {}

  bool may_start(TaskId started, Simulation& simulation) override {
    if (started != before_ || done_) return true;
    done_ = true;
    const TaskGraph& base = simulation.graph();
    const TaskId call = repeat(test::task(base, "a"), before_, {}, simulation);
    const std::vector<Dependency> launch = {
        {.source = end_of(call), .task = {}, .kind = DependencyKind::launch}};
    repeat(test::task(base, "k"), kernel_before_, launch, simulation);
    return true;
  }

 private:
  static TaskId repeat(TaskId original, TaskId before, std::span<const Dependency> dependencies,
                       Simulation& simulation) {
    const TaskGraph& base = simulation.graph();
    const TaskSpec spec{.lane = base.lane_id(original),
                        .work = base.work_id(original),
                        .kind = base.kind(original),
                        .duration_ns = base.duration_ns(original)};
    const auto added = simulation.append(
        {.task = spec, .dependencies = dependencies, .demands = {}, .before = before});
    REQUIRE_MESSAGE(added.ok(), added.error().message);
    return *added;
  }

  TaskId before_;
  TaskId kernel_before_;
  bool done_ = false;
};

/// Tasks of a lane in the order of their ids: "name@start".
std::vector<std::string> row(const ExecutedGraph& executed, std::string_view on) {
  std::vector<std::string> tasks;
  const LaneId lane = executed.graph.lane_id(task(executed.graph, on));
  for (std::size_t i = 0; i < executed.graph.size(); ++i) {
    const auto id = make_id<TaskId>(i);
    if (executed.graph.lane_id(id) == lane) {
      tasks.push_back(std::string(executed.graph.name(id)) + "@" +
                      std::to_string(executed.timeline.start_ns(id)));
    }
  }
  return tasks;
}

Result<ExecutedGraph> repeated(const TaskGraph& base) {
  Repeater policy(task(base, "b"), task(base, "l"));
  // A budget makes the engine ask the policy before every task.
  EventDrivenOptions options{.policy = &policy, .waits = WaitResolution::recorded};
  options.budgets.push_back({.rank = 0, .device = 0, .bytes = 1});
  const auto execution = simulate_event_driven(base, options);
  REQUIRE_MESSAGE(execution.ok(), execution.error().message);
  return executed_graph(base, *execution, "again: ");
}

TEST_CASE("executed graph: without a policy it is the graph that ran") {
  const TaskGraph base = graph("h:a(10) s:k(20)<a h:b(10,5) s:l(30)<b h:c(1)~s");
  const auto execution = simulate_event_driven(base);
  REQUIRE(execution.ok());
  const auto executed = executed_graph(base, *execution, "again: ");
  REQUIRE_MESSAGE(executed.ok(), executed.error().message);
  REQUIRE(executed->graph.size() == base.size());
  // What a wait meant stays: c after l, 15 + 10 + 30 after the start.
  for (const char* const name : {"a", "k", "b", "l", "c"}) {
    CHECK(executed->timeline.start_ns(task(executed->graph, name)) ==
          simulate(base).start_ns(task(base, name)));
    CHECK_FALSE(executed->is_appended[index(task(executed->graph, name))]);
  }
  CHECK(simulate(executed->graph).points == executed->timeline.points);
}

TEST_CASE("executed graph: what a policy puts in stands where it ran, with its name") {
  // b is ready at 10 + 5 = 15: the call again until 25, then b until 35. k until 30, again until
  // 50, then l.
  const TaskGraph base = graph("h:a(10) s:k(20)<a h:b(10,5) s:l(30)<b");
  const auto executed = repeated(base);
  REQUIRE_MESSAGE(executed.ok(), executed.error().message);
  CHECK(row(*executed, "a") == std::vector<std::string>{"a@0", "again: a@15", "b@25"});
  CHECK(row(*executed, "k") == std::vector<std::string>{"k@10", "again: k@30", "l@50"});
  const TaskGraph& made = executed->graph;
  CHECK(executed->is_appended[index(task(made, "again: k"))]);
  CHECK_FALSE(executed->is_appended[index(task(made, "k"))]);
  // The host time before b had passed when the call was put in.
  CHECK(made.segment_ns(task(made, "again: a")) == 5);
  CHECK(made.segment_ns(task(made, "b")) == 0);
  bool is_launched = false;
  for (const Link& dependency : sources(made, task(made, "again: k"))) {
    is_launched = is_launched || (dependency.kind == DependencyKind::launch &&
                                  task_of(dependency.source) == task(made, "again: a"));
  }
  CHECK(is_launched);
}

}  // namespace
}  // namespace foretrace
