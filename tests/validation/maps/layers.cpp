#include "tests/validation/maps/layers.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "models/jobs/program/estimate.h"

namespace foretrace::validation {
namespace {

KernelTimes kernel_times(const Scenario& scenario) {
  return {*scenario.cluster, *scenario.framework, scenario.job.precisions};
}

}  // namespace

Result<Figure> layer_time(const Scenario& scenario, bool forward, bool backward) {
  FORETRACE_TRY(const auto program, build_program(scenario.job));
  const auto seconds = [&](const SourceScale& scale) {
    const RankProgram scaled = timed(scenario.job, program, scale);
    for (const RankProgram::Block& block : *scaled.blocks) {
      if (block.role != BlockRole::layer) continue;
      return ((forward ? block.forward.time.total : 0) +
              (backward ? block.backward.time.total : 0)) *
             1e-9;
    }
    return 0.0;
  };
  const KernelTimes kernels = kernel_times(scenario);
  const double value = seconds(no_scale());
  double below = 0;
  double above = 0;
  for (const CostSource source : {CostSource::product, CostSource::memory, CostSource::local}) {
    const Ranged spread = kernels.spread(source);
    SourceScale scale = no_scale();
    scale[static_cast<std::size_t>(source)] = spread.low;
    below += std::pow(seconds(scale) - value, 2);
    scale[static_cast<std::size_t>(source)] = spread.high;
    above += std::pow(seconds(scale) - value, 2);
  }
  return Figure{value, value - std::sqrt(below), value + std::sqrt(above)};
}

Result<Figure> operators_time(const Scenario& scenario, std::span<const std::string> names) {
  const KernelTimes kernels = kernel_times(scenario);
  FORETRACE_TRY(const auto program, build_program(scenario.job));
  const auto layer = std::find_if(program.blocks->begin(), program.blocks->end(),
                                  [](const auto& block) { return block.role == BlockRole::layer; });
  Figure time;
  if (layer == program.blocks->end()) return time;
  const std::span<const Action> actions = program.actions_of(layer->forward);
  for (const std::string& name : names) {
    // Both exits of a layer are alike.
    const auto action = std::find_if(actions.begin(), actions.end(),
                                     [&name](const Action& one) { return one.name == name; });
    if (action == actions.end()) continue;
    const Ranged spread = kernels.spread(action->source);
    const double seconds = action->ns * 1e-9;
    // Timed alone, an operator takes as long as the host needs to launch it.
    const bool is_launched = action->type == ActionType::compute;
    const Ranged& host = scenario.framework->host_kernel_ns;
    const double launches = is_launched ? action->kernels * 1e-9 : 0;
    time = {time.value + std::max(seconds, launches * host.typical),
            time.low + std::max(seconds * spread.low, launches * host.low),
            time.high + std::max(seconds * spread.high, launches * host.high)};
  }
  return time;
}

Result<LayersMemory> layers_memory(const Scenario& scenario) {
  const Job& job = scenario.job;
  RankProgram program = lower_blocks(job);
  auto blocks = std::make_shared<std::vector<RankProgram::Block>>(*program.blocks);
  for (RankProgram::Block& block : *blocks) {
    if (block.role == BlockRole::layer) continue;
    block.dense_weights = block.kept_bytes = block.working_bytes = 0;
  }
  program.blocks = std::move(blocks);
  program.hidden_bytes = program.tied_weights = 0;
  FORETRACE_TRY(const auto laid, laid_out(job, std::move(program), no_scale()));
  const StageMemory first = stage_memory(job, laid).front();
  return LayersMemory{(first.weights + first.gradients + first.optimizer) / gib,
                      first.activations / gib};
}

Result<double> forward_share(const Scenario& scenario) {
  FORETRACE_TRY(const auto program, build_program(scenario.job));
  const double forward = program.step.forward.front().total;
  return forward / (forward + program.step.backward.front().total);
}

}  // namespace foretrace::validation
