#include "sim/engine/event/event_driven.h"

#include <random>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "sim/engine/pull/pull.h"
#include "tests/sim/engine/random_graph.h"
#include "tests/sim/graph/text_graph.h"

namespace foretrace {
namespace {

using test::graph;

Execution run(const TaskGraph& graph, const EventDrivenOptions& options = {}) {
  auto execution = simulate_event_driven(graph, options);
  REQUIRE_MESSAGE(execution.ok(), execution.error().message);
  return std::move(execution).value();
}

/// The same graph with another context (policies, priorities, capacities, demands).
template <typename Edit>
TaskGraph with_context(const TaskGraph& graph, Edit edit) {
  GraphContext context = graph.context();
  edit(context);
  return {graph.shared_topology(), graph.shared_columns(),
          std::make_shared<const GraphContext>(std::move(context)), graph.weights()};
}

std::int64_t start_of_name(const TaskGraph& graph, const Timeline& timeline,
                           std::string_view name) {
  return timeline.start_ns(test::task(graph, name));
}

TEST_CASE("event engine: the fast path has the times of the pull engine, with either queue") {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    CAPTURE(seed);
    const TaskGraph random = test::random_graph({.tasks = 60 * seed,
                                                 .lanes = 1 + seed * seed,
                                                 .seed = seed,
                                                 .overflow_share = 0.2,
                                                 .negative_share = 0.3});
    const Timeline expected = simulate(random);
    for (const EventQueueKind queue : {EventQueueKind::heap, EventQueueKind::calendar}) {
      Timeline timeline;
      simulate_event_driven(random.topology(), random.weights(), timeline, queue);
      CHECK(timeline.points == expected.points);
      CHECK(timeline.span_ns == expected.span_ns);
    }
  }
}

TEST_CASE("event engine: a policy that leaves everything as it is changes no time") {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    CAPTURE(seed);
    const TaskGraph random = test::random_graph(
        {.tasks = 500, .lanes = 5, .seed = seed, .overflow_share = 0.2, .negative_share = 0.3});
    Policy policy;
    const Execution execution = run(random, {.policy = &policy});
    CHECK(execution.timeline.points == simulate(random).points);
    CHECK(execution.appended.lane.empty());
  }
}

TEST_CASE("event engine: ready order starts what is ready, program order waits its turn") {
  // b stands behind a on the stream, but a waits for a launch that ends at 100.
  const TaskGraph ordered = graph("h1:la(100) s:a(10)<la h2:lb(5) s:b(20)<lb");
  CHECK(start_of_name(ordered, run(ordered).timeline, "b") == 110);
  const TaskGraph ready = with_context(
      ordered, [](GraphContext& context) { context.lanes[1].policy = LanePolicy::ready_order; });
  const Execution execution = run(ready, {.waits = WaitResolution::recorded});
  CHECK(start_of_name(ready, execution.timeline, "b") == 5);
  CHECK(start_of_name(ready, execution.timeline, "a") == 100);
}

TEST_CASE("event engine: on a priority lane the smaller number goes first, whoever came first") {
  // All three are ready while "busy" runs until 50; c has priority -1, b 0, a 3. Gaps of 2.
  const TaskGraph plain = graph("s:busy(50) s:a(10,2) s:b(10,2) s:c(10,2)");
  const TaskGraph ranked = with_context(plain, [](GraphContext& context) {
    context.lanes[0].policy = LanePolicy::priority;
    context.priorities = {{TaskId{0}, -5}, {TaskId{1}, 3}, {TaskId{3}, -1}};
  });
  const Timeline timeline = run(ranked).timeline;
  CHECK(start_of_name(ranked, timeline, "busy") == 0);
  CHECK(start_of_name(ranked, timeline, "c") == 52);
  CHECK(start_of_name(ranked, timeline, "b") == 64);
  CHECK(start_of_name(ranked, timeline, "a") == 76);
}

TEST_CASE("event engine: a policy chooses among the ready tasks of a lane") {
  class Last : public Policy {
   public:
    std::size_t choose(LaneId /*lane*/, std::span<const ReadyTask> ready,
                       Simulation& /*simulation*/) override {
      return ready.size() - 1;
    }
  };
  const TaskGraph lane = with_context(graph("s:a(10) s:b(20) s:c(30)"), [](GraphContext& context) {
    context.lanes[0].policy = LanePolicy::ready_order;
  });
  Last last;
  const Timeline timeline = run(lane, {.policy = &last}).timeline;
  CHECK(start_of_name(lane, timeline, "c") == 0);
  CHECK(start_of_name(lane, timeline, "b") == 30);
  CHECK(start_of_name(lane, timeline, "a") == 50);
}

