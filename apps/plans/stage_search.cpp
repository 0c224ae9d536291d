#include "apps/plans/stage_search.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "apps/plans/plan_search.h"
#include "apps/plans/stage_partition.h"
#include "models/jobs/figures/device_memory.h"
#include "models/jobs/figures/scenario_answer.h"
#include "models/jobs/program/stages.h"
#include "models/jobs/scenario/complete_scenario.h"
#include "sim/core/whole.h"

namespace foretrace {
namespace {

constexpr std::uint32_t most_units = 32;
constexpr std::uint32_t most_passes_of_step = 16384;
constexpr double most_rank_sequences = 64;  // of a micro-batch; samples have no bound
/// Beyond so many nodes groups are whole ones.
constexpr std::uint32_t most_divided_nodes = 4;
/// Partitions per micro-batch whose step is estimated: the least by the bound.
constexpr std::size_t most_estimated = 16;
/// Of stages of their own, and of even ones: what is simulated.
constexpr std::size_t most_simulated = 16;

/// Ways to use the ranks of a stage.
struct Division {
  std::uint32_t data = 1;
  std::uint32_t tensor = 1;
  Recompute recompute = Recompute::none;
  // NOLINTNEXTLINE(modernize-use-nullptr): no pointer is written here
  friend auto operator<=>(const Division&, const Division&) = default;
};

/// Blocks of one division at one micro-batch.
struct DividedBlocks {
  Job job;
  RankProgram program;                ///< without its step
  std::vector<std::uint32_t> layers;  ///< block of each layer
  std::vector<BlockRun> before;       ///< embedding
  std::vector<BlockRun> after;        ///< head

  [[nodiscard]] std::vector<BlockRun> runs(std::uint32_t first, std::uint32_t last) const {
    std::vector<BlockRun> result;
    if (first == 0) result = before;
    for (std::uint32_t layer = first; layer < last; ++layer) {
      if (layer > first && result.back().block == layers[layer]) {
        ++result.back().count;
      } else {
        result.push_back({layers[layer], 1});
      }
    }
    if (last == layers.size()) result.insert(result.end(), after.begin(), after.end());
    return result;
  }
};

DividedBlocks divided_blocks(Job job) {
  DividedBlocks one;
  const RankProgram lowered = lower_blocks(job);
  one.program = timed(job, lowered, settled_scale(job, lowered));
  for (const BlockRun& run : one.program.order) {
    const BlockRole role = (*one.program.blocks)[run.block].role;
    if (role == BlockRole::embedding) one.before.push_back(run);
    if (role == BlockRole::head) one.after.push_back(run);
    if (role == BlockRole::layer) one.layers.insert(one.layers.end(), run.count, run.block);
  }
  one.job = std::move(job);
  return one;
}

/// What a stage of these layers takes of one micro-batch, with its share of what ends the step.
mapping::StageOption option_of(const DividedBlocks& from, const std::vector<BlockRun>& runs,
                               Sharding sharding) {
  Job job = from.job;
  job.plan.sharding = sharding;
  RankProgram program = from.program;
  program.order = runs;
  mapping::StageOption option;
  const auto made = laid_out(job, std::move(program), no_scale());
  if (!made.ok()) return option;  // it takes longer than any plan
  const RankProgram::Stage& stage = made->step.stages.front();
  const auto end = static_cast<double>(stage.gradients + stage.parameters + stage.update);
  StageMemory held = stage_memory(job, *made).front();
  const double activations = std::exchange(held.activations, 0);
  held.buffers += 2 * made->hidden_bytes;
  const PipelineTimes& times = made->step.times;
  option.time =
      static_cast<double>(times.forward[0] + times.backward[0]) + end / job.micro_batches();
  if (!fits_device(job, {&held, 1})) return option;
  // Activations lie in the memory that a device computes in.
  const DeviceMemory memory = device_memories(job, held).front();
  const double room = memory.has > 0 ? memory.has - memory.need : HUGE_VAL;
  if (!(room >= activations)) return option;
  option.in_flight =
      activations > 0
          ? static_cast<std::uint32_t>(std::min<double>(room / activations, most_passes_of_step))
          : most_passes_of_step;
  return option;
}

class StageWalk {
 public:
  explicit StageWalk(const StageQuestion& question) : question_(question) {
    answer_.gpus = question.gpus;
    answer_.global_batch = question.global_batch;
  }
  Result<StageAnswer> run();

