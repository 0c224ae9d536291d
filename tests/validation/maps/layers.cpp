#include "tests/validation/maps/layers.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "models/jobs/program/estimate.h"

namespace foretrace::validation {
namespace {

KernelTimes kernel_times(const Scenario& scenario) {
  return {*scenario.cluster, *scenario.framework, scenario.job.precisions};
}

}  // namespace

Figure layer_time(const Scenario& scenario, bool forward, bool backward) {
  const JobBlocks blocks = build_blocks(scenario.job);
  const auto seconds = [&](const SourceScale& scale) {
    for (const BlockTimes& block : time_blocks(scenario.job, blocks, scale)) {
      if (block.role != BlockRole::layer) continue;
      return ((forward ? block.forward.total : 0) + (backward ? block.backward.total : 0)) * 1e-9;
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
  return {value, value - std::sqrt(below), value + std::sqrt(above)};
}

Figure operators_time(const Scenario& scenario, std::span<const std::string> names) {
  const KernelTimes kernels = kernel_times(scenario);
  const JobBlocks blocks = build_blocks(scenario.job);
  const auto layer =
      std::find_if(blocks.blocks.begin(), blocks.blocks.end(),
                   [](const RankBlock& block) { return block.role == BlockRole::layer; });
  Figure time;
  if (layer == blocks.blocks.end()) return time;
  for (const std::string& name : names) {
    const auto& actions = layer->program.forward;
    // Both exits of a layer are alike.
    const auto action = std::find_if(actions.begin(), actions.end(),
                                     [&name](const Action& one) { return one.name == name; });
    if (action == actions.end()) continue;
    const Ranged spread = kernels.spread(action->source);
    const double seconds = action->ns * 1e-9;
    time = {time.value + seconds, time.low + seconds * spread.low,
            time.high + seconds * spread.high};
  }
  return time;
}

LayersMemory layers_memory(const Scenario& scenario) {
  const Job& job = scenario.job;
  const JobBlocks blocks = build_blocks(job);
  std::vector<BlockTimes> times = time_blocks(job, blocks, no_scale());
  for (BlockTimes& block : times) {
    if (block.role == BlockRole::layer) continue;
    block.dense_weights = block.kept_bytes = block.working_bytes = 0;
  }
  const auto positions = partition(blocks.order, times, layers_by_position(job));
  const StageMemory first = stage_memory(job, times, positions, 0).front();
  return {(first.weights + first.gradients + first.optimizer) / gib, first.activations / gib};
}

Result<double> forward_share(const Scenario& scenario) {
  const Job& job = scenario.job;
  const JobBlocks blocks = build_blocks(job);
  FORETRACE_TRY(const auto parts,
                step_parts(job, blocks, time_blocks(job, blocks, no_scale()), no_scale()));
  const double forward = parts.forward.front().total;
  return forward / (forward + parts.backward.front().total);
}

}  // namespace foretrace::validation
