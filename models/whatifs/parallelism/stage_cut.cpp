#include "models/whatifs/parallelism/stage_cut.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

namespace foretrace::editing {
namespace {

/// The first tensor that the first kernels with recorded inputs read.
double message_bytes(const KernelEditor& editor, const std::vector<TaskId>& forward) {
  for (const TaskId kernel : forward) {
    const OperatorInputs inputs = editor.inputs_of(kernel);
    const Dims* dims = inputs.shape(0);
    if (dims == nullptr || dims->size() < 2) continue;
    return element_count(*dims) * editor.number_bytes(kernel);
  }
  return 0;
}

}  // namespace

namespace {

/// Stages filled one after the other up to `most`, the later ones with at least a layer each.
std::vector<std::size_t> filled(std::span<const std::int64_t> layer_ns, std::size_t stages,
                                std::int64_t most) {
  std::vector<std::size_t> cuts = {0};
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < layer_ns.size(); ++i) {
    const bool needs_rest = layer_ns.size() - i <= stages - cuts.size();
    if (i > 0 && (needs_rest || sum + layer_ns[i] > most)) {
      cuts.push_back(i);
      sum = 0;
    }
    sum += layer_ns[i];
  }
  return cuts;
}

}  // namespace

std::vector<std::size_t> cut_stages(std::span<const std::int64_t> layer_ns, std::size_t stages) {
  // The least time that no stage exceeds, by bisection.
  std::int64_t low = 0;
  std::int64_t high = 0;
  for (const std::int64_t ns : layer_ns) {
    low = std::max(low, ns);
    high += ns;
  }
  while (low < high) {
    const std::int64_t middle = std::midpoint(low, high);
    if (filled(layer_ns, stages, middle).size() <= stages) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return filled(layer_ns, stages, high);
}

Result<std::vector<Stage>> make_stages(const KernelEditor& editor, const PassLayers& layers,
                                       std::size_t count,
                                       const std::function<std::int64_t(TaskId)>& time_of) {
  const std::vector<PassLayer>& list = layers.list;
  if (list.size() < count) {
    return Error{
        ErrorCode::no_match,
        fmt::format("pipeline: got {} stages, expected at most the {} layers of the trace ({})",
                    count, list.size(), to_string(layers.evidence))};
  }
  std::vector<std::int64_t> layer_ns;
  double parameters = 0;
  double trained = 0;
  for (const PassLayer& layer : list) {
    std::int64_t ns = 0;
    for (const TaskId kernel : layer.forward) ns += time_of(kernel);
    for (const TaskId kernel : layer.backward) ns += time_of(kernel);
    layer_ns.push_back(ns);
    parameters += layer.parameters;
    trained += layer.trained;
  }
  const std::vector<std::size_t> cuts = cut_stages(layer_ns, count);
  std::vector<Stage> stages(count);
  for (std::size_t s = 0; s < count; ++s) {
    Stage& stage = stages[s];
    const std::size_t end = s + 1 < count ? cuts[s + 1] : list.size();
    for (std::size_t i = cuts[s]; i < end; ++i) {
      const PassLayer& layer = list[i];
      stage.forward.insert(stage.forward.end(), layer.forward.begin(), layer.forward.end());
      // Backward, later layers come first.
      stage.backward.insert(stage.backward.begin(), layer.backward.begin(), layer.backward.end());
      const double even = 1.0 / static_cast<double>(list.size());
      stage.parameters += parameters > 0 ? layer.parameters / parameters : even;
      stage.updated += trained > 0 ? layer.trained / trained : even;
      stage.kernels_ns += layer_ns[i];
    }
    if (stage.backward.empty()) {
      return Error{ErrorCode::no_match,
                   fmt::format("pipeline: stage {} of {} has no backward kernels, expected fewer "
                               "stages",
                               s, count)};
    }
    if (s == 0) continue;
    stage.message_bytes = message_bytes(editor, stage.forward);
    if (!(stage.message_bytes > 0)) {
      return Error{
          ErrorCode::missing_cost,
          "pipeline: unknown size of activations between layers, expected recorded shapes"};
    }
  }
  return stages;
}

}  // namespace foretrace::editing
