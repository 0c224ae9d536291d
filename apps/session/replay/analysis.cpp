// What a simulated run spends its time on.
#include "apps/session/replay/analysis.h"

#include <algorithm>
#include <map>
#include <memory>

#include "apps/session/replay/host_regions.h"
#include "sim/core/parallel.h"
#include "sim/edit/editor.h"
#include "sim/graph/change.h"
#include "sim/result/steps/step_breakdown.h"

namespace foretrace {
namespace {

CriticalPath path_of(const TaskGraph& graph, const Run& run, const StepScope& scope) {
  return critical_path(graph, run.timeline, {scope.last, scope.begin_ns});
}

std::array<double, provenance_count> provenance_of(const CriticalPath& path) {
  std::array<double, provenance_count> shares{};
  for (std::size_t i = 0; i < shares.size(); ++i) {
    shares[i] = static_cast<double>(path.shares.provenance_ns[i]) /
                static_cast<double>(std::max<std::int64_t>(1, path.total_ns));
  }
  return shares;
}

/// The graph with collectives of length zero; nothing if there are none.
std::optional<TaskGraph> without_collectives(const TaskGraph& graph) {
  const std::vector<TaskKind>& kinds = graph.columns().kind;
  if (std::find(kinds.begin(), kinds.end(), TaskKind::collective) == kinds.end()) {
    return std::nullopt;
  }
  Weights weights = graph.weights();
  auto durations = std::make_shared<std::vector<std::int64_t>>(*weights.duration_ns);
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    (*durations)[i] = kinds[i] == TaskKind::collective ? 0 : (*durations)[i];
  }
  weights.duration_ns = std::move(durations);
  return graph.with_weights(std::move(weights));
}

/// The graph in which nobody waits for the last to arrive; nothing if no collective meets others.
std::optional<TaskGraph> without_rendezvous(const TaskGraph& graph) {
  Editor editor(graph);
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const auto task = make_id<TaskId>(i);
    if (graph.kind(task) == TaskKind::collective && graph.work(task).part == TaskPart::finish) {
      editor.remove_dependencies(task, DependencyKind::rendezvous);
    }
  }
  if (editor.change().empty()) return std::nullopt;
  Result<Committed> committed = commit(graph, editor.change());
  return committed.ok() ? std::optional(std::move(committed->graph)) : std::nullopt;
}

std::int32_t rank_with_most(const TaskGraph& graph, const CriticalPath& path) {
  std::map<std::int32_t, std::int64_t> by_rank;
  for (std::size_t i = 0; i < path.shares.lane_ns.size(); ++i) {
    by_rank[graph.context().lanes[i].rank] += path.shares.lane_ns[i];
  }
  const auto most =
      std::max_element(by_rank.begin(), by_rank.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == by_rank.end() ? -1 : most->first;
}

/// The answers of variants of the graph; one that an engine refuses gives what it gave.
std::vector<std::int64_t> answers_of(const TaskGraph& graph, std::span<const Weights> variants,
                                     const Run& run, const RunOptions& options) {
  std::vector<std::int64_t> answers(variants.size(), run.answer.step_ns);
  for_each_index(variants.size(), [&](std::size_t i) {
    const Result<Run> other = simulate_run(graph.with_weights(variants[i]), options);
    if (other.ok()) {
      answers[i] = other->answer.step_ns;
    }
  });
  return answers;
}

}  // namespace

Analysis analyse(const TaskGraph& graph, const Run& run, const RunOptions& options) {
  Analysis analysis;
  analysis.breakdown = step_breakdown(graph, run.timeline, run.steps, run.answer);
  const StepScope scope = scope_of(graph, run.steps, run.answer, run.answer.middle[0]);
  analysis.provenance = provenance_of(path_of(graph, run, scope));
  const auto gain = [&](const std::optional<TaskGraph>& without) -> std::optional<std::int64_t> {
    if (!without) return std::nullopt;
    const Result<Run> other = simulate_run(*without, options);
    if (!other.ok()) return std::nullopt;
    // Work that meets others elsewhere may lengthen a step by a little: then it gains nothing.
    return std::max<std::int64_t>(0, run.answer.step_ns - other->answer.step_ns);
  };
  analysis.free_transfers_ns = gain(without_collectives(graph));
  analysis.free_waiting_ns = gain(without_rendezvous(graph));
  return analysis;
}

std::vector<ChromeCounter> memory_counters(std::span<const MemoryCurve> memory) {
  std::vector<ChromeCounter> counters;
  for (const MemoryCurve& curve : memory) {
    ChromeCounter counter{.name = "allocated bytes", .rank = curve.rank, .device = curve.device};
    counter.samples.push_back({0, curve.base_bytes});
    for (const MemoryPoint& point : curve.points) {
      counter.samples.push_back({point.time_ns, point.live_bytes});
    }
    counters.push_back(std::move(counter));
  }
  return counters;
}

CriticalPath step_path(const TaskGraph& graph, const Run& run) {
  return path_of(graph, run, scope_of(graph, run.steps, run.answer, run.answer.middle[0]));
}

PathReport path_report(const TaskGraph& graph, const Run& run, std::size_t groups,
                       const RunOptions& run_options) {
  PathReport report;
  const std::size_t step = run.answer.middle[0];
  report.scope = scope_of(graph, run.steps, run.answer, step);
  report.step_number = run.answer.is_span ? -1 : run.steps.numbers[step];
  report.rank = run.steps.ranks.empty() ? -1 : report.scope.rank;
  report.path = path_of(graph, run, report.scope);
  report.held_by = report.rank < 0 ? -1 : rank_with_most(graph, report.path);
  GainOptions options;
  options.count = groups;
  options.measure = [&](std::span<const Weights> variants) {
    return answers_of(graph, variants, run, run_options);
  };
  report.groups = path_gains(graph, report.path, options);
  report.regions = host_regions(graph, report.path, options);
  if (graph.context().layers.size() > 1) {
    options.grouping = PathGrouping::layer;
    report.layers = path_gains(graph, report.path, options);
  }
  return report;
}

}  // namespace foretrace