TEST_CASE("event engine: a policy appends tasks and holds others back") {
  // When a ends, a swap of 40 is put on the copy lane and b must wait for it.
  class Swap : public Policy {
   public:
    explicit Swap(TaskId after, TaskId held) : after_(after), held_(held) {}
    void on_end(TaskId task, Simulation& simulation) override {
      if (task != after_) {
        return;
      }
      TaskSpec spec;
      spec.lane = LaneId{1};
      spec.kind = TaskKind::copy;
      spec.duration_ns = 40;
      const std::vector<Dependency> from{{end_of(task), TaskId{}, DependencyKind::control, 5}};
      auto swap = simulation.append({spec, from, {}});
      REQUIRE(swap.ok());
      CHECK(simulation.add_dependency({end_of(*swap), held_, DependencyKind::memory}).ok());
      CHECK_FALSE(simulation.add_dependency({end_of(*swap), after_}).ok());
      CHECK_FALSE(simulation.add_dependency({end_of(TaskId{99}), held_}).ok());
      spec.lane = LaneId{7};
      CHECK_FALSE(simulation.append({spec, {}, {}}).ok());
    }

   private:
    TaskId after_;
    TaskId held_;
  };
  const TaskGraph base = graph("s:a(100) c:copy(200) h:pause(120) s:b(10)<pause");
  Swap swap(test::task(base, "a"), test::task(base, "b"));
  const Execution execution = run(base, {.policy = &swap, .waits = WaitResolution::recorded});
  REQUIRE(execution.timeline.size() == 5);
  CHECK(execution.timeline.start_ns(TaskId{4}) == 200);  // behind the copy on its lane
  CHECK(start_of_name(base, execution.timeline, "b") == 240);
  CHECK(execution.appended.kind == std::vector<TaskKind>{TaskKind::copy});
  CHECK(execution.appended_duration_ns == std::vector<std::int64_t>{40});
  CHECK(execution.timeline.span_ns == 250);
}

/// Capacity 0 of size `size`; every kernel demands `amounts[i]` of it.
TaskGraph sharing(const TaskGraph& graph, double size, const std::vector<float>& amounts) {
  return with_context(graph, [&](GraphContext& context) {
    context.capacities.push_back({"sm", size});
    for (std::size_t i = 0; i < amounts.size(); ++i) {
      context.demands.push_back({make_id<TaskId>(i), 0, amounts[i]});
    }
  });
}

TEST_CASE("event engine: tasks that fit a capacity together do not slow each other") {
  const TaskGraph fits = sharing(graph("s1:a(100) s2:b(50,20)"), 1.0, {0.5F, 0.5F});
  const Execution execution = run(fits);
  CHECK(execution.timeline.points == simulate(fits).points);
  CHECK(execution.capacity_use[0] == doctest::Approx(0.5 * 150));
  CHECK(execution.capacity_full_ns[0] == 50);
}

TEST_CASE("event engine: tasks that share a full capacity slow each other by max-min shares") {
  // Both want all of it: half rate each until b's 50 are done at 100; a has 50 left: 150.
  const TaskGraph full = sharing(graph("s1:a(100) s2:b(50)"), 1.0, {1.0F, 1.0F});
  const Execution execution = run(full);
  CHECK(execution.timeline.end_ns(test::task(full, "b")) == 100);
  CHECK(execution.timeline.end_ns(test::task(full, "a")) == 150);
  CHECK(execution.capacity_use[0] == doctest::Approx(150.0));
  CHECK(execution.capacity_full_ns[0] == 150);
}

TEST_CASE("event engine: what depends on a slowed task follows its real end") {
  // a and b as above; c behind b on its stream with a gap of 3, while a still runs until
  // 100 + 3 + ... : from 103 on a (50 - 3 left) and c share again; c's 10 end at 123.
  const TaskGraph full = sharing(graph("s1:a(100) s2:b(50) s2:c(10,3)"), 1.0, {1.0F, 1.0F, 1.0F});
  const Timeline timeline = run(full).timeline;
  CHECK(start_of_name(full, timeline, "c") == 103);
  CHECK(timeline.end_ns(test::task(full, "c")) == 123);
  CHECK(timeline.end_ns(test::task(full, "a")) == 160);  // work of 160 in all, never idle
}

TEST_CASE("event engine: a negative lag on a task of unknown end never starts in the past") {
  // b may start 30 before a ends, but a ends only when it ends: not before 200.
  const TaskGraph base = sharing(graph("s1:a(100) s2:x(100) s3:b(10)<a-30"), 1.0, {1.0F, 1.0F});
  CHECK(start_of_name(base, run(base).timeline, "b") == 200);
}

TEST_CASE("event engine: a capacity of size 0 in demand is an error that names it") {
  const TaskGraph none_left = sharing(graph("s1:a(100)"), 0.0, {1.0F});
  const auto failed = simulate_event_driven(none_left);
  REQUIRE_FALSE(failed.ok());
  CHECK(failed.error().message.find("'sm'") != std::string::npos);
}