 private:
  struct Way {
    Division division;
    Sharding sharding = Sharding::none;
  };
  struct Candidate {
    std::int64_t step_ns = 0;
    double bound = 0;  // 0: stages that are alike
    Scenario scenario;
  };

  Status prepare();
  void list_groups();
  void try_micro_batch(double micro);
  std::vector<mapping::StageOption> options(std::uint32_t first, std::uint32_t last,
                                            std::uint32_t group);
  const DividedBlocks* divided(const Division& division);
  [[nodiscard]] std::uint32_t first_layer(std::uint32_t unit) const;
  [[nodiscard]] static StageShare share_of(const Way& way, std::uint32_t layers);
  void keep(std::vector<StageShare> stages, double bound);
  void keep(const mapping::StagePartition& partition);
  void try_even();
  Status simulate_best();
  Status add_even();
  static Result<StagedPlan> simulated(Scenario scenario, double bound);

  const StageQuestion& question_;
  StageAnswer answer_;
  ScenarioCompletion completion_;
  std::shared_ptr<const Framework> framework_;
  Job base_;
  std::vector<std::uint32_t> groups_;
  std::vector<Way> ways_;  // options are numbered by these
  std::map<Division, std::optional<DividedBlocks>> divided_;
  std::map<std::pair<std::uint32_t, std::vector<std::uint32_t>>, mapping::StageOption> known_;
  std::vector<Candidate> candidates_;
};

std::uint32_t StageWalk::first_layer(std::uint32_t unit) const {
  return static_cast<std::uint32_t>(std::uint64_t{unit} * base_.model->layers / answer_.units);
}

void StageWalk::list_groups() {
  const std::uint32_t node = std::max(base_.cluster->node_accelerators, 1U);
  const bool whole = question_.gpus > node * most_divided_nodes;
  for (std::uint32_t size = 1; !whole && size < node && size <= question_.gpus; size *= 2) {
    groups_.push_back(size);
  }
  // Whole nodes: powers of two, and all of them.
  for (std::uint32_t nodes = 1; nodes * node <= question_.gpus; nodes *= 2) {
    groups_.push_back(nodes * node);
  }
  if (groups_.empty() || groups_.back() != question_.gpus) groups_.push_back(question_.gpus);
  for (const std::uint32_t group : groups_) {
    for (std::uint32_t tensor = 1; tensor <= std::min(group, node); tensor *= 2) {
      if (group % tensor != 0) continue;
      for (const Recompute recompute : {Recompute::none, Recompute::selective, Recompute::full}) {
        // Other models have no attention whose core could be computed again.
        if (base_.has_samples() && recompute == Recompute::selective) continue;
        for (const Sharding sharding :
             {Sharding::none, Sharding::optimizer, Sharding::parameters}) {
          const std::uint32_t data = group / tensor;
          if (data == 1 && sharding != Sharding::none) continue;
          ways_.push_back({{data, tensor, recompute}, sharding});
        }
      }
    }
  }
}

Status StageWalk::prepare() {
  const Scenario& scenario = question_.scenario;
  FORETRACE_TRY(const auto schedule, find_schedule("1f1b"));
  base_ = scenario.job;
  base_.plan = {};
  base_.stages.clear();
  base_.chunks = 1;
  base_.schedule = schedule;
  base_.model = &scenario.model->transformer;
  base_.cluster = scenario.cluster.get();
  framework_ = computing_in(base_.precisions, scenario.framework);
  base_.framework = framework_.get();
  base_.pass = Pass::training;
  base_.global_batch = question_.global_batch;
  answer_.units = std::min(base_.model->layers, most_units);
  if (!base_.model->is_recorded()) {
    FORETRACE_TRY(check_precision(base_.precisions, base_.cluster->accelerator));
  }
  if (question_.gpus > base_.cluster->accelerators()) {
    return Error{ErrorCode::bad_usage,
                 fmt::format("got {} devices, expected at most {}", question_.gpus,
                             accelerators_of(*base_.cluster, question_.gpus))};
  }
  FORETRACE_TRY(check_amounts(base_, amounts_of(base_)));
  list_groups();
  return ok_status();
}

const DividedBlocks* StageWalk::divided(const Division& division) {
  const auto [found, is_new] = divided_.try_emplace(division);
  if (!is_new) return found->second ? &*found->second : nullptr;
  Job job = base_;
  job.plan.data = division.data;
  job.plan.tensor = division.tensor;
  job.plan.sequence = division.tensor > 1;
  job.micro_batch = base_.micro_batch / division.data;
  job.recompute = division.recompute;
  const bool too_many = !job.has_samples() && job.micro_batch > most_rank_sequences;
  const bool is_whole = job.micro_batch >= 1 && job.micro_batch == std::floor(job.micro_batch);
  const bool is_other = job.model->is_recorded() && job.micro_batch != 1;
  if (too_many || is_other || !is_whole || !check_plan(job.plan, *job.model).ok()) return nullptr;
  found->second = divided_blocks(std::move(job));
  return &*found->second;
}

std::vector<mapping::StageOption> StageWalk::options(std::uint32_t first, std::uint32_t last,
                                                     std::uint32_t group) {
  std::vector<mapping::StageOption> result;
  for (std::uint32_t w = 0; w < ways_.size(); ++w) {
    const Way& way = ways_[w];
    if (way.division.data * way.division.tensor != group) continue;
    const DividedBlocks* const blocks = divided(way.division);
    if (blocks == nullptr) continue;
    const std::vector<BlockRun> runs = blocks->runs(first_layer(first), first_layer(last));
    std::vector<std::uint32_t> key;
    for (const BlockRun& run : runs) key.insert(key.end(), {run.block, run.count});
    const auto [found, is_new] = known_.try_emplace({w, std::move(key)});
    if (is_new) {
      found->second = option_of(*blocks, runs, way.sharding);
      found->second.number = w;
      ++answer_.options;
    }
    if (found->second.in_flight > 0) result.push_back(found->second);
  }
  return result;
}

StageShare StageWalk::share_of(const Way& way, std::uint32_t layers) {
  return {layers, way.division.data, way.division.tensor, way.sharding, way.division.recompute};
}

void StageWalk::keep(std::vector<StageShare> stages, double bound) {
  Scenario scenario = question_.scenario;
  scenario.framework = framework_;
  scenario.job = base_;
  scenario.job.plan.pipeline = static_cast<std::uint32_t>(stages.size());
  scenario.job.stages = std::move(stages);
  if (!completion_.complete(scenario).ok()) return;
  const auto found = estimate(scenario.job);
  if (!found.ok() || !fits_device(scenario.job, found->memory)) return;
  candidates_.push_back({found->step_ns, bound, std::move(scenario)});
}

void StageWalk::keep(const mapping::StagePartition& partition) {
  std::vector<StageShare> stages;
  for (const mapping::StageChoice& choice : partition.stages) {
    stages.push_back(share_of(ways_[choice.option.number],
                              first_layer(choice.last) - first_layer(choice.first)));
  }
  keep(std::move(stages), partition.total);
}

// The bound leaves out what stages send and how the ends of their steps overlap: among plans of
// stages that are alike none is left out for it.
void StageWalk::try_even() {
  for (std::uint32_t count = 1; count <= std::min(base_.model->layers, question_.gpus); ++count) {
    if (question_.gpus % count != 0) continue;
    const std::vector<std::uint32_t> layers = even_layers(base_.model->layers, count);
    for (const Way& way : ways_) {
      if (way.division.data * way.division.tensor != question_.gpus / count) continue;
      std::vector<StageShare> stages;
      stages.reserve(layers.size());
      for (const std::uint32_t one : layers) stages.push_back(share_of(way, one));
      keep(std::move(stages), 0);
    }
  }
}

void StageWalk::try_micro_batch(double micro) {
  base_.micro_batch = micro;
  divided_.clear();
  known_.clear();
  mapping::StageProblem problem;
  problem.layers = answer_.units;
  problem.devices = question_.gpus;
  problem.node_devices = std::max(base_.cluster->node_accelerators, 1U);
  problem.groups = groups_;
  problem.micro_batches = base_.micro_batches();
  problem.options = [this](std::uint32_t first, std::uint32_t last, std::uint32_t group) {
    return options(first, last, group);
  };
  std::vector<mapping::StagePartition> partitions = mapping::stage_partitions(problem);
  answer_.partitions += partitions.size();
  std::stable_sort(partitions.begin(), partitions.end(),
                   [](const auto& a, const auto& b) { return a.total < b.total; });
  for (std::size_t i = 0; i < partitions.size() && i < most_estimated; ++i) keep(partitions[i]);
  try_even();
}

Result<StagedPlan> StageWalk::simulated(Scenario scenario, double bound) {
  FORETRACE_TRY(const auto answer, answer_scenario(scenario));
  StagedPlan plan;
  plan.bound_ns = to_whole(bound);
  plan.step_ns = answer.step_ns;
  plan.breakdown = answer.analytic.breakdown;
  plan.memory = answer.analytic.memory;
  plan.fullest = answer.fullest_stage;
  plan.figures = answer.figures;
  const PipelineTimes& times = answer.analytic.times;
  for (std::uint32_t stage = 0; stage < times.shape.stages; ++stage) {
    std::int64_t& ns = plan.stage_ns.emplace_back(0);
    for (std::uint32_t chunk = 0; chunk < times.shape.chunks; ++chunk) {
      const auto at = position_of(*scenario.job.schedule, times.shape, stage, chunk);
      ns += times.forward[at] + times.backward[at];
    }
  }
  plan.scenario = std::move(scenario);
  return plan;
}

// The formula of a schedule is exact for stages that take equal times: what it ranks first is
// simulated, and the simulated steps decide.
Status StageWalk::simulate_best() {
  std::stable_sort(candidates_.begin(), candidates_.end(),
                   [](const auto& a, const auto& b) { return a.step_ns < b.step_ns; });
  std::vector<StagedPlan> plans;
  std::array<std::size_t, 2> simulated_of{};  // stages of their own, and even ones
  for (Candidate& candidate : candidates_) {
    const bool is_even = candidate.bound == 0;
    const auto is_same = [&candidate](const StagedPlan& plan) {
      return plan.scenario.job.stages == candidate.scenario.job.stages &&
             plan.scenario.job.micro_batch == candidate.scenario.job.micro_batch;
    };
    const auto same = std::find_if(plans.begin(), plans.end(), is_same);
    if (same != plans.end()) {
      if (is_even && same->bound_ns > 0) same->is_even = true;
      continue;
    }
    std::size_t& count = simulated_of[is_even ? 1 : 0];
    if (count == std::max(most_simulated, question_.keep)) continue;
    ++count;
    FORETRACE_TRY(auto plan, simulated(std::move(candidate.scenario), candidate.bound));
    plan.is_even = is_even;
    plans.push_back(std::move(plan));
  }
  std::stable_sort(plans.begin(), plans.end(),
                   [](const auto& a, const auto& b) { return a.step_ns < b.step_ns; });
  for (StagedPlan& plan : plans) {
    if (plan.is_even && !answer_.even) answer_.even = plan;
    if (answer_.best.size() < question_.keep) answer_.best.push_back(std::move(plan));
  }
  return ok_status();
}

// Interleaved chunks and other groups, too. No such plan is no mistake.
Status StageWalk::add_even() {
  const auto even = search_plans({question_.scenario, question_.gpus, question_.global_batch, 1});
  if (!even.ok() || even->best.empty()) return ok_status();
  Scenario scenario = question_.scenario;
  scenario.framework = even->framework;
  scenario.job = even->best.front().job;
  for (const auto& model : even->models) {
    if (&model->transformer == scenario.job.model) scenario.model = model;
  }
  FORETRACE_TRY(auto plan, simulated(std::move(scenario), 0));
  plan.is_even = true;
  if (!answer_.even || plan.step_ns < answer_.even->step_ns) answer_.even = std::move(plan);
  return ok_status();
}

Result<StageAnswer> StageWalk::run() {
  FORETRACE_TRY(prepare());
  const double most =
      base_.has_samples() ? question_.global_batch : most_rank_sequences * question_.gpus;
  // NOLINTNEXTLINE(clang-analyzer-security.FloatLoopCounter): powers of two are exact
  for (double micro = 1; micro <= std::min(most, question_.global_batch); micro *= 2) {
    if (std::fmod(question_.global_batch, micro) != 0) continue;
    if (question_.global_batch / micro > most_passes_of_step) continue;
    try_micro_batch(micro);
  }
  FORETRACE_TRY(simulate_best());
  FORETRACE_TRY(add_even());
  return std::move(answer_);
}

}  // namespace

Result<StageAnswer> search_stages(const StageQuestion& question) {
  return StageWalk(question).run();
}

}  // namespace foretrace
