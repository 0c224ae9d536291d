#include "tests/validation/studies/pollux.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "apps/scheduling/components.h"
#include "apps/scheduling/simulation/run.h"
#include "sim/core/whole.h"

namespace foretrace::scheduling::pollux {
namespace {

// app, accelerators, batch: what a job of the artefact is.
using Recipe = std::tuple<std::string, std::int64_t, std::int64_t>;

Recipe recipe_of(RowNumbers& numbers) {
  return {numbers.text("app"), to_whole(numbers.count("gpus", most_jobs)),
          to_whole(numbers.count("batch", most_batch))};
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

/// Step times of an app in one placement.
struct StepTime {
  std::string app;
  std::string placement;
  double local_batch = 0;
  double step_s = 0;
  double sync_s = 0;
};

Result<std::vector<StepTime>> read_times(const TruthTable& times) {
  std::vector<StepTime> all;
  const Status read = read_rows(times, [&](std::size_t /*row*/, RowNumbers& numbers) {
    all.push_back({numbers.text("app"), numbers.text("placement"),
                   numbers.count("local_batch", most_batch), numbers.measured("step_s"),
                   numbers.number("sync_s", 0, most_seconds)});
  });
  FORETRACE_TRY(read);
  return all;
}

Status read_recipes(const std::vector<StepTime>& times, const TruthTable& work, Workload& workload,
                    ThroughputTable& throughput, Recipes& recipes) {
  return read_rows(work, [&](std::size_t /*row*/, RowNumbers& numbers) {
    const Recipe recipe = recipe_of(numbers);
    const auto& [app, gpus, batch] = recipe;
    const TypeId type =
        workload.types.push_back({.name = fmt::format("{} (batch {}, {} GPUs)", app, batch, gpus),
                                  .model = app,
                                  .batch = batch});
    recipes.types[recipe] = type;
    recipes.epochs[recipe] = numbers.list("iterations", 1e-3, most_steps);
    const double accumulation = numbers.count_or("accum", 0, most_batch, 0);
    const double local_batch = numbers.count("local_batch", most_batch);
    for (const StepTime& time : times) {
      if (time.app != app || gpus_in(time.placement) != gpus || time.local_batch != local_batch) {
        continue;
      }
      const double iteration_s = time.step_s + accumulation * (time.step_s - time.sync_s);
      if (iteration_s <= 0) continue;
      throughput.set(
          type,
          {.kind = KindId{}, .gpus = static_cast<std::int32_t>(gpus), .placement = time.placement},
          1 / iteration_s);
    }
  });
}

// "16 nodes x 4 T4 (...)".
Result<Cluster> cluster_of(const TruthTable& table) {
  FORETRACE_TRY(const auto nodes, first_number_of(table, "cluster", most_jobs));
  const std::string text = table.fixed_row().text("cluster");
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

/// A row of the table of jobs.
struct Submitted {
  std::string workload;
  std::string job;
  Recipe recipe;
  double arrival_s = 0;
};

Result<std::vector<Submitted>> read_jobs(const TruthTable& table) {
  std::vector<Submitted> all;
  const Status read = read_rows(table, [&](std::size_t /*row*/, RowNumbers& numbers) {
    all.push_back({numbers.text("workload"), numbers.text("job"), recipe_of(numbers),
                   numbers.number("arrival_s", 0, most_seconds)});
  });
  FORETRACE_TRY(read);
  return all;
}

// Adds the jobs of one workload; rows that cannot be run are left out with the reason.
void add_jobs(const std::vector<Submitted>& jobs, const std::string& name, const Recipes& recipes,
              Workload& workload, std::vector<std::size_t>& rows, TruthScore& score) {
  for (std::size_t row = 0; row < jobs.size(); ++row) {
    if (jobs[row].workload != name) continue;
    const Recipe& recipe = jobs[row].recipe;
    const auto type = recipes.types.find(recipe);
    if (type == recipes.types.end()) {
      score.skipped.push_back(
          {row, "jct_tiresias_s",
           fmt::format("no work is given for {} on {} GPUs at batch {}", std::get<0>(recipe),
                       std::get<1>(recipe), std::get<2>(recipe))});
      continue;
    }
    Job job;
    job.name = jobs[row].job;
    job.arrival_ns = to_whole(jobs[row].arrival_s * 1e9);
    job.type = type->second;
    job.request.gpus = static_cast<std::int32_t>(std::get<1>(recipe));
    job.phases = recipes.epochs.at(recipe);
    workload.jobs.push_back(std::move(job));
    rows.push_back(row);
  }
}

void skip_other_policies(const TruthTable& table, TruthScore& score) {
  for (const std::string& column : table.columns) {
    if (!column.starts_with("jct_") || column == "jct_tiresias_s") continue;
    for (std::size_t row = 0; row < table.size(); ++row) {
      score.skipped.push_back(
          {row, column,
           "its optimizer needs step times and gradient statistics that no table has"});
    }
  }
}

std::vector<std::string> workloads_of(const std::vector<Submitted>& jobs) {
  std::vector<std::string> names;
  for (const Submitted& job : jobs) {
    if (std::find(names.begin(), names.end(), job.workload) == names.end()) {
      names.push_back(job.workload);
    }
  }
  return names;
}

constexpr std::int64_t second_ns = 1'000'000'000;

RunOptions options_of(const TruthTable& table) {
  RunOptions options{.clock = Clock::ticks, .keeps_log = false};
  options.period_ns = first_number(table.fixed_row().text("tick_s")).value_or(60) * second_ns;
  options.restart_ns = first_number(table.fixed_row().text("restart_s")).value_or(30) * second_ns;
  options.phase_quantum_ns = second_ns;  // the artefact rounds the time of every epoch
  return options;
}

}  // namespace

Result<TruthScore> score_pollux(const TruthTable& jobs, const TruthTable& times,
                                const TruthTable& work) {
  for (const Status& fine :
       {needs(jobs, {"workload", "job", "app", "arrival_s", "gpus", "batch", "jct_tiresias_s"}),
        needs(times, {"app", "placement", "local_batch", "step_s", "sync_s"}),
        needs(work, {"app", "gpus", "batch", "local_batch", "accum", "iterations"})}) {
    FORETRACE_TRY(fine);
  }
  FORETRACE_TRY(const auto cluster, cluster_of(jobs));
  FORETRACE_TRY(const auto submitted, read_jobs(jobs));
  FORETRACE_TRY(const auto step_times, read_times(times));
  const RunOptions options = options_of(jobs);
  TruthScore score;
  for (const std::string& name : workloads_of(submitted)) {
    Workload workload;
    ThroughputTable throughput;
    Recipes recipes;
    FORETRACE_TRY(read_recipes(step_times, work, workload, throughput, recipes));
    std::vector<std::size_t> rows;
    add_jobs(submitted, name, recipes, workload, rows, score);
    std::stable_sort(rows.begin(), rows.end(), [&](std::size_t a, std::size_t b) {
      return submitted[a].arrival_s < submitted[b].arrival_s;
    });
    sort_by_arrival(workload);
    // Two queues, parted at 16 hours of one accelerator, as the artefact sets them.
    auto policy = make_policy("las", "limits='57600 s',reorder=false");
    auto placement = make_placement("spread", "", {.cluster = &cluster, .workload = &workload});
    FORETRACE_TRY(policy);
    FORETRACE_TRY(placement);
    FORETRACE_TRY(
        const auto outcome,
        run({&cluster, &workload, &throughput, policy->get(), placement->get()}, options));
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto id = make_id<JobId>(i);
      const double jct_s =
          static_cast<double>(outcome.jobs[id].end_ns - workload.jobs[id].arrival_ns) / 1e9;
      score.add(jobs, rows[i], "jct_tiresias_s", jct_s);
    }
  }
  skip_other_policies(jobs, score);
  return score;
}

}  // namespace foretrace::scheduling::pollux
