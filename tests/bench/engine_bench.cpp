// google/benchmark: the engines and what stands around them, by size and number of lanes.
#include <benchmark/benchmark.h>

#include "sim/engine/event/event_driven.h"
#include "sim/engine/path/critical_path.h"
#include "sim/engine/pull/pull.h"
#include "sim/graph/change.h"
#include "sim/result/summary.h"
#include "tests/bench/bench_graphs.h"

namespace foretrace::bench {
namespace {

[[nodiscard]] TaskGraph graph_of(const benchmark::State& state) {
  return synthetic_graph({.tasks = static_cast<std::size_t>(state.range(0)),
                          .lanes = static_cast<std::size_t>(state.range(1)),
                          .conditions = 0.3});
}

void count_tasks(benchmark::State& state, std::size_t variants = 1) {
  state.SetItemsProcessed(state.iterations() * state.range(0) *
                          static_cast<std::int64_t>(variants));
}

void sizes(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgNames({"tasks", "lanes"});
  for (const std::int64_t lanes : {2, 8, 64, 1024}) {
    benchmark->Args({100'000, lanes});
  }
  benchmark->Args({1'000'000, 8});
}

void bench_pull(benchmark::State& state) {
  const TaskGraph graph = graph_of(state);
  Timeline timeline;
  for (auto _ : state) {
    simulate(graph.topology(), graph.weights(), timeline);
    benchmark::DoNotOptimize(timeline.span_ns);
  }
  count_tasks(state);
}
BENCHMARK(bench_pull)->Apply(sizes);

void bench_batch_spans(benchmark::State& state) {
  const TaskGraph graph = graph_of(state);
  const std::vector<Weights> variants = duration_variants(graph, 16);
  for (auto _ : state) {
    benchmark::DoNotOptimize(simulate_batch_spans(graph.topology(), variants));
  }
  count_tasks(state, variants.size());
}
BENCHMARK(bench_batch_spans)->Apply(sizes);

void bench_batch_timelines(benchmark::State& state) {
  const TaskGraph graph = graph_of(state);
  const std::vector<Weights> variants = duration_variants(graph, 16);
  for (auto _ : state) {
    benchmark::DoNotOptimize(simulate_batch(graph.topology(), variants));
  }
  count_tasks(state, variants.size());
}
BENCHMARK(bench_batch_timelines)->Apply(sizes);

void bench_event_driven(benchmark::State& state, EventQueueKind queue) {
  const TaskGraph graph = graph_of(state);
  Timeline timeline;
  for (auto _ : state) {
    simulate_event_driven(graph.topology(), graph.weights(), timeline, queue);
    benchmark::DoNotOptimize(timeline.span_ns);
  }
  count_tasks(state);
}
BENCHMARK_CAPTURE(bench_event_driven, heap, EventQueueKind::heap)->Apply(sizes);
BENCHMARK_CAPTURE(bench_event_driven, calendar, EventQueueKind::calendar)->Apply(sizes);

void bench_event_driven_with_policy(benchmark::State& state) {
  const TaskGraph graph = graph_of(state);
  Policy policy;
  for (auto _ : state) {
    benchmark::DoNotOptimize(simulate_event_driven(graph, {.policy = &policy}).ok());
  }
  count_tasks(state);
}
BENCHMARK(bench_event_driven_with_policy)->Apply(sizes);

void bench_critical_path(benchmark::State& state) {
  const TaskGraph graph = graph_of(state);
  const Timeline timeline = simulate(graph);
  for (auto _ : state) {
    benchmark::DoNotOptimize(critical_path(graph, timeline));
  }
  count_tasks(state);
}
BENCHMARK(bench_critical_path)->Apply(sizes);

void bench_summary(benchmark::State& state) {
  const TaskGraph graph = graph_of(state);
  const Timeline timeline = simulate(graph);
  for (auto _ : state) {
    benchmark::DoNotOptimize(summarize(graph, timeline, {.end_ns = timeline.span_ns}));
  }
  count_tasks(state);
}
BENCHMARK(bench_summary)->Apply(sizes);

}  // namespace
}  // namespace foretrace::bench
