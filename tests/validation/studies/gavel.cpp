#include "tests/validation/studies/gavel.h"

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
#include "apps/scheduling/sources/generator.h"
#include "sim/core/parallel.h"
#include "sim/core/whole.h"

namespace foretrace::scheduling::gavel {
namespace {

constexpr std::int64_t second_ns = 1'000'000'000;
constexpr double most_rate_per_h = 1e4;

struct Alias {
  std::string_view published;
  std::string_view scheduler;
  std::string_view parameters;
};
constexpr std::array aliases = {
    Alias{"fifo", "gavel_fifo", "aware=false"},
    Alias{"fifo_perf", "gavel_fifo", "aware=true"},
    Alias{"max_min_fairness", "max_min_fairness", "aware=false"},
    Alias{"max_min_fairness_perf", "max_min_fairness", "aware=true"},
    Alias{"finish_time_fairness", "finish_time_fairness", "aware=false"},
    Alias{"finish_time_fairness_perf", "finish_time_fairness", "aware=true"},
    Alias{"min_total_duration", "min_total_duration", "aware=false"},
    Alias{"min_total_duration_perf", "min_total_duration", "aware=true"},
    Alias{"allox", "allox", ""},
    Alias{"isolated", "isolated", ""},
    Alias{"max_sum_throughput_perf", "max_sum_throughput", ""},
};

const Alias* alias_of(std::string_view published) {
  const auto* const found =
      std::find_if(aliases.begin(), aliases.end(),
                   [published](const Alias& alias) { return alias.published == published; });
  return found == aliases.end() ? nullptr : found;
}

// The kinds of the published cluster, in the order in which its rounds visit them.
constexpr std::array<std::string_view, 3> kinds = {"v100", "p100", "k80"};

// The job types of the published generator, in its order; the first ones run on several
// accelerators.
struct Family {
  std::string_view model;
  std::array<std::int64_t, 5> batches;
  bool on_several;
};
constexpr std::array families = {
    Family{"ResNet-18", {16, 32, 64, 128, 256}, true},
    Family{"ResNet-50", {16, 32, 64, 128, 0}, true},
    Family{"Transformer", {16, 32, 64, 128, 256}, true},
    Family{"LM", {5, 10, 20, 40, 80}, true},
    Family{"Recommendation", {512, 1024, 2048, 4096, 8192}, false},
    Family{"A3C", {-1, 0, 0, 0, 0}, false},
    Family{"CycleGAN", {-1, 0, 0, 0, 0}, false},
};

struct Setting {
  Cluster cluster;
  ThroughputTable throughput;
  Column<TypeId, JobType> types;
  GeneratorOptions generator;
};

// "36 V100 + 36 P100 + 36 K80, simulated, round 360 s".
Status read_cluster(const TruthTable& table, Cluster& cluster) {
  std::string text = table.fixed_row().text("cluster");
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const std::string_view name : kinds) {
    const KindId kind = cluster.kinds.push_back({.name = std::string(name)});
    const std::size_t at = text.find(name);
    const std::size_t plus = at == std::string::npos ? 0 : text.rfind('+', at);
    const std::size_t from = plus == std::string::npos ? 0 : plus;
    if (at == std::string::npos) continue;
    const std::int64_t count =
        first_number(std::string_view(text).substr(from, at - from)).value_or(0);
    if (static_cast<double>(count) > most_jobs) {
      return Error{ErrorCode::bad_format,
                   fmt::format("{}: /fixed/cluster: got {} {}, expected at most {}", table.path,
                               count, name, most_jobs)};
    }
    for (std::int64_t i = 0; i < count; ++i) cluster.nodes.push_back({.kind = kind, .gpus = 1});
  }
  return ok_status();
}

using RateKey = std::tuple<std::string, std::string, std::int64_t>;  // kind, model, batch
using Rates = std::map<RateKey, std::map<std::int64_t, double>>;     // workers -> steps per second

Result<Rates> read_rates(const std::vector<const TruthTable*>& tables) {
  Rates rates;
  for (const TruthTable* table : tables) {
    const Status read = read_rows(*table, [&](std::size_t /*row*/, RowNumbers& numbers) {
      const auto workers = to_whole(numbers.count_or("workers", 1, most_jobs));
      const auto batch = to_whole(numbers.count_or("batch_per_worker", -1, most_batch));
      const RateKey key{numbers.text("gpu"), numbers.text("model"), batch};
      rates[key][workers] = numbers.measured("steps_per_s");
    });
    FORETRACE_TRY(read);
  }
  return rates;
}

// A number of workers that was not measured lies between the nearest that were, in powers of two.
double between(const std::map<std::int64_t, double>& by_workers, std::int64_t workers) {
  const auto above = by_workers.lower_bound(workers);
  if (above != by_workers.end() && above->first == workers) return above->second;
  if (above == by_workers.end() || above == by_workers.begin()) return 0;
  const auto below = std::prev(above);
  const double share =
      std::log2(static_cast<double>(workers) / static_cast<double>(below->first)) /
      std::log2(static_cast<double>(above->first) / static_cast<double>(below->first));
  if (below->second <= 0 || above->second <= 0) return 0;
  return std::exp((1 - share) * std::log(below->second) + share * std::log(above->second));
}

// Of several workers on a kind where only one was measured: as they scale on the first kind.
double rate_of(const Rates& rates, std::string_view kind, const Family& family, std::int64_t batch,
               std::int64_t workers) {
  const auto find = [&](std::string_view name) {
    const auto found = rates.find({std::string(name), std::string(family.model), batch});
    return found == rates.end() ? nullptr : &found->second;
  };
  const auto* own = find(kind);
  if (own == nullptr) return 0;
  const double measured = between(*own, workers);
  if (measured > 0 || workers == 1) return measured;
  const auto* reference = find(kinds.front());
  const double one = between(*own, 1);
  if (reference == nullptr || between(*reference, 1) <= 0) return 0;
  return one * between(*reference, workers) / between(*reference, 1);
}

void set_types(const Rates& rates, Setting& setting) {
  for (const Family& family : families) {
    for (const std::int64_t batch : family.batches) {
      if (batch == 0) continue;
      const std::string name =
          batch < 0 ? std::string(family.model) : fmt::format("{} (batch {})", family.model, batch);
      const TypeId type = setting.types.push_back(
          {.name = name, .model = std::string(family.model), .batch = batch});
      for (std::size_t k = 0; k < kinds.size(); ++k) {
        for (const std::int32_t gpus : {1, 2, 4, 8}) {
          const double rate = rate_of(rates, kinds[k], family, batch, gpus);
          if (rate > 0)
            setting.throughput.set(type, {.kind = make_id<KindId>(k), .gpus = gpus}, rate);
        }
      }
      setting.generator.types.push_back({.type = type, .on_several = family.on_several});
    }
  }
}

// As published: streams seeded with 2 and 3 more than the seed of the run, which was 0.
void set_generator(GeneratorOptions& generator) {
  generator.job_seed = 2;
  generator.arrival_seed = 3;
  generator.durations = {{.share = 0.8, .low_exponent = 1.5, .high_exponent = 3, .unit_s = 60},
                         {.share = 0.2, .low_exponent = 3, .high_exponent = 4, .unit_s = 60}};
  generator.sizes = {{0.7, 1}, {0.1, 2}, {0.15, 4}, {0.05, 8}};
}

// One simulation answers all rows of the same trace, policy, rate and number of jobs.
struct Experiment {
  std::string trace;
  const Alias* alias = nullptr;
  double rate_per_h = 0;
  std::int64_t jobs = 0;  ///< 0: jobs keep coming, those from 4000 to 4999 count
  std::vector<std::size_t> rows;
};

struct Answer {
  double mean_completion_h = 0;
  double makespan_h = 0;
};

constexpr std::size_t first_measured = 4000;
constexpr std::size_t last_measured = 5000;  // not included
// Jobs that come after those that count, so that these do not end in an emptying cluster.
constexpr std::size_t more_jobs = 3000;

Result<Answer> answer(const Setting& setting, const Experiment& experiment) {
  Workload workload;
  workload.types = setting.types;
  GeneratorOptions generator = setting.generator;
  generator.jobs =
      experiment.jobs > 0 ? static_cast<std::size_t>(experiment.jobs) : last_measured + more_jobs;
  generator.mean_gap_s = experiment.rate_per_h > 0 ? 3600 / experiment.rate_per_h : 0;
  generator.draws_sizes = experiment.trace.find("multi") != std::string::npos;
  FORETRACE_TRY(add_drawn_jobs(generator, setting.throughput, workload));
  RunOptions options{.clock = Clock::leases, .period_ns = 360 * second_ns, .keeps_log = false};
  if (experiment.jobs == 0) {
    for (std::size_t i = first_measured; i < last_measured; ++i) {
      options.until.push_back(make_id<JobId>(i));
    }
  }
  FORETRACE_TRY(auto policy,
                make_policy(experiment.alias->scheduler, experiment.alias->parameters));
  FORETRACE_TRY(auto placement,
                make_placement("count", "", {.cluster = &setting.cluster, .workload = &workload}));
  FORETRACE_TRY(const auto outcome, run({&setting.cluster, &workload, &setting.throughput,
                                         policy.get(), placement.get()},
                                        options));
  const Metrics metrics =
      metrics_of(outcome, setting.cluster, workload, setting.throughput, options.until);
  return Answer{.mean_completion_h = metrics.completion_s.mean / 3600,
                .makespan_h = metrics.makespan_s / 3600};
}

std::vector<Experiment> experiments_of(const TruthTable& table, TruthScore& score) {
  std::map<std::tuple<std::string, std::string, double, std::int64_t>, std::size_t> known;
  std::vector<Experiment> experiments;
  for (std::size_t row = 0; row < table.size(); ++row) {
    RowNumbers numbers(table.row(row));
    const std::string metric = numbers.text("metric");
    const std::string policy = numbers.text("policy");
    const Alias* alias = alias_of(policy);
    const bool known_metric = metric.starts_with("mean JCT") || metric.starts_with("makespan");
    if (alias == nullptr || !known_metric) {
      score.skipped.push_back(
          {row, "value",
           alias == nullptr ? "it shares accelerators: rates of pairs are known for one kind only"
                            : fmt::format("unknown metric {}", in_quotes(metric))});
      continue;
    }
    const double rate = numbers.number_or("rate_jobs_per_h", 0, 1e-3, most_rate_per_h);
    const auto jobs = to_whole(numbers.count_or("jobs", 0, most_jobs));
    if (!numbers.status()) {
      score.skipped.push_back({row, "value", numbers.status().error().message});
      continue;
    }
    const auto [at, is_new] =
        known.try_emplace({numbers.text("trace"), policy, rate, jobs}, experiments.size());
    if (is_new) {
      experiments.push_back({.trace = numbers.text("trace"),
                             .alias = alias,
                             .rate_per_h = rate,
                             .jobs = jobs,
                             .rows = {}});
    }
    experiments[at->second].rows.push_back(row);
  }
  return experiments;
}

}  // namespace

