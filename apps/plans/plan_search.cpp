// Enumerates plans.
#include "apps/plans/plan_search.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "apps/plans/plan_estimates.h"
#include "models/jobs/figures/device_memory.h"
#include "models/jobs/program/ranged_step.h"
#include "models/jobs/times/evidence.h"

namespace foretrace {
namespace {

constexpr std::array<std::uint32_t, 12> chunk_counts = {1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24};
constexpr double most_micro_batch = 64;  // of sequences; samples of layered models have no bound
/// Sequences below this length are not divided by position.
constexpr double least_divided_length = 16384;
constexpr std::uint32_t most_context = 16;

/// A plan that fits, by the formula of its schedule.
struct Candidate {
  Job job;
  std::int64_t formula_ns = 0;
};

std::vector<std::uint32_t> powers_of_two(std::uint32_t most) {
  std::vector<std::uint32_t> sizes;
  for (std::uint32_t size = 1; size <= most && size != 0; size *= 2) sizes.push_back(size);
  return sizes;
}

class Search {
 public:
  explicit Search(const PlanQuestion& question) : question_(question) {
    answer_.gpus = question.gpus;
    answer_.cluster = question.scenario.cluster;
    answer_.framework = computing_in(question.scenario.job.precisions, question.scenario.framework);
    answer_.rest_on_evidence(question.scenario);
    answer_.global_batch = question.global_batch;
    memory_ = static_cast<double>(question.scenario.cluster->accelerator.memory_bytes);
  }

  Result<PlanAnswer> run() {
    FORETRACE_TRY(look_up());
    const std::uint32_t node = question_.scenario.cluster->node_accelerators;
    for (const std::uint32_t tensor : powers_of_two(std::min(node, question_.gpus))) {
      if (question_.gpus % tensor == 0) try_tensor(tensor);
    }
    if (answer_.tried == 0) return no_plan();
    FORETRACE_TRY(rank());
    return std::move(answer_);
  }

 private:
  Status look_up() {
    const Scenario& scenario = question_.scenario;
    // A recording has its times whatever it was computed in.
    if (!scenario.model->transformer.is_recorded()) {
      FORETRACE_TRY(check_precision(scenario.job.precisions, scenario.cluster->accelerator));
    }
    for (const auto& [name, slot] :
         {std::pair{"1f1b", &one_piece_}, std::pair{"interleaved", &pieces_}}) {
      FORETRACE_TRY(auto found, find_schedule(name));
      *slot = found;
    }
    return ok_status();
  }

  /// Names what most plans died of.
  [[nodiscard]] Error no_plan() const {
    const auto most = std::max_element(
        refusals_.begin(), refusals_.end(),
        [](const auto& a, const auto& b) { return a.second.plans < b.second.plans; });
    return Error{
        ErrorCode::no_match,
        fmt::format("no plan for {} devices and {:g} sequences per step{}", question_.gpus,
                    question_.global_batch,
                    most == refusals_.end() ? std::string()
                                            : fmt::format("; {} of {} have {}", most->second.plans,
                                                          refused_, most->second.example))};
  }

  void try_tensor(std::uint32_t tensor) {
    Scenario scenario = question_.scenario;
    Job& job = scenario.job;
    job.plan = {};
    job.plan.tensor = tensor;
    job.plan.sequence = tensor > 1;
    job.plan.data = question_.gpus / tensor;
    job.global_batch = question_.global_batch;
    job.micro_batch = 1;
    job.chunks = 1;
    job.schedule = one_piece_;
    job.model = &scenario.model->transformer;
    job.cluster = scenario.cluster.get();
    scenario.framework = answer_.framework;
    job.framework = scenario.framework.get();
    if (Status fits = check_plan(job.plan, *job.model); !fits.ok()) return note(fits.error());
    // The vocabulary is padded for this tensor group; the batch is checked plan by plan.
    job.global_batch = job.plan.data;
    auto complete = complete_scenario(std::move(scenario));
    if (!complete.ok()) return note(complete.error());
    answer_.models.push_back(complete->model);
    Job base = complete->job;
    base.global_batch = question_.global_batch;
    if (Status fits = check_amounts(base, amounts_of(base)); !fits.ok()) return note(fits.error());
    for (std::uint32_t pipeline = 1; pipeline <= base.model->layers; ++pipeline) {
      if (question_.gpus % (tensor * pipeline) != 0) continue;
      base.plan.pipeline = pipeline;
      try_context(base);
    }
  }

