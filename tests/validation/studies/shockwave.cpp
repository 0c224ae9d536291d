#include "tests/validation/studies/shockwave.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "apps/scheduling/components.h"
#include "apps/scheduling/simulation/metrics.h"
#include "apps/scheduling/simulation/run.h"
#include "sim/core/whole.h"

namespace foretrace::scheduling::shockwave {
namespace {

constexpr std::int64_t second_ns = 1'000'000'000;

// What the artefact calls its policies; its allocations are computed again every 1000 s at most.
struct Alias {
  std::string_view published;
  std::string_view scheduler;
  std::string_view parameters;
  std::string_view why_not = {};
};
constexpr std::array aliases = {
    Alias{"max_min_fairness", "max_min_fairness", "aware=false,reset='1000 s'"},
    Alias{"finish_time_fairness", "finish_time_fairness", "aware=false,reset='1000 s'"},
    Alias{"gandiva_fair", "gandiva_fair", "reset='1000 s'"},
    Alias{"allox", "allox", "alpha=0.2,reset='1000 s'"},
    Alias{"min_total_duration", "min_total_duration", "aware=false,width=0.05,reset='1000 s'"},
    Alias{"max_sum_throughput_perf", "max_sum_throughput", "reset='1000 s'"},
    Alias{"shockwave", "", "", "it needs a mixed-integer solver"},
};

const Alias* alias_of(std::string_view published) {
  const auto* const found =
      std::find_if(aliases.begin(), aliases.end(),
                   [published](const Alias& alias) { return alias.published == published; });
  return found == aliases.end() ? nullptr : found;
}

struct Trace {
  Cluster cluster;
  Workload workload;
  ThroughputTable throughput;
  std::vector<std::size_t> rows;  ///< of the table, by job
};

using TypeKey = std::tuple<std::string, std::int64_t, std::int64_t>;  // model, batch, accelerators

TypeKey key_of(RowNumbers& numbers) {
  return {numbers.text("model"), to_whole(numbers.count("batch", most_batch)),
          to_whole(numbers.count("gpus", most_jobs))};
}

Result<std::map<TypeKey, TypeId>> read_rates(const TruthTable& rates, Trace& trace) {
  std::map<TypeKey, TypeId> types;
  const Status read = read_rows(rates, [&](std::size_t /*row*/, RowNumbers& numbers) {
    const TypeKey key = key_of(numbers);
    const auto& [model, batch, gpus] = key;
    const TypeId type = trace.workload.types.push_back(
        {.name = fmt::format("{} (batch {})", model, batch), .model = model, .batch = batch});
    types[key] = type;
    trace.throughput.set(type, {.kind = KindId{}, .gpus = static_cast<std::int32_t>(gpus)},
                         numbers.measured("steps_per_s"));
  });
  FORETRACE_TRY(read);
  return types;
}

void set_batch_plan(const BatchRules& rules, std::string_view mode,
                    const std::map<TypeKey, TypeId>& types, Job& job, Workload& workload) {
  const JobType& type = workload.types[job.type];
  auto plan = rules.plan(mode, type.model, type.batch, job.request.gpus);
  if (!plan) return;
  for (const auto& [key, id] : types) {
    if (std::get<0>(key) != type.model || std::get<2>(key) != job.request.gpus) continue;
    plan->types.emplace_back(std::get<1>(key), id);
  }
  job.batch_plan = static_cast<std::int32_t>(workload.batch_plans.size());
  workload.batch_plans.push_back(std::move(*plan));
}

Error no_rate(const TruthTable& jobs, std::size_t row, const TypeKey& key,
              const TruthTable& rates) {
  return {ErrorCode::missing_cost,
          fmt::format("{}: /rows/{}: no rate of {} at batch {} on {} GPUs in {}", jobs.path, row,
                      std::get<0>(key), std::get<1>(key), std::get<2>(key), rates.path)};
}

Status read_trace(const ShockwaveInputs& inputs, Trace& trace) {
  const TruthTable& jobs = *inputs.jobs;
  for (const Status& fine :
       {needs(jobs, {"job", "model", "batch", "total_steps", "gpus", "mode", "arrival_s"}),
        needs(*inputs.rates, {"model", "batch", "gpus", "steps_per_s"})}) {
    FORETRACE_TRY(fine);
  }
  // "32 V100 (16 GB in the config), TACC, homogeneous; ...": only the number counts.
  trace.cluster.kinds.push_back({.name = "GPU"});
  FORETRACE_TRY(const auto gpus, first_number_of(jobs, "cluster", most_jobs));
  for (std::int64_t i = 0; i < gpus; ++i) trace.cluster.nodes.push_back({.gpus = 1});
  FORETRACE_TRY(const auto types, read_rates(*inputs.rates, trace));
  Status known = ok_status();
  const Status read = read_rows(jobs, [&](std::size_t row, RowNumbers& numbers) {
    const TypeKey key = key_of(numbers);
    Job job;
    job.name = numbers.text("job");
    job.arrival_ns = to_whole(numbers.number("arrival_s", 0, most_seconds) * 1e9);
    job.request.gpus = static_cast<std::int32_t>(std::get<2>(key));
    job.phases = {numbers.count("total_steps", most_steps)};
    job.isolated_ns = to_whole(numbers.number_or("isolated_s", 0, 0, most_seconds) * 1e9);
    const auto type = types.find(key);
    if (type == types.end()) {
      if (known.ok()) known = no_rate(jobs, row, key, *inputs.rates);
      return;
    }
    job.type = type->second;
    set_batch_plan(*inputs.rules, numbers.text("mode"), types, job, trace.workload);
    trace.workload.jobs.push_back(std::move(job));
    trace.rows.push_back(row);
  });
  FORETRACE_TRY(read);
  FORETRACE_TRY(known);
  std::vector<double> arrivals;
  for (const Job& job : trace.workload.jobs.values()) {
    arrivals.push_back(static_cast<double>(job.arrival_ns));
  }
  std::stable_sort(trace.rows.begin(), trace.rows.end(),
                   [&](std::size_t a, std::size_t b) { return arrivals[a] < arrivals[b]; });
  sort_by_arrival(trace.workload);
  return ok_status();
}

Result<Outcome> run_policy(const Trace& trace, const Alias& alias, const TruthTable& table) {
  FORETRACE_TRY(auto policy, make_policy(alias.scheduler, alias.parameters));
  FORETRACE_TRY(
      auto placement,
      make_placement("count", "", {.cluster = &trace.cluster, .workload = &trace.workload}));
  // A job that did not run in the last round loses 20 s, unless its lease ends 5 s early or more.
  const RunOptions options{
      .clock = Clock::leases,
      .period_ns = first_number(table.fixed_row().text("round_s")).value_or(120) * second_ns,
      .restart_ns = 20 * second_ns,
      .restart_slack_ns = 5 * second_ns,
      .restarts_in_first_round = false,
      .keeps_log = false};
  return run({&trace.cluster, &trace.workload, &trace.throughput, policy.get(), placement.get()},
             options);
}

// Run time of a job alone whose batch size changes as it wants, epoch by epoch.
double alone_s(const Trace& trace, const Job& job) {
  const Where where{.kind = KindId{}, .gpus = job.request.gpus};
  const double rate = trace.throughput.rate(job.type, where);
  if (job.batch_plan < 0) return job.steps() / rate;
  const BatchPlan& plan = trace.workload.batch_plans[static_cast<std::size_t>(job.batch_plan)];
  const std::int64_t first = trace.workload.types[job.type].batch;
  const double epochs = std::ceil(job.steps() / static_cast<double>(plan.steps_per_epoch(first)));
  double sum_s = 0;
  for (std::int64_t epoch = 0; epoch < static_cast<std::int64_t>(epochs); ++epoch) {
    const std::int64_t wanted = plan.wanted_in(epoch);
    const auto type = plan.type_of(wanted);
    const std::int64_t batch = type ? wanted : first;
    sum_s += static_cast<double>(plan.steps_per_epoch(batch)) /
             trace.throughput.rate(type.value_or(job.type), where);
  }
  return sum_s;
}

// How unfairly jobs fared: completion time over the time alone and over jobs per accelerator, of
// the whole trace.
struct Fairness {
  double worst = 0;
  double unfair = 0;  ///< jobs above 1.05
};
Fairness fairness_of(const Trace& trace, const Outcome& outcome) {
  Fairness fairness;
  const auto jobs = trace.workload.jobs.values();
  const double crowd = static_cast<double>(jobs.size()) / std::max(1, trace.cluster.gpus());
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const std::int64_t end_ns = outcome.jobs[make_id<JobId>(i)].end_ns;
    const double life_s = static_cast<double>(end_ns - jobs[i].arrival_ns) / 1e9;
    const double rho = life_s / alone_s(trace, jobs[i]) / std::max(1.0, crowd);
    fairness.worst = std::max(fairness.worst, rho);
    fairness.unfair += rho > 1.05 ? 1 : 0;
  }
  return fairness;
}

std::map<std::string_view, double> figures_of(const Trace& trace, const Outcome& outcome) {
  const Metrics metrics = metrics_of(outcome, trace.cluster, trace.workload, trace.throughput);
  const Fairness fairness = fairness_of(trace, outcome);
  return {{"makespan_s", metrics.makespan_s},
          {"avg_jct_s", metrics.completion_s.mean},
          {"geomean_jct_s", metrics.geometric_mean_completion_s},
          {"worst_ftf", fairness.worst},
          {"unfair_jobs", fairness.unfair},
          {"rounds", static_cast<double>(outcome.rounds)}};
}

}  // namespace

Result<TruthScore> score_shockwave_results(const TruthTable& table, const ShockwaveInputs& inputs) {
  FORETRACE_TRY(needs(table, {"policy"}));
  Trace trace;
  FORETRACE_TRY(read_trace(inputs, trace));
  std::map<std::string, std::map<std::string_view, double>> done;
  TruthScore score;
  for (std::size_t row = 0; row < table.size(); ++row) {
    const std::string name = table.row(row).text("policy");
    const Alias* alias = alias_of(name);
    if (alias == nullptr || alias->scheduler.empty()) {
      score.skipped.push_back(
          {row, "policy", std::string(alias == nullptr ? "unknown policy" : alias->why_not)});
      continue;
    }
    if (!done.contains(name)) {
      FORETRACE_TRY(auto outcome, run_policy(trace, *alias, table));
      done[name] = figures_of(trace, outcome);
    }
    for (const auto& [column, predicted] : done.at(name)) {
      score.add(table, row, std::string(column), predicted);
    }
  }
  return score;
}

}  // namespace foretrace::scheduling::shockwave