Result<TruthScore> score_gavel_curves(const TruthTable& table,
                                      const std::vector<const TruthTable*>& rates) {
  FORETRACE_TRY(needs(table, {"trace", "metric", "policy", "rate_jobs_per_h", "jobs", "value"}));
  Setting setting;
  FORETRACE_TRY(read_cluster(table, setting.cluster));
  FORETRACE_TRY(const auto known, read_rates(rates));
  set_types(known, setting);
  set_generator(setting.generator);
  TruthScore score;
  const std::vector<Experiment> experiments = experiments_of(table, score);
  std::vector<Result<Answer>> answers(experiments.size(), Answer{});
  for_each_index(experiments.size(),
                 [&](std::size_t i) { answers[i] = answer(setting, experiments[i]); });
  for (std::size_t i = 0; i < experiments.size(); ++i) {
    for (const std::size_t row : experiments[i].rows) {
      if (!answers[i]) {
        score.skipped.push_back({row, "value", answers[i].error().message});
        continue;
      }
      const bool is_makespan = table.row(row).text("metric").starts_with("makespan");
      score.add(table, row, "value",
                is_makespan ? answers[i]->makespan_h : answers[i]->mean_completion_h);
    }
  }
  return score;
}

}  // namespace foretrace::scheduling::gavel