  void try_context(Job job) {
    const std::uint32_t rest = question_.gpus / (job.plan.tensor * job.plan.pipeline);
    const std::uint32_t most = job.length >= least_divided_length ? most_context : 1;
    for (const std::uint32_t context : powers_of_two(std::min(most, rest))) {
      if (rest % context != 0) continue;
      job.plan.context = context;
      job.plan.data = rest / context;
      try_experts(job);
    }
  }

  void try_experts(Job job) {
    const double experts = job.model->experts.count;
    const auto most = static_cast<std::uint32_t>(std::max(1.0, experts));
    for (const std::uint32_t expert : powers_of_two(most)) {
      if (experts > 0 && std::fmod(experts, expert) != 0) continue;
      job.plan.expert = expert;
      job.plan.expert_tensor = usual_expert_tensor(job.plan, *job.model);
      try_plan(job);
      if (job.plan.expert_tensor > 1) {
        job.plan.expert_tensor = 1;  // whole experts
        try_plan(job);
      }
      settle_grid();
    }
  }

  void try_plan(const Job& job) {
    if (Status fits = check_plan(job.plan, *job.model); !fits.ok()) return note(fits.error());
    try_batches(job);
  }

  void try_batches(Job job) {
    const double per_rank = job.global_batch / job.plan.data;
    if (per_rank < 1 || per_rank != std::floor(per_rank)) return note(undivided(job));
    const bool samples = job.model->layered != nullptr;
    double most = samples ? per_rank : std::min(per_rank, most_micro_batch);
    // Recorded times are those of the micro-batch that was recorded.
    if (job.model->is_recorded()) most = 1;
    // NOLINTNEXTLINE(clang-analyzer-security.FloatLoopCounter): powers of two are exact
    for (double micro = 1; micro <= most; micro *= 2) {
      if (std::fmod(per_rank, micro) != 0) continue;
      job.micro_batch = micro;
      for (const std::uint32_t chunks : chunk_counts) try_chunks(job, chunks);
    }
  }

  void try_chunks(Job job, std::uint32_t chunks) {
    job.chunks = chunks;
    job.schedule = chunks > 1 ? pieces_ : one_piece_;
    const std::uint32_t positions = job.plan.pipeline * chunks;
    if (chunks > 1 && (job.plan.pipeline == 1 || job.model->layers % positions != 0)) return;
    for (const Recompute recompute : {Recompute::none, Recompute::selective, Recompute::full}) {
      job.recompute = recompute;
      if (Status valid = check_job(job); !valid.ok()) {
        note(valid.error());
        return;
      }
      for (const Sharding sharding : {Sharding::none, Sharding::optimizer, Sharding::parameters}) {
        if (sharding != Sharding::none && job.plan.copies() == 1) continue;
        if (sharding == Sharding::parameters && job.plan.pipeline > 1) continue;
        job.plan.sharding = sharding;
        const auto found = estimates_.of(job);
        if (found.ok()) {
          consider(job, *found);
        } else {
          note(found.error());
        }
      }
      job.plan.sharding = Sharding::none;
    }
  }

  void consider(const Job& job, const Estimate& estimate) {
    ++answer_.tried;
    if (fits_device(job, estimate.memory)) {
      candidates_.push_back({job, estimate.step_ns});
      return;
    }
    ++answer_.too_large;
    const double bytes = fullest_bytes(estimate.memory);
    if (!smallest_ || bytes < smallest_bytes_) {
      smallest_ = Candidate{job, estimate.step_ns};
      smallest_bytes_ = bytes;
    }
  }

  /// Keeps the fastest plan of the grid; if none fits, the one that needs least.
  void settle_grid() {
    if (!candidates_.empty()) {
      fitting_.push_back(fastest_candidate());
    } else if (smallest_) {
      unfitting_.push_back(simulated(*smallest_));
    }
    candidates_.clear();
    smallest_.reset();
  }

  PlanChoice fastest_candidate() {
    std::stable_sort(
        candidates_.begin(), candidates_.end(),
        [](const Candidate& a, const Candidate& b) { return a.formula_ns < b.formula_ns; });
    std::optional<PlanChoice> best;
    for (const Candidate& candidate : candidates_) {
      // Formulas leave something out at most: no step is shorter than they say.
      if (best && candidate.formula_ns > best->step_ns) break;
      PlanChoice choice = simulated(candidate);
      if (!best || choice.step_ns < best->step_ns) best = std::move(choice);
    }
    return *std::move(best);
  }