TEST_CASE("event engine: tasks that wait for each other are an error that names one") {
  class Tangle : public Policy {
   public:
    void on_start(TaskId task, Simulation& simulation) override {
      if (task != TaskId{0}) {
        return;
      }
      CHECK(simulation.add_dependency({end_of(TaskId{2}), TaskId{1}}).ok());
      CHECK(simulation.add_dependency({end_of(TaskId{1}), TaskId{2}}).ok());
    }
  };
  Tangle tangle;
  const auto failed = simulate_event_driven(graph("s:a(1) s:b(1) s2:c(1)<a"), {.policy = &tangle});
  REQUIRE_FALSE(failed.ok());
  CHECK(failed.error().code == ErrorCode::cyclic_graph);
  CHECK(failed.error().message.find("'b'") != std::string::npos);
}

/// A program of one or two host threads that alternate by hand-over: launches on three streams
/// (one with a short queue), synchronizations, events.
std::string random_program(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::string text = "s1[3] s1:before(200) s2:before2(90) ";
  std::string thread = "h1";
  std::string before;
  for (int i = 0; i < 120; ++i) {
    const unsigned s = 1 + static_cast<unsigned>(random() % 3);
    const auto gap = random() % 20;
    std::string call = fmt::format("{}:c{}({},{})", thread, i, random() % 5, gap);
    if (!before.empty()) {
      call += fmt::format("<{}+3", before);
      before.clear();
    }
    switch (random() % 8) {
      case 0: text += fmt::format("{}=synchronization~*+4 ", call); break;
      case 1: text += fmt::format("{}=synchronization~s{}+4 ", call, s); break;
      case 2:  // an event recorded here, waited for by the next operation of another stream
        text += fmt::format("{0}=wait {1}:w{2}(1) s3:e{2}(5)<w{2}+6~s{3}@c{2}:event_wait ", call,
                            thread, i, s);
        break;
      case 3:
        text += call;
        text += ' ';
        before = fmt::format("c{}", i);
        thread = thread == "h1" ? "h2" : "h1";
        break;
      case 4:  // an operation whose launch was not recorded, and an event right before it
        text += fmt::format("{0} s{1}:k{2}(30,1) s3:e{2}(5)~s{1}@k{2}:event_wait ", call, s, i);
        break;
      default: text += fmt::format("{0} s{1}:k{2}({3},2)<c{2}+6 ", call, s, i, random() % 60);
    }
  }
  return text;
}

TEST_CASE("call time: where launch order is fixed, calls decide what commit() had resolved") {
  for (std::uint64_t seed = 1; seed <= 25; ++seed) {
    CAPTURE(seed);
    const TaskGraph program = graph(random_program(seed));
    const Execution recorded = run(program, {.waits = WaitResolution::recorded});
    CHECK(recorded.timeline.points == simulate(program).points);
    const Execution called = run(program, {.waits = WaitResolution::call_time});
    CHECK(called.timeline.points == recorded.timeline.points);
    CHECK(called.added_dependencies.size() > 20);
  }
}

TEST_CASE("call time: two threads that feed one stream are served in the order of their calls") {
  // Recorded: h1 launched a, then h2 launched b. Now h1 calls at 50, h2 at 10: b goes first, and
  // h2's synchronization (at 12) no longer waits for a.
  const TaskGraph program =
      graph("h1:la(1,50) s:a(100)<la+6 h2:lb(1,10) s:b(30)<lb+6 h2:sync(1,1)=synchronization~s+4");
  CHECK_FALSE(program.topology().launch_order_fixed);
  const Timeline recorded = run(program, {.waits = WaitResolution::recorded}).timeline;
  CHECK(start_of_name(program, recorded, "a") == 57);
  CHECK(start_of_name(program, recorded, "b") == 157);
  CHECK(start_of_name(program, recorded, "sync") == 191);
  const Timeline called = run(program).timeline;  // automatic
  CHECK(start_of_name(program, called, "b") == 17);
  CHECK(start_of_name(program, called, "a") == 57);
  CHECK(start_of_name(program, called, "sync") == 51);
}

TEST_CASE("call time: the queue counts entries in the order of the calls") {
  // Depth 1: the third call waits until the second entry has started. Calls at 5 (h2), 10 and 20
  // (h1). Entries: x (h2), a, b; a's call waits for the start of x, b's for the start of a.
  const TaskGraph program =
      graph("s[1] h1:la(0,10) s:a(40)<la h1:lb(0,10) s:b(40)<lb h2:lx(0,5) s:x(40)<lx");
  const Timeline called = run(program, {.waits = WaitResolution::call_time}).timeline;
  CHECK(start_of_name(program, called, "x") == 5);
  CHECK(start_of_name(program, called, "la") == 10);
  CHECK(start_of_name(program, called, "a") == 45);
  CHECK(start_of_name(program, called, "lb") == 45);
  CHECK(start_of_name(program, called, "b") == 85);
}

TEST_CASE("event engine: an empty graph ends at 0") {
  CHECK(run(TaskGraph()).timeline.span_ns == 0);
  Policy policy;
  CHECK(run(TaskGraph(), {.policy = &policy}).timeline.span_ns == 0);
}

}  // namespace
}  // namespace foretrace
