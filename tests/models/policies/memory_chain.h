// A chain of layers whose maps live from forward to backward, run under a policy and a budget.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "models/policies/eviction/policy.h"
#include "sim/engine/event/event_driven.h"
#include "tests/models/toy_run.h"

namespace foretrace::test {

struct MemoryChain {
  std::size_t layers = 4;
  std::int64_t map_bytes = 1 << 20;
  std::vector<std::int64_t> forward_ns{};  ///< per layer; 100 us where it says nothing
  std::int64_t segment_ns = 0;             ///< host time before every call
};

/// f1 f2 ... fn bn ... b1: forward kernel i makes map i from map i - 1, and backward kernel i is
/// the last that reads it. Backward kernels take 100 us.
inline TaskGraph chain_graph(const MemoryChain& chain) {
  ToyRun run;
  std::vector<TaskId> makes;
  std::vector<TaskId> last;
  const auto add = [&](const std::string& name, Phase phase, std::int64_t ns) {
    // Ids follow the order of calls: the call stands directly before its kernel.
    const TaskId kernel = run.kernel({.name = name,
                                      .duration_ns = ns,
                                      .operator_name = name,
                                      .phase = phase,
                                      .segment_ns = chain.segment_ns});
    return make_id<TaskId>(index(kernel) - 1);
  };
  for (std::size_t i = 0; i < chain.layers; ++i) {
    const std::int64_t ns = i < chain.forward_ns.size() ? chain.forward_ns[i] : 100000;
    makes.push_back(add("f" + std::to_string(i + 1), Phase::forward, ns));
  }
  for (std::size_t i = chain.layers; i-- > 0;) {
    last.push_back(add("b" + std::to_string(i + 1), Phase::backward, 100000));
  }
  const TaskId end = run.mark("end");
  for (std::size_t i = 0; i < chain.layers; ++i) {
    // Freed in the host time after its backward, so before the next call.
    const std::size_t after = chain.layers - i;
    Tensor map;
    map.bytes = chain.map_bytes;
    map.category = TensorCategory::activation;
    map.phase = Phase::forward;
    map.allocated_in = makes[i];
    map.freed_in = after < last.size() ? last[after] : end;
    run.builder().add_tensor(map);
  }
  return run.build();
}

struct PolicyRun {
  bool ok = false;
  std::string error{};
  Execution execution{};
  PolicyCounts counts{};
  TaskGraph graph{};
};

inline PolicyRun run_policy(const TaskGraph& bare, const PolicyInfo& info, std::int64_t budget,
                            const Given& given = {}) {
  const std::vector<MemoryBudget> budgets = {
      {.rank = 0, .device = 0, .bytes = budget, .when_full = WhenFull::block}};
  PolicyRun run{.graph = with_copy_lanes(bare, budgets)};
  auto values = ParamValues::parse(info.name, info.params, given);
  REQUIRE_MESSAGE(values.ok(), values.error().message);
  auto policy = info.make(run.graph, *values);
  REQUIRE_MESSAGE(policy.ok(), policy.error().message);
  auto execution = simulate_event_driven(
      run.graph, {.policy = policy->get(), .waits = WaitResolution::recorded, .budgets = budgets});
  run.counts = (*policy)->counts();
  run.ok = execution.ok();
  if (run.ok) {
    run.execution = *std::move(execution);
  } else {
    run.error = execution.error().message;
  }
  return run;
}

}  // namespace foretrace::test
