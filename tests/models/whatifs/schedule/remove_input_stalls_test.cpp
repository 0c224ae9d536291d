#include "tests/models/toy_run.h"

namespace foretrace::what_ifs {
extern const WhatIfInfo& remove_input_stalls;
}

using foretrace::ErrorCode;
using foretrace::TaskGraph;
using foretrace::test::after;
using foretrace::test::apply_to;
using foretrace::test::span_ns;
using foretrace::test::ToyRun;
using foretrace::what_ifs::remove_input_stalls;

namespace {

constexpr const char* region = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__";

// Two steps: 9 ms of host time of which 5 ms wait for a batch, 1 ms is Optimizer.zero_grad and 3 ms
// have no name; a kernel of 2 ms; another stream waits for it.
TaskGraph run_of(std::int64_t waiting_ns, const char* label = region) {
  ToyRun run;
  const auto side = run.add_stream(9);
  for (int step = 0; step < 2; ++step) {
    const auto first = run.mark("step begin", 4'000'000 + waiting_ns);
    run.label(first, label, waiting_ns);
    run.label(first, "Optimizer.zero_grad#SGD.zero_grad", 1'000'000);
    const auto kernel = run.kernel({.name = "conv", .duration_ns = 2'000'000});
    run.bystander(side, kernel, 500'000);
    run.synchronize();
  }
  return run.build();
}

}  // namespace

TEST_CASE("remove_input_stalls: waiting for batches and holes beside it go, named work stays") {
  const auto graph = run_of(5'000'000);
  CHECK(span_ns(graph) == 22'500'000);  // 2 x (9 + 2) ms, and the other stream's last kernel
  // Per step 0.1 ms to take the batch, 1 ms of named work, 2 ms of kernel.
  CHECK(span_ns(after(graph, remove_input_stalls, {{"ready", "0.1 ms"}})) == 6'700'000);
  // A hole of 3 ms stays below hole=3 ms.
  CHECK(span_ns(after(graph, remove_input_stalls, {{"hole", "3 ms"}, {"ready", "0 ms"}})) ==
        12'500'000);
}

TEST_CASE("remove_input_stalls: batches that were ready, and traces without a loader, decline") {
  const auto ready =
      apply_to(run_of(80'000), remove_input_stalls, {{"ready", "0.1 ms"}, {"hole", "1 s"}});
  REQUIRE_FALSE(ready.ok());
  CHECK(ready.error().code == ErrorCode::no_match);
  const auto other =
      apply_to(run_of(5'000'000, "forward"), remove_input_stalls, {{"ready", "0.1 ms"}});
  REQUIRE_FALSE(other.ok());
  CHECK(other.error().code == ErrorCode::no_match);
}
