#include <doctest/doctest.h>

#include "sim/engine/pull/pull.h"
#include "sim/engine/reactions.h"
#include "tests/trace/rules/table_builder.h"
#include "trace/rules/build_graph.h"

namespace foretrace::trace {

TEST_CASE("reference times: where nearly all blocking copies waited, none of it is host work") {
  // Twenty times a kernel of 500 us and a copy to the host right behind it: every copy waits for
  // its kernel. Of the call's 530 us, the copy can begin when the kernel has ended (+ 2 us), lasts
  // 10 us and returns 8 us later: 10 us of its own. 15 us of host work come between.
  TableBuilder t;
  double host = 0;
  for (int i = 0; i < 20; ++i) {
    const EventId launch = t.call(t.thread(1), "cudaLaunchKernel", host, 5);
    t.work(launch, t.stream(7), host + 7, 500);
    const EventId call = t.call(t.thread(1), "cudaMemcpyAsync", host + 10, 517);
    const EventId copy = t.work(call, t.stream(7), host + 509, 10,
                                "Memcpy DtoH (Device -> Pageable)", EventKind::copy);
    t.bytes(copy, 4096);
    t.op(t.thread(1), "aten::item", host + 527, 10);
    host += 537;
  }
  const Result<BuiltGraph> built = build_graph(t.table());
  REQUIRE(built.ok());
  // Per round: launch 5, gap 5, copy 2 + 8 of its own, operator 10.
  CHECK(built->honesty.host_only_ns == 20 * 30'000);
  Timeline timeline;
  simulate(built->graph.topology(), scale_device(built->graph, 0.0), timeline);
  CHECK(static_cast<double>(timeline.span_ns) ==
        doctest::Approx(static_cast<double>(built->honesty.host_only_ns)).epsilon(0.1));
}

}  // namespace foretrace::trace