  PlanChoice simulated(const Candidate& candidate) {
    ++answer_.simulated;
    const Result<Estimate> found = estimates_.of(candidate.job, Passes::by_steps);
    FORETRACE_CHECK(found.ok());  // what the formula took is as large
    const Estimate& estimate = *found;
    PlanChoice choice;
    choice.job = candidate.job;
    choice.recompute = candidate.job.recompute;
    choice.step_ns = estimate.step_ns;
    choice.formula_ns = candidate.formula_ns;
    choice.breakdown = estimate.breakdown;
    choice.again_ns = estimate.again_ns;
    choice.fullest_stage = fullest_stage(estimate.memory);
    choice.memory_bytes = estimate.memory[choice.fullest_stage].total();
    choice.figures = job_figures(choice.job, choice.step_ns, amounts_of(choice.job));
    return choice;
  }

  /// Of one reason, the first example stands for all.
  void note(const Error& error) {
    const std::string reason = error.message.substr(0, error.message.find(':'));
    Refusals& alike = refusals_.try_emplace(reason, Refusals{0, error.message}).first->second;
    ++alike.plans;
    ++refused_;
  }

  static Error undivided(const Job& job) {
    return Error{
        ErrorCode::no_match,
        fmt::format("batch: got {:g}, expected a multiple of the {} data-parallel replicas",
                    job.global_batch, job.plan.data)};
  }

  Status rank() {
    std::stable_sort(
        fitting_.begin(), fitting_.end(),
        [](const PlanChoice& a, const PlanChoice& b) { return a.step_ns < b.step_ns; });
    for (std::size_t i = 0; i < fitting_.size(); ++i) {
      if (i < question_.keep) {
        FORETRACE_TRY(add_range(fitting_[i]));
        answer_.best.push_back(fitting_[i]);
      } else {
        answer_.losing.push_back({fitting_[i], true, why_slower(fitting_.front(), fitting_[i])});
      }
    }
    for (const PlanChoice& choice : unfitting_) {
      std::string why =
          fmt::format("out of memory: stage {} needs at least {:.1f} GiB of {:.1f}",
                      choice.fullest_stage, choice.memory_bytes / 0x1p30, memory_ / 0x1p30);
      answer_.losing.push_back({choice, false, std::move(why)});
    }
    return ok_status();
  }

  static Status add_range(PlanChoice& choice) {
    FORETRACE_TRY(const auto found, ranged_step(choice.job));
    const RangedStep range = around(found, choice.step_ns);
    choice.low_ns = range.low_ns;
    choice.high_ns = range.high_ns;
    choice.add_memory_range();
    return ok_status();
  }

