#include "sim/graph/graph_builder.h"

#include <doctest/doctest.h>

#include "sim/engine/pull/pull.h"
#include "sim/graph/links.h"
#include "tests/sim/graph/text_graph.h"

using namespace foretrace;
using test::graph;
using test::task;
using test::to_text;
using test::try_graph;

TEST_CASE("graph builder: a kernel waits for its launch and for its stream") {
  const TaskGraph g = graph("h:l1(5) s:k1(20)<l1+3 h:l2(5,1) s:k2(10,2)<l2+3");
  const Timeline timeline = simulate(g);
  CHECK(timeline.start_ns(task(g, "k1")) == 8);   // 5 + latency 3
  CHECK(timeline.end_ns(task(g, "l2")) == 11);    // 5 + segment 1 + 5
  CHECK(timeline.start_ns(task(g, "k2")) == 30);  // 8 + 20 + gap 2
  CHECK(timeline.span_ns == 40);
  CHECK(g.kind(task(g, "l1")) == TaskKind::launch);
  CHECK(g.kind(task(g, "k1")) == TaskKind::kernel);
}

TEST_CASE("graph builder: the launch is the cause whatever the order of dependencies") {
  const TaskGraph g = graph("h:l(5) s2:x(7)<l s:k(20)<x+1<l+3");
  const std::size_t k = index(task(g, "k"));
  CHECK(g.topology().sources[k][cause_slot] == end_of(task(g, "l")));
  CHECK(g.topology().sources[k][extra_slot] == end_of(task(g, "x")));
  CHECK((*g.weights().lag_ns)[k][0] == 3);
  CHECK((*g.weights().lag_ns)[k][1] == 1);
  CHECK(g.topology().overflow.empty());
}

