#include "sim/engine/memory/memory_budget.h"

#include <array>
#include <vector>

#include <doctest/doctest.h>

#include "sim/engine/event/event_driven.h"
#include "sim/graph/graph_builder.h"

namespace foretrace {
namespace {

/// Two host threads of two tasks, 100 ns each. The first holds 60 bytes from its first task to its
/// second; the second asks for 50 before its second.
struct TwoThreads {
  GraphBuilder builder;
  std::array<TaskId, 4> tasks{};
  TwoThreads() {
    const WorkId work = builder.add_work({.kind = TaskKind::host});
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      if (i % 2 == 0) lane = builder.add_lane({.kind = LaneKind::host_thread, .name = ""});
      tasks.at(i) = builder.add_task(
          {.lane = lane, .work = work, .kind = TaskKind::host, .duration_ns = i == 0 ? 300 : 100});
    }
    builder.add_tensor({.bytes = 60, .allocated_in = tasks[0], .freed_in = tasks[1]});
    Tensor second{.bytes = 50, .allocated_in = tasks[3]};
    second.operator_name = builder.add_name("aten::mm");
    builder.add_tensor(second);
  }
  TaskGraph graph() {
    auto built = std::move(builder).build();
    REQUIRE(built.ok());
    return std::move(built).value();
  }
  LaneId lane{};
};

EventDrivenOptions with_budget(std::int64_t bytes, WhenFull when_full) {
  EventDrivenOptions options;
  options.budgets.push_back({.rank = 0, .device = 0, .bytes = bytes, .when_full = when_full});
  return options;
}

TEST_CASE("memory budget: what fits changes nothing") {
  const TaskGraph graph = TwoThreads().graph();
  const auto free = simulate_event_driven(graph);
  const auto limited = simulate_event_driven(graph, with_budget(110, WhenFull::fail));
  REQUIRE(free.ok());
  REQUIRE(limited.ok());
  CHECK(free->timeline.points == limited->timeline.points);
  CHECK(limited->memory_waits == 0);
}

TEST_CASE("memory budget: a task that does not fit waits until another thread frees") {
  // The second thread is ready at 100; the 60 bytes go when the first one's second task starts.
  const TaskGraph graph = TwoThreads().graph();
  const auto run = simulate_event_driven(graph, with_budget(100, WhenFull::block));
  REQUIRE_MESSAGE(run.ok(), run.error().message);
  CHECK(run->timeline.start_ns(TaskId{3}) == 300);
  CHECK(run->memory_waits == 1);
  CHECK(run->memory_waited_ns == 200);
}

TEST_CASE("memory budget: it fails at once if told to, and names who asked") {
  const TaskGraph graph = TwoThreads().graph();
  const auto run = simulate_event_driven(graph, with_budget(100, WhenFull::fail));
  REQUIRE(!run.ok());
  CHECK(run.error().message ==
        "device 0 of rank 0: out of memory: 'aten::mm' before task 3 needs 10 bytes more than are "
        "free, got 60 of 100 allocated");
}

TEST_CASE("memory budget: a wait that nobody can end is an error, not a hang") {
  const TaskGraph graph = TwoThreads().graph();
  CHECK(!simulate_event_driven(graph, with_budget(40, WhenFull::block)).ok());
}

TEST_CASE("memory budget: what is freed before it comes goes as soon as it comes") {
  // The second thread frees at 0, the first allocates at 0 after it: 60 for a moment, 0 after it.
  GraphBuilder builder;
  const WorkId work = builder.add_work({.kind = TaskKind::host});
  std::array<TaskId, 2> tasks{};
  for (TaskId& task : tasks) {
    const LaneId lane = builder.add_lane({.kind = LaneKind::host_thread, .name = ""});
    task =
        builder.add_task({.lane = lane, .work = work, .kind = TaskKind::host, .duration_ns = 100});
  }
  builder.add_tensor({.bytes = 60, .allocated_in = tasks[1], .freed_in = tasks[0]});
  builder.add_tensor({.bytes = 10, .allocated_in = tasks[1], .allocated_sequence = 1});
  const auto graph = std::move(builder).build();
  REQUIRE(graph.ok());
  const auto run = simulate_event_driven(*graph, with_budget(60, WhenFull::fail));
  REQUIRE_MESSAGE(run.ok(), run.error().message);
  CHECK(run->memory[0].peak_bytes == 60);
  CHECK(!simulate_event_driven(*graph, with_budget(59, WhenFull::fail)).ok());
}

/// Takes the first tensor off the device when it is asked.
class Evictor final : public Policy {
 public:
  void make_room(const MemoryPressure& pressure, Simulation& simulation) override {
    asked.push_back(pressure);
    CHECK(simulation.room_bytes(TensorId{0}) == 40);
    simulation.evict(TensorId{0});
    CHECK(!simulation.is_resident(TensorId{0}));
    CHECK(simulation.room_bytes(TensorId{0}) == 100);
  }
  std::vector<MemoryPressure> asked;
};

TEST_CASE("memory budget: a policy is asked first and may make room") {
  const TaskGraph graph = TwoThreads().graph();
  Evictor evictor;
  EventDrivenOptions options = with_budget(100, WhenFull::fail);
  options.policy = &evictor;
  const auto run = simulate_event_driven(graph, options);
  REQUIRE_MESSAGE(run.ok(), run.error().message);
  REQUIRE(evictor.asked.size() == 1);
  CHECK(evictor.asked[0].missing_bytes == 10);
  CHECK(evictor.asked[0].live_bytes == 60);
  CHECK(run->timeline.start_ns(TaskId{3}) == 100);
  // Evicted, it is not freed a second time: 60, then 0, then 50.
  REQUIRE(run->memory.size() == 1);
  CHECK(run->memory[0].peak_bytes == 60);
  const std::vector<BudgetPoint>& points = run->memory[0].points;
  REQUIRE(points.size() == 3);
  CHECK(points[0].action == BudgetAction::allocated);
  CHECK(points[1].action == BudgetAction::evicted);
  CHECK(points[1].tensor == TensorId{0});
  CHECK(points[1].live_bytes == 0);
  CHECK(points[2].action == BudgetAction::allocated);
  CHECK(points[2].live_bytes == 50);
  CHECK(points[2].time_ns == 100);
}

/// Puts a task of 30 ns, after 5 ns of host time, before the second task of the second thread.
class Inserter final : public Policy {
 public:
  bool may_start(TaskId task, Simulation& simulation) override {
    if (task != TaskId{3} || done) return true;
    done = true;
    for (int i = 0; i < 2; ++i) {
      const TaskSpec spec{.lane = simulation.graph().lane_id(task),
                          .kind = TaskKind::host,
                          .duration_ns = 30,
                          .segment_ns = 5};
      const auto added =
          simulation.append({.task = spec, .dependencies = {}, .demands = {}, .before = task});
      REQUIRE_MESSAGE(added.ok(), added.error().message);
    }
    return true;
  }
  bool done = false;
};

TEST_CASE("memory budget: a policy puts tasks directly before one that is about to start") {
  const TaskGraph graph = TwoThreads().graph();
  Inserter inserter;
  EventDrivenOptions options = with_budget(200, WhenFull::fail);
  options.policy = &inserter;
  const auto run = simulate_event_driven(graph, options);
  REQUIRE_MESSAGE(run.ok(), run.error().message);
  // Ready at 100: 5 + 30 + 5 + 30 come first, so that it starts at 170.
  CHECK(run->timeline.start_ns(TaskId{4}) == 105);
  CHECK(run->timeline.start_ns(TaskId{5}) == 140);
  CHECK(run->timeline.start_ns(TaskId{3}) == 170);
}

TEST_CASE("memory budget: nothing can be put before a task that has started, or on another lane") {
  class Late final : public Policy {
   public:
    void on_end(TaskId task, Simulation& simulation) override {
      if (task != TaskId{0}) return;
      TaskSpec spec{.lane = simulation.graph().lane_id(task), .kind = TaskKind::host};
      CHECK(!simulation.append({.task = spec, .dependencies = {}, .demands = {}, .before = task})
                 .ok());
      spec.lane = simulation.graph().lane_id(TaskId{2});
      CHECK(
          !simulation.append({.task = spec, .dependencies = {}, .demands = {}, .before = TaskId{1}})
               .ok());
      asked = true;
    }
    bool asked = false;
  };
  const TaskGraph graph = TwoThreads().graph();
  Late late;
  EventDrivenOptions options;
  options.policy = &late;
  REQUIRE(simulate_event_driven(graph, options).ok());
  CHECK(late.asked);
}

}  // namespace
}  // namespace foretrace
