#include "trace/annotate/nesting.h"

#include <doctest/doctest.h>

#include "tests/trace/annotate/trace_sketch.h"

using foretrace::EventId;
using foretrace::none;
using foretrace::TrackId;
using foretrace::trace::EventKind;
using foretrace::trace::nest;
using foretrace::trace::Nesting;
using foretrace::trace::TraceSketch;

TEST_CASE("nesting: the parent is the innermost event around, whatever the order in the file") {
  TraceSketch sketch;
  const TrackId main = sketch.thread(1);
  const EventId inner = sketch.op(main, "inner", {4, 6});
  const EventId call = sketch.launch(main, 5, 1);
  const EventId outer = sketch.annotation(main, "outer", {0, 20});
  const EventId middle = sketch.op(main, "middle", {2, 8});
  const EventId next = sketch.op(main, "next", {8, 9});
  const Nesting nesting = nest(sketch.table());
  CHECK(nesting.parent_of(outer) == none<EventId>);
  CHECK(nesting.parent_of(middle) == outer);
  CHECK(nesting.parent_of(inner) == middle);
  CHECK(nesting.parent_of(call) == inner);
  CHECK(nesting.parent_of(next) == outer);
  REQUIRE(nesting.of(main).size() == 5);
  CHECK(nesting.of(main).front() == outer);
}

TEST_CASE("nesting: of equal times an annotation encloses an operator, an operator its call") {
  TraceSketch sketch;
  const TrackId main = sketch.thread(1);
  const EventId call = sketch.add(EventKind::runtime, main, "cudaMalloc", {5, 5});
  const EventId op = sketch.op(main, "aten::empty", {5, 5});
  const EventId range = sketch.annotation(main, "range", {5, 5});
  const EventId other = sketch.op(main, "aten::view", {5, 5});
  const Nesting nesting = nest(sketch.table());
  CHECK(nesting.parent_of(op) == range);
  CHECK(nesting.parent_of(other) == range);  // two operators of zero length follow each other
  CHECK(nesting.parent_of(call) != none<EventId>);
}

TEST_CASE("nesting: operators that rounding lets overlap by a microsecond follow each other") {
  TraceSketch sketch;
  sketch.table().info.resolution_ns = 1000;
  const TrackId main = sketch.thread(1);
  sketch.op(main, "first", {0, 3000});
  const EventId second = sketch.op(main, "second", {2000, 9000});
  const EventId third = sketch.op(main, "third", {5000, 12000});  // overlaps by 4 us
  const Nesting nesting = nest(sketch.table());
  CHECK(nesting.parent_of(second) == none<EventId>);
  CHECK(nesting.parent_of(third) == second);
}

TEST_CASE("nesting: device work takes no part") {
  TraceSketch sketch;
  const TrackId stream = sketch.stream(7);
  const EventId kernel = sketch.kernel(stream, "gemm", {0, 9}, 1);
  const EventId inside = sketch.kernel(stream, "copy", {2, 4}, 2);
  const Nesting nesting = nest(sketch.table());
  CHECK(nesting.order.empty());
  CHECK(nesting.parent_of(inside) == none<EventId>);
  CHECK(nesting.parent_of(kernel) == none<EventId>);
}
