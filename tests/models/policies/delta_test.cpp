#include "models/hardware/costs/rates.h"
#include "tests/models/policies/memory_chain.h"

namespace foretrace::policies {
extern const PolicyInfo& delta;
}

namespace foretrace {
namespace {

using policies::delta;
using test::chain_graph;
using test::MemoryChain;
using test::PolicyRun;
using test::run_policy;

constexpr std::int64_t mib = 1 << 20;

/// Maps of 12 MB: 1 ms each way at 12 GB/s, and some microseconds to set up.
MemoryChain swapped_chain() { return {.layers = 3, .map_bytes = 12000000}; }
std::int64_t copy_ns() {
  return static_cast<std::int64_t>(shortest_kernel_ns(KernelClass::copy)) + 1000000;
}

TEST_CASE("delta: a budget as large as the peak changes nothing") {
  const TaskGraph graph = chain_graph({});
  const PolicyRun run = run_policy(graph, delta, 4 * mib);
  REQUIRE_MESSAGE(run.ok, run.error);
  CHECK(run.execution.timeline.points == simulate(graph).points);
}

TEST_CASE("delta: a copied map leaves after its last kernel and is back before its next") {
  // f3 asks. Map 2 is what it reads, so map 1 leaves when f2 has read it, at 200 us, and the host
  // waits until it has left, at 200 us + copy. b1 then needs it: its copy starts at once, and b1
  // when it is back. f3, b3 and b2 take less.
  const PolicyRun run = run_policy(chain_graph(swapped_chain()), delta, 24000000,
                                   {{"director", "swap"}, {"bandwidth", "12 GB/s"}});
  REQUIRE_MESSAGE(run.ok, run.error);
  CHECK(run.counts.swaps == 1);
  CHECK(run.counts.out_bytes == 12000000);
  CHECK(run.counts.in_bytes == 12000000);
  CHECK(run.counts.copy_ns == 2 * copy_ns());
  CHECK(run.counts.recomputed_kernels == 0);
  CHECK(run.execution.timeline.start_ns(TaskId{4}) == 200000 + copy_ns());  // the call of f3
  CHECK(run.execution.timeline.span_ns == 200000 + 2 * copy_ns() + 100000);
  CHECK(run.execution.memory[0].peak_bytes == 24000000);
}

TEST_CASE("delta: a fast link is covered by what runs meanwhile") {
  // 12 us each way: out after 200 us; f3, b3, b2 cover the way back.
  const PolicyRun run = run_policy(chain_graph(swapped_chain()), delta, 24000000,
                                   {{"director", "swap"}, {"bandwidth", "1000 GB/s"}});
  REQUIRE_MESSAGE(run.ok, run.error);
  const std::int64_t out = copy_ns() - 1000000 + 12000;
  CHECK(run.execution.timeline.span_ns == 600000 + out);
}

TEST_CASE("delta: the director computes again what is cheaper to compute than to copy") {
  // 100 us against 1 ms.
  const PolicyRun run = run_policy(chain_graph(swapped_chain()), delta, 24000000);
  REQUIRE_MESSAGE(run.ok, run.error);
  CHECK(run.counts.swaps == 0);
  CHECK(run.counts.recomputed_kernels == 1);
  CHECK(run.execution.timeline.span_ns == 700000);
}

TEST_CASE("delta: and copies what is cheaper to copy than to compute") {
  MemoryChain chain = swapped_chain();
  chain.forward_ns = {5000000};
  const PolicyRun run = run_policy(chain_graph(chain), delta, 24000000);
  REQUIRE_MESSAGE(run.ok, run.error);
  CHECK(run.counts.swaps == 1);
  CHECK(run.counts.recomputed_kernels == 0);
}

TEST_CASE("delta: the choice per map is no worse than either alone on a mixed chain") {
  // Layer 1 is expensive to compute, the others cheap.
  MemoryChain chain = swapped_chain();
  chain.layers = 5;
  chain.forward_ns = {5000000};
  const auto span = [&](const char* director) {
    const PolicyRun run = run_policy(chain_graph(chain), delta, 36000000, {{"director", director}});
    REQUIRE_MESSAGE(run.ok, run.error);
    return run.execution.timeline.span_ns;
  };
  CHECK(span("cheaper") <= span("swap"));
  CHECK(span("cheaper") <= span("recompute"));
}

TEST_CASE("delta: what was copied once and not changed leaves at once the second time") {
  const PolicyRun run = run_policy(chain_graph({.layers = 6, .map_bytes = 12000000}), delta,
                                   24000000, {{"director", "swap"}});
  REQUIRE_MESSAGE(run.ok, run.error);
  CHECK(run.counts.out_bytes <= 6 * 12000000);
  CHECK(run.execution.memory[0].peak_bytes == 24000000);
}

TEST_CASE("delta: an operator that needs more than the budget is an error") {
  CHECK(!run_policy(chain_graph({}), delta, mib).ok);
}

}  // namespace
}  // namespace foretrace
