#include "apps/driver/validate/studies/pollux.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "apps/driver/scheduler/components.h"
#include "apps/driver/scheduler/simulation/run.h"
#include "sim/core/whole.h"

namespace foretrace::scheduling::pollux {
namespace {

// app, accelerators, batch: what a job of the artefact is.
using Recipe = std::tuple<std::string, std::int64_t, std::int64_t>;

Recipe recipe_of(const Truth& table, std::size_t row) {
  return {table.text(row, "app"), table.whole_number(row, "gpus"),
          table.whole_number(row, "batch")};
}

struct Recipes {
  std::map<Recipe, TypeId> types;
  std::map<Recipe, std::vector<double>> epochs;
};

// Accelerators of a placement: 10 of "442".
std::int64_t gpus_in(const std::string& placement) {
  return std::accumulate(placement.begin(), placement.end(), std::int64_t{0},
                         [](std::int64_t sum, char digit) { return sum + (digit - '0'); });
}

Recipes read_recipes(const Truth& times, const Truth& work, Workload& workload,
                     ThroughputTable& throughput) {
  Recipes recipes;
  for (std::size_t row = 0; row < work.rows(); ++row) {
    const Recipe recipe = recipe_of(work, row);
    const auto& [app, gpus, batch] = recipe;
    const TypeId type =
        workload.types.push_back({.name = fmt::format("{} (batch {}, {} GPUs)", app, batch, gpus),
                                  .model = app,
                                  .batch = batch});
    recipes.types[recipe] = type;
    recipes.epochs[recipe] = work.numbers(row, "iterations");
    const double accumulation = work.number(row, "accum").value_or(0);
    for (std::size_t i = 0; i < times.rows(); ++i) {
      const std::string placement = times.text(i, "placement");
      if (times.text(i, "app") != app || gpus_in(placement) != gpus ||
          times.number(i, "local_batch") != work.number(row, "local_batch")) {
        continue;
      }
      const double step_s = times.number(i, "step_s").value_or(0);
      const double sync_s = times.number(i, "sync_s").value_or(0);
      const double iteration_s = step_s + accumulation * (step_s - sync_s);
      if (iteration_s <= 0) continue;
      throughput.set(
          type, {.kind = KindId{}, .gpus = static_cast<std::int32_t>(gpus), .placement = placement},
          1 / iteration_s);
    }
  }
  return recipes;
}

// "16 nodes x 4 T4 (...)".
Cluster cluster_of(const Truth& table) {
  const std::string text = table.fixed("cluster");
  const auto nodes = first_number(text).value_or(0);
  const std::size_t cross = text.find('x');
  const auto per_node = cross == std::string::npos
                            ? 0
                            : first_number(std::string_view(text).substr(cross)).value_or(0);
  Cluster cluster;
  cluster.kinds.push_back({.name = "GPU"});
  for (std::int64_t i = 0; i < nodes; ++i) {
    cluster.nodes.push_back(
        {.gpus = static_cast<std::int32_t>(std::min<std::int64_t>(per_node, most_gpus_per_node))});
  }
  return cluster;
}

// Adds the jobs of one workload; rows that cannot be run are left out with the reason.
void add_jobs(const Truth& table, const std::string& name, const Recipes& recipes,
              Workload& workload, std::vector<std::size_t>& rows, TruthScore& score) {
  for (std::size_t row = 0; row < table.rows(); ++row) {
    if (table.text(row, "workload") != name) continue;
    const Recipe recipe = recipe_of(table, row);
    const auto type = recipes.types.find(recipe);
    if (type == recipes.types.end()) {
      score.skipped.push_back(
          {row, "jct_tiresias_s",
           fmt::format("no work is given for {} on {} GPUs at batch {}", std::get<0>(recipe),
                       std::get<1>(recipe), std::get<2>(recipe))});
      continue;
    }
    Job job;
    job.name = table.text(row, "job");
    job.arrival_ns = to_whole(table.number(row, "arrival_s").value_or(0) * 1e9);
    job.type = type->second;
    job.request.gpus = static_cast<std::int32_t>(std::get<1>(recipe));
    job.phases = recipes.epochs.at(recipe);
    workload.jobs.push_back(std::move(job));
    rows.push_back(row);
  }
}

void skip_other_policies(const Truth& table, TruthScore& score) {
  for (const std::string& column : table.columns()) {
    if (!column.starts_with("jct_") || column == "jct_tiresias_s") continue;
    for (std::size_t row = 0; row < table.rows(); ++row) {
      score.skipped.push_back(
          {row, column,
           "its optimizer needs step times and gradient statistics that no table has"});
    }
  }
}

std::vector<std::string> workloads_of(const Truth& table) {
  std::vector<std::string> names;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const std::string name = table.text(row, "workload");
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

constexpr std::int64_t second_ns = 1'000'000'000;

RunOptions options_of(const Truth& table) {
  RunOptions options{.clock = Clock::ticks, .keeps_log = false};
  options.period_ns = first_number(table.fixed("tick_s")).value_or(60) * second_ns;
  options.restart_ns = first_number(table.fixed("restart_s")).value_or(30) * second_ns;
  options.phase_quantum_ns = second_ns;  // the artefact rounds the time of every epoch
  return options;
}

}  // namespace

Result<TruthScore> score_pollux(const Truth& jobs, const Truth& times, const Truth& work) {
  for (const Status& fine :
       {jobs.needs({"workload", "job", "app", "arrival_s", "gpus", "batch", "jct_tiresias_s"}),
        times.needs({"app", "placement", "local_batch", "step_s", "sync_s"}),
        work.needs({"app", "gpus", "batch", "local_batch", "accum", "iterations"})}) {
    if (!fine) return fine.error();
  }
  const Cluster cluster = cluster_of(jobs);
  const RunOptions options = options_of(jobs);
  TruthScore score;
  for (const std::string& name : workloads_of(jobs)) {
    Workload workload;
    ThroughputTable throughput;
    const Recipes recipes = read_recipes(times, work, workload, throughput);
    std::vector<std::size_t> rows;
    add_jobs(jobs, name, recipes, workload, rows, score);
    std::stable_sort(rows.begin(), rows.end(), [&](std::size_t a, std::size_t b) {
      return jobs.number(a, "arrival_s") < jobs.number(b, "arrival_s");
    });
    sort_by_arrival(workload);
    // Two queues, parted at 16 hours of one accelerator, as the artefact sets them.
    auto policy = make_policy("las", "limits='57600 s',reorder=false");
    auto placement = make_placement("spread", "", {.cluster = &cluster, .workload = &workload});
    if (!policy) return policy.error();
    if (!placement) return placement.error();
    const auto outcome =
        run({&cluster, &workload, &throughput, policy->get(), placement->get()}, options);
    if (!outcome) return outcome.error();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto id = make_id<JobId>(i);
      const double jct_s =
          static_cast<double>(outcome->jobs[id].end_ns - workload.jobs[id].arrival_ns) / 1e9;
      const auto measured = jobs.number(rows[i], "jct_tiresias_s");
      if (measured) score.points.push_back({rows[i], "jct_tiresias_s", jct_s, *measured});
    }
  }
  skip_other_policies(jobs, score);
  return score;
}

}  // namespace foretrace::scheduling::pollux
