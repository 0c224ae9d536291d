#include "tests/models/policies/memory_chain.h"

namespace foretrace::policies {
extern const PolicyInfo& dtr;
}

namespace foretrace {
namespace {

using policies::dtr;
using test::chain_graph;
using test::MemoryChain;
using test::PolicyRun;
using test::run_policy;

constexpr std::int64_t mib = 1 << 20;

TEST_CASE("dtr: a budget as large as the peak changes nothing") {
  const TaskGraph graph = chain_graph({});
  const PolicyRun run = run_policy(graph, dtr, 4 * mib);
  REQUIRE_MESSAGE(run.ok, run.error);
  CHECK(run.execution.timeline.points == simulate(graph).points);
  CHECK(run.counts.evictions == 0);
}

TEST_CASE("dtr: one map too many is made again by its kernel") {
  // f1 f2 f3 f4 b4 b3 b2 f1 b1: when f4 asks, map 3 is what it reads, and of map 1 and 2 (as cheap,
  // as large) the first goes.
  const PolicyRun run = run_policy(chain_graph({}), dtr, 3 * mib);
  REQUIRE_MESSAGE(run.ok, run.error);
  CHECK(run.counts.evictions == 1);
  CHECK(run.counts.recomputed_kernels == 1);
  CHECK(run.counts.recomputed_ns == 100000);
  CHECK(run.execution.timeline.span_ns == 900000);
  CHECK(run.execution.memory[0].peak_bytes == 3 * mib);
}

TEST_CASE("dtr: what a map is made from is made again first") {
  // f1 f2 f3 f4 b4 b3 | f1 f2 | b2 b1: map 2 needs map 1, which then serves b1 as well.
  const PolicyRun run = run_policy(chain_graph({}), dtr, 2 * mib);
  REQUIRE_MESSAGE(run.ok, run.error);
  CHECK(run.counts.recomputed_kernels == 2);
  CHECK(run.execution.timeline.span_ns == 1000000);
}

TEST_CASE("dtr: the cheap map goes, not the expensive one") {
  MemoryChain chain;
  chain.forward_ns = {700000, 50000};
  // 700 + 50 + 2 x 100 + 4 x 100, and f2 again.
  const PolicyRun run = run_policy(chain_graph(chain), dtr, 3 * mib);
  REQUIRE_MESSAGE(run.ok, run.error);
  CHECK(run.counts.recomputed_ns == 50000);
  CHECK(run.execution.timeline.span_ns == 1350000 + 50000);
}

TEST_CASE("dtr: an operator that needs more than the budget is an error that names the bytes") {
  const PolicyRun run = run_policy(chain_graph({}), dtr, mib);
  CHECK(!run.ok);
  CHECK(run.error.find("needs 1048576 bytes more than are free") != std::string::npos);
}

TEST_CASE("dtr: in two square roots of n maps, every layer of a chain is repeated at most once") {
  // Theorem 4.1 of the paper says O(n) operations for a chain of n layers in Omega(sqrt n) memory.
  // Here it is the least there can be: of n maps, as many as fit never leave.
  for (const std::size_t root : {6U, 8U, 12U, 16U}) {
    const std::size_t layers = root * root;
    CAPTURE(layers);
    const std::size_t maps = 2 * root + 1;
    const TaskGraph graph = chain_graph({.layers = layers, .segment_ns = 1000});
    const PolicyRun full = run_policy(graph, dtr, static_cast<std::int64_t>(maps) * mib);
    REQUIRE_MESSAGE(full.ok, full.error);
    CHECK(full.counts.recomputed_kernels == layers - maps);
    // Without the neighbourhood the chains between what stays get long.
    const PolicyRun local =
        run_policy(graph, dtr, static_cast<std::int64_t>(maps) * mib, {{"heuristic", "local"}});
    REQUIRE_MESSAGE(local.ok, local.error);
    CHECK(local.counts.recomputed_kernels > full.counts.recomputed_kernels);
  }
}

TEST_CASE("dtr: every heuristic gets through, at its own price") {
  for (const char* const heuristic : {"full", "local", "msps", "lru", "largest"}) {
    CAPTURE(heuristic);
    const PolicyRun run = run_policy(chain_graph({.layers = 12, .segment_ns = 1000}), dtr, 5 * mib,
                                     {{"heuristic", heuristic}});
    REQUIRE_MESSAGE(run.ok, run.error);
    CHECK(run.execution.memory[0].peak_bytes <= 5 * mib);
    // 12 maps, 5 of which can stay.
    CHECK(run.counts.recomputed_kernels >= 7);
  }
}

TEST_CASE("dtr: small tensors stay if it is told so") {
  const PolicyRun run = run_policy(chain_graph({}), dtr, 3 * mib, {{"least", "2 MiB"}});
  CHECK(!run.ok);
}

/// What making the policy says; empty if it takes the graph.
std::string refusal(const TaskGraph& bare, const test::Given& given) {
  const std::vector<MemoryBudget> budgets = {{.rank = 0, .device = 0, .bytes = mib}};
  const TaskGraph graph = with_copy_lanes(bare, budgets);
  const auto values = ParamValues::parse(dtr.name, dtr.params, given);
  REQUIRE(values.ok());
  const auto policy = dtr.make(graph, *values);
  return policy.ok() ? std::string() : policy.error().message;
}

TEST_CASE("dtr: without recorded inputs the backward pass is not repeated") {
  const TaskGraph graph = chain_graph({});
  CHECK(refusal(graph, {}).empty());
  CHECK(refusal(graph, {{"backward", "true"}}) ==
        "dtr: backward=true: most operators of the backward pass have no recorded inputs, expected "
        "a trace that records what operators read (torch.profiler with record_shapes=True)");
}

TEST_CASE("dtr: a run whose maps nobody is known to read is refused") {
  // 20 maps that go together when the backward pass is over.
  test::ToyRun run;
  std::vector<TaskId> calls;
  for (int i = 0; i < 22; ++i) {
    const TaskId kernel = run.kernel({.name = i % 2 == 0 ? "a" : "b",
                                      .duration_ns = 10,
                                      .operator_name = i % 2 == 0 ? "a" : "b",
                                      .phase = i < 20 ? Phase::forward : Phase::backward});
    calls.push_back(make_id<TaskId>(index(kernel) - 1));
  }
  const TaskId end = run.mark("end");
  for (std::size_t i = 0; i < 20; ++i) {
    run.builder().add_tensor({.bytes = mib,
                              .category = TensorCategory::activation,
                              .allocated_in = calls[i],
                              .freed_in = end});
  }
  // The last one is read by the first backward operator, which comes right after it.
  CHECK(refusal(run.build(), {}) ==
        "dtr: no use in the backward pass is known of 95 % of the bytes that the forward pass "
        "leaves to it, expected a trace that records what operators read (torch.profiler with "
        "record_shapes=True)");
}

}  // namespace
}  // namespace foretrace