  /// The parts of the step that grow most against the best plan.
  static std::string why_slower(const PlanChoice& best, const PlanChoice& other) {
    std::vector<std::pair<double, std::string>> parts;
    const auto part = [&](std::string name, double now, double then) {
      parts.emplace_back(now - then, std::move(name));
    };
    const auto at = [](const StepBreakdown& b, CostSource source) {
      return b.computed[static_cast<std::size_t>(source)];
    };
    part("recomputation", other.again_ns, best.again_ns);
    part("smaller or more products", at(other.breakdown, CostSource::product),
         at(best.breakdown, CostSource::product));
    part("attention", at(other.breakdown, CostSource::attention),
         at(best.breakdown, CostSource::attention));
    part("kernels bound by memory", at(other.breakdown, CostSource::memory),
         at(best.breakdown, CostSource::memory));
    for (std::size_t i = 0; i < axis_count; ++i) {
      part(fmt::format("exposed {} communication", to_string(static_cast<Axis>(i))),
           other.breakdown.exposed[i], best.breakdown.exposed[i]);
    }
    part("bubble", other.breakdown.bubble, best.breakdown.bubble);
    part("optimizer", other.breakdown.optimizer, best.breakdown.optimizer);
    part("waiting for the CPU", other.breakdown.host, best.breakdown.host);
    std::stable_sort(parts.begin(), parts.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    std::string text;
    for (std::size_t i = 0; i < 2 && i < parts.size(); ++i) {
      const double share = parts[i].first / static_cast<double>(best.step_ns);
      if (share < 0.005) break;
      text += fmt::format("{}{} +{:.1f} %", text.empty() ? "" : ", ", parts[i].second, 100 * share);
    }
    return text.empty() ? "many small parts" : text;
  }

  const PlanQuestion& question_;
  PlanAnswer answer_;
  double memory_ = 0;
  const ScheduleInfo* one_piece_ = nullptr;
  const ScheduleInfo* pieces_ = nullptr;
  PlanEstimates estimates_;
  // Of the grid that is being tried.
  std::vector<Candidate> candidates_;
  std::optional<Candidate> smallest_;  // of those that do not fit
  double smallest_bytes_ = 0;
  // Of each grid.
  std::vector<PlanChoice> fitting_;
  std::vector<PlanChoice> unfitting_;
  struct Refusals {
    std::size_t plans = 0;
    std::string example;
  };
  std::map<std::string, Refusals> refusals_;  // by what they are about
  std::size_t refused_ = 0;
};

}  // namespace

void PlanChoice::add_memory_range() {
  const auto range = evidence_range(*job.framework, MeasuredKind::memory,
                                    job.cluster->accelerator.name, job.ranks());
  if (!range) return;
  memory_low = memory_bytes * range->factor.low;
  memory_high = memory_bytes * range->factor.high;
}

void PlanAnswer::rest_on_evidence(const Scenario& scenario) {
  const auto kind = measured_kind(scenario.model->transformer, Pass::training);
  const std::string& device = scenario.cluster->accelerator.name;
  const auto range = evidence_range(*scenario.framework, kind, device, gpus);
  if (!range) return;
  range_basis = range->basis;
  is_measured = !range->is_new;
  measured_frameworks = measured_on(*scenario.framework, kind, device);
}

Result<PlanAnswer> search_plans(const PlanQuestion& question) { return Search(question).run(); }

double usual_batch(const TransformerSpec& model, double length, std::uint32_t gpus) {
  constexpr double samples = 256;  // per device
  if (model.layered != nullptr) return samples * gpus;
  constexpr double tokens = 4.0 * 1024 * 1024;
  const double sequences = std::max(tokens / std::max(length, 1.0), 1.0);
  return std::ceil(sequences / gpus) * gpus;
}

std::string stages_text(const Job& job) {
  std::string text;
  for (const StageShare& share : job.stages) {
    text += fmt::format("{}{}", text.empty() ? "" : "+", share.layers);
    if (!share.has_own_ranks()) continue;
    if (share.data > 1) text += fmt::format(" dp {}", share.data);
    if (share.tensor > 1) text += fmt::format(" tp {}", share.tensor);
    if (share.sharding != Sharding::none) {
      text += fmt::format(" zero {}", static_cast<int>(share.sharding));
    }
    if (share.recompute != Recompute::none) text += fmt::format(" {}", to_string(share.recompute));
  }
  return text;
}

std::string plan_text(const Job& job) {
  const ParallelPlan& plan = job.plan;
  std::string text = job.has_own_ranks() ? fmt::format("{} ranks", job.ranks())
                                         : fmt::format("data {}", plan.data);
  const auto add = [&text](std::string_view name, std::uint32_t size) {
    if (size > 1) text += fmt::format(", {} {}", name, size);
  };
  add("tensor", plan.tensor);
  if (plan.sequence) text += " with sequence";
  add("pipeline", plan.pipeline);
  if (job.chunks > 1) text += fmt::format(" in {} chunks", job.chunks);
  add("context", plan.context);
  add("expert", plan.expert);
  if (job.model->experts.count > 0 && plan.tensor > 1) {
    text += plan.expert_tensor > 1 ? ", divided experts" : ", whole experts";
  }
  switch (plan.sharding) {
    case Sharding::none: break;
    case Sharding::optimizer: text += ", sharded optimizer"; break;
    case Sharding::gradients: text += ", sharded gradients"; break;
    case Sharding::parameters: text += ", sharded parameters"; break;
  }
  if (!job.stages.empty()) text += fmt::format(", stages {}", stages_text(job));
  return text;
}

std::string short_plan_text(const Job& job) {
  const ParallelPlan& plan = job.plan;
  std::string text =
      job.has_own_ranks() ? fmt::format("{}", job.ranks()) : fmt::format("dp {}", plan.data);
  const auto add = [&text](std::string_view name, std::uint32_t size) {
    if (size > 1) text += fmt::format(" {} {}", name, size);
  };
  add("tp", plan.tensor);
  add("pp", plan.pipeline);
  if (job.chunks > 1) text += fmt::format("x{}", job.chunks);
  add("cp", plan.context);
  add("ep", plan.expert);
  if (job.model->experts.count > 0 && plan.tensor > 1) {
    text += fmt::format(" etp {}", plan.expert_tensor);
  }
  if (plan.sharding != Sharding::none) {
    text += fmt::format(" zero {}", static_cast<int>(plan.sharding));
  }
  if (!job.stages.empty()) text += fmt::format(" of {}", stages_text(job));
  return text;
}

}  // namespace foretrace