TEST_CASE(
    "graph builder: what three slots cannot hold goes to the overflow list, by task and source") {
  const TaskGraph g = graph(
      "h:a(1) h:b(1) h:c(1) s:k(9)<a s2:m(9)<b<^k*0.5<a+5?c h2:x(1)<a<b<c h2:y(1)<a+3000000000");
  CHECK(to_text(g) ==
        "h:a(1) h:b(1) h:c(1) s:k(9)<a s2:m(9)<b<a+5?c<^k*0.50 h2:x(1)<a<b<c h2:y(1)<a+3000000000");
  const auto& overflow = g.topology().overflow;
  REQUIRE(overflow.size() == 4);
  CHECK(overflow[0].task == task(g, "m"));
  CHECK(overflow[0].late_after == end_of(task(g, "c")));
  CHECK(overflow[1].source == start_of(task(g, "k")));
  CHECK(overflow[2].task == task(g, "x"));
  CHECK((*g.weights().overflow_lag_ns)[3] == 3'000'000'000);
}

TEST_CASE("graph builder: a launch displaces two earlier dependencies into overflow and cause") {
  const TaskGraph g = graph("h:l(1) s2:a(1) s3:b(1) s:k(1)<a<b+4<l");
  const std::size_t k = index(task(g, "k"));
  CHECK(g.topology().sources[k][cause_slot] == end_of(task(g, "l")));
  CHECK(g.topology().sources[k][extra_slot] == end_of(task(g, "b")));
  REQUIRE(g.topology().overflow.size() == 1);
  CHECK(g.topology().overflow[0].source == end_of(task(g, "a")));
}

TEST_CASE("graph builder: the forward list names every dependency once, at its source") {
  const TaskGraph g = graph("h:a(1) h:b(1)<a s:k(9)<a<b s2:m(9)<b<^k*0.5");
  const Topology& t = g.topology();
  std::vector<std::vector<std::uint32_t>> expected(g.size());
  for (std::size_t task_index = 0; task_index < g.size(); ++task_index) {
    for (const Link& d : sources(g, make_id<TaskId>(task_index))) {
      expected[index(task_of(d.source))].push_back(static_cast<std::uint32_t>(task_index));
    }
  }
  std::size_t total = 0;
  for (std::size_t source = 0; source < g.size(); ++source) {
    std::vector<std::uint32_t> found;
    for (std::uint32_t i = t.forward_offsets[source]; i < t.forward_offsets[source + 1]; ++i) {
      found.push_back(t.forward[i] >> 2U);
    }
    CHECK(found == expected[source]);
    total += found.size();
  }
  CHECK(total == t.dependency_count());
  CHECK(total == 6);  // b: lane, a; k: a, b; m: b, k
}

TEST_CASE("graph builder: a wait is the last task of its stream before a position") {
  const TaskGraph g = graph("h:l1(1) s:k1(9)<l1 h:l2(1) s:k2(9)<l2 h:x(0)~s@l2 h:y(0)~s+4 s:k3(9)");
  CHECK(to_text(g) == "h:l1(1) s:k1(9)<l1 h:l2(1) s:k2(9)<l2 h:x(0)~k1 h:y(0)~k2+4 s:k3(9)");
  const std::size_t y = index(task(g, "y"));
  CHECK(is_symbolic(g.topology().kinds[y][cause_slot]));
  CHECK(kind_of(g.topology().kinds[y][cause_slot]) == DependencyKind::synchronization);
}

TEST_CASE("graph builder: a device wait covers every stream of its rank, and no other rank") {
  const TaskGraph g = graph("s:a(1) s2:b(1) c:d(1) r1/s:e(1) s3[0] h:x(0)~*");
  CHECK(to_text(g) == "s:a(1) s2:b(1) c:d(1) r1/s:e(1) h:x(0)~a~b~d");
}

TEST_CASE("graph builder: a wait on one's own stream or beyond oneself is nothing") {
  const TaskGraph g = graph("s:a(1) s:b(1)~s s2:c(1)~s@e s:d(1) h:e(1)");
  // c stands before d, so "as of e" is still b.
  CHECK(to_text(g) == "s:a(1) s:b(1) s2:c(1)~b s:d(1) h:e(1)");
}

TEST_CASE("graph builder: launch k of a queue of depth d waits for the start of entry k - d") {
  const TaskGraph g =
      graph("s[2] h:l0(1) s:k0(9)<l0 h:l1(1) s:k1(9)<l1 h:l2(1) s:k2(9)<l2 h:l3(1) s:k3(9)<l3");
  CHECK(to_text(g) ==
        "h:l0(1) s:k0(9)<l0 h:l1(1) s:k1(9)<l1 h:l2(1)~^k0 s:k2(9)<l2 h:l3(1)~^k1 s:k3(9)<l3");
  const Timeline timeline = simulate(g);
  CHECK(timeline.start_ns(task(g, "l3")) == 10);  // k0 runs 1..10, k1 starts at 10
}

TEST_CASE("graph builder: a graph launch is one queue entry, pre-window work one entry each") {
  const TaskGraph g = graph("s[1] s:p(5) h:l0(1) s:k0(9)<l0 s:k1(9)<l0 h:l1(1) s:k2(9)<l1");
  // Entries: p; k0 and k1 (one launch); k2.
  CHECK(to_text(g) == "s:p(5) h:l0(1)~^p s:k0(9)<l0 s:k1(9)<l0 h:l1(1)~^k0 s:k2(9)<l1");
}

TEST_CASE("graph builder: an operation in two parts is one queue entry") {
  GraphBuilder builder;
  const LaneId h = builder.add_lane({LaneKind::host_thread, 0, no_device, 1, 0, "h"});
  const LaneId s = builder.add_lane({LaneKind::stream, 0, 0, 7, 1, "s"});
  Work work;
  work.kind = TaskKind::launch;
  const WorkId launch = builder.add_work(work);
  work.kind = TaskKind::collective;
  work.part = TaskPart::begin;
  const WorkId begin = builder.add_work(work);
  work.part = TaskPart::finish;
  const WorkId finish = builder.add_work(work);
  std::vector<TaskId> arrivals;
  for (int i = 0; i < 2; ++i) {
    const TaskId call = builder.add_task({.lane = h, .work = launch, .kind = TaskKind::launch});
    arrivals.push_back(builder.add_task({.lane = s, .work = begin, .kind = TaskKind::collective}));
    builder.add_dependency({end_of(call), arrivals.back(), DependencyKind::launch});
    builder.add_task({.lane = s, .work = finish, .kind = TaskKind::collective, .duration_ns = 9});
  }
  auto graph = std::move(builder).build();
  REQUIRE(graph.ok());
  // Depth 1: the second call (task 3) waits for the start of the first arrival, not of the finish.
  const Sources of_call = sources(*graph, TaskId{3});
  const std::vector<Link> in(of_call.begin(), of_call.end());
  REQUIRE(in.size() == 2);
  CHECK(in[1].kind == DependencyKind::queue);
  CHECK(in[1].source == start_of(arrivals[0]));
}

TEST_CASE("graph builder: two host lanes on one stream are fixed only by a hand-over") {
  const char* loose = "h:a(1) s:k(9)<a h2:b(1) s:m(9)<b";
  CHECK_FALSE(graph(loose).topology().launch_order_fixed);
  CHECK(graph("h:a(1) s:k(9)<a h2:b(1)<a s:m(9)<b").topology().launch_order_fixed);
  // The hand-over comes through a third thread.
  CHECK(
      graph("h:a(1) s:k(9)<a h3:x(1)<a h3:y(1) h2:b(1)<y s:m(9)<b").topology().launch_order_fixed);
  // A hand-over out of a task before the launch does not order the launch.
  CHECK_FALSE(graph("h:z(1) h:a(1) s:k(9)<a h2:b(1)<z s:m(9)<b").topology().launch_order_fixed);
  // Two streams, one thread each.
  CHECK(graph("h:a(1) s:k(9)<a h2:b(1) s2:m(9)<b").topology().launch_order_fixed);
}

TEST_CASE("graph builder: a dependency that points forward re-sorts and reports where tasks went") {
  GraphBuilder builder;
  const LaneId h = builder.add_lane({LaneKind::host_thread, 0, no_device, 1, 0, "h"});
  const LaneId h2 = builder.add_lane({LaneKind::host_thread, 0, no_device, 2, 0, "h2"});
  Work work;
  const WorkId id = builder.add_work(work);
  const TaskId a = builder.add_task({h, id, TaskKind::host, 1});
  const TaskId b = builder.add_task({h, id, TaskKind::host, 2});
  const TaskId c = builder.add_task({h2, id, TaskKind::host, 4});
  const TaskId d = builder.add_task({h2, id, TaskKind::host, 8});
  builder.add_dependency({end_of(d), b, DependencyKind::hand_over});
  builder.add_step({0, 7, b, d});
  builder.add_segment_part({b, NameId{}, LayerId{}, 3});
  builder.add_tensor({.bytes = 64, .category = TensorCategory::weight, .allocated_in = b});
  std::vector<TaskId> new_id;
  auto built = std::move(builder).build(new_id);
  REQUIRE(built.ok());
  // b comes after what it waits for, everything else stays.
  CHECK(new_id == std::vector<TaskId>{TaskId{0}, TaskId{3}, TaskId{1}, TaskId{2}});
  CHECK(built->duration_ns(new_id[index(a)]) == 1);
  CHECK(built->duration_ns(new_id[index(b)]) == 2);
  CHECK(built->duration_ns(new_id[index(c)]) == 4);
  const GraphContext& context = built->context();
  CHECK(context.steps[0].begin == TaskId{3});
  CHECK(context.steps[0].end == TaskId{2});
  CHECK(context.segment_parts[0].task == TaskId{3});
  CHECK(context.tensors[0].allocated_in == TaskId{3});
  CHECK(context.tensors[0].freed_in == none<TaskId>);
  CHECK(simulate(*built).span_ns == 14);  // c 4, d 8, b 2
}

TEST_CASE("graph builder: a cycle is named by its tasks") {
  const auto built = try_graph("h:a(1)<k h:b(1) s:k(5)<b");
  REQUIRE_FALSE(built.ok());
  CHECK(built.error().code == ErrorCode::cyclic_graph);
  CHECK(built.error().message ==
        "dependency cycle: launch 'b' (task 1) -> kernel 'k' (task 2) -> host 'a' (task 0) -> "
        "launch 'b' (task 1)");
  CHECK_FALSE(try_graph("h:a(1)<a").ok());
}

TEST_CASE("graph builder: negative durations and ids out of range are errors that name the task") {
  CHECK(try_graph("h:a(-3)").error().message ==
        "host 'a' (task 0): duration is negative, got -3 ns");
  CHECK(try_graph("h:a(3,-1)").error().message ==
        "host 'a' (task 0): host segment is negative, got -1 ns");
  CHECK(try_graph("s:a(3) s:b(3,-1)").ok());  // a kernel may begin before its predecessor drains
  CHECK_FALSE(try_graph("h:a(4000000000000000000) h:b(4000000000000000000)").ok());
  GraphBuilder builder;
  builder.add_task({LaneId{3}, WorkId{0}, TaskKind::host, 1});
  const auto built = std::move(builder).build();
  REQUIRE_FALSE(built.ok());
  CHECK(built.error().message == "task 0: lane 3 does not exist, got 0 of them");
}

TEST_CASE("graph builder: a full queue is counted, nobody states one") {
  for (const bool as_wait : {false, true}) {
    CAPTURE(as_wait);
    GraphBuilder builder;
    const LaneId host = builder.add_lane({LaneKind::host_thread, 0, no_device, 1, 0, "h"});
    Work work;
    work.name = builder.add_name("a");
    const WorkId called = builder.add_work(work);
    const TaskId first = builder.add_task({host, called, TaskKind::host, 1});
    const TaskId second = builder.add_task({host, called, TaskKind::host, 1});
    if (as_wait) {
      builder.add_wait({.task = second, .at = second, .kind = DependencyKind::queue});
    } else {
      builder.add_dependency({end_of(first), second, DependencyKind::queue});
    }
    const auto built = std::move(builder).build();
    REQUIRE_FALSE(built.ok());
    CHECK(built.error().message ==
          "host 'a' (task 1) waits for a full queue by itself: set the queue depth of the lane");
  }
}

TEST_CASE("graph builder: equal works share an id") {
  GraphBuilder builder;
  Work work;
  work.name = builder.add_name("gemm");
  work.flops = 10;
  const WorkId first = builder.add_work(work);
  work.flops = 11;
  CHECK(builder.add_work(work) != first);
  work.flops = 10;
  CHECK(builder.add_work(work) == first);
}

TEST_CASE("graph builder: ranks without a class become classes of one") {
  const TaskGraph g = graph("h:a(1) r3/h:b(1)");
  REQUIRE(g.context().rank_classes.size() == 2);
  CHECK(g.context().rank_classes[1].first_rank == 3);
  CHECK(g.context().rank_classes[1].multiplicity == 1);
}
