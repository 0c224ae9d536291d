// How long a what-if on a loaded graph takes: commit the change, simulate the result.
#include <cstdio>

#include <fmt/format.h>

#include "sim/edit/editor.h"
#include "sim/engine/pull/pull.h"
#include "tests/bench/bench_graphs.h"
#include "tests/bench/engine_ratios.h"

namespace foretrace::bench {
namespace {

/// Half the time for every second kernel.
[[nodiscard]] Change faster_kernels(const TaskGraph& graph) {
  Change change;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const auto task = make_id<TaskId>(i);
    if (graph.kind(task) != TaskKind::kernel || i % 4 > 1) {
      continue;
    }
    change.durations.push_back({task, graph.duration_ns(task) / 2, Provenance::scaled});
  }
  return change;
}

/// Every tenth launch goes, and its kernel with it: fusion.
[[nodiscard]] Change fewer_launches(const TaskGraph& graph) {
  std::vector<TaskId> tasks;
  std::size_t seen = 0;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const auto task = make_id<TaskId>(i);
    if (graph.kind(task) == TaskKind::kernel && seen++ % 10 == 0) {
      tasks.push_back(task);
    }
  }
  Editor editor(graph);
  editor.remove(tasks);
  return editor.finish();
}

void row(const std::string& name, const TaskGraph& graph, const Change& change, Ratios& out) {
  constexpr int rounds = 11;
  Timeline timeline = simulate(graph);
  const std::int64_t before = timeline.span_ns;
  std::string error;
  const double seconds =
      median_seconds({[&] {
                       auto committed = commit(graph, change);
                       if (!committed) {
                         error = committed.error().message;
                         return;
                       }
                       simulate(committed->graph.topology(), committed->graph.weights(), timeline);
                     }},
                     rounds)[0];
  if (!error.empty()) {
    fmt::print(stderr, "{}: {}\n", name, error);
    return;
  }
  fmt::print(stderr, "{}: {} tasks, {} changed, {:.3f} -> {:.3f} ms simulated\n", name,
             graph.size(), change.tasks_changed(graph), static_cast<double>(before) / 1e6,
             static_cast<double>(timeline.span_ns) / 1e6);
  out.emplace_back(name, seconds * 1e3);
}

}  // namespace

void what_if_ratios(Ratios& out) {
  const TaskGraph graph = program_graph(180'000);
  row("whatif_rerun_180k_ms", graph, faster_kernels(graph), out);
  row("whatif_structural_180k_ms", graph, fewer_launches(graph), out);
  if (!real_graph()) {
    return;
  }
  row("whatif_rerun_real_ms", *real_graph(), faster_kernels(*real_graph()), out);
  row("whatif_structural_real_ms", *real_graph(), fewer_launches(*real_graph()), out);
}

}  // namespace foretrace::bench
