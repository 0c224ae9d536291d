#include "models/whatifs/parallelism/stage_cut.h"

#include <algorithm>
#include <limits>

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

std::vector<std::size_t> cut_stages(std::span<const std::int64_t> layer_ns, std::size_t stages) {
  const std::size_t layers = layer_ns.size();
  std::vector<std::int64_t> until(layers + 1, 0);  // time of all layers before
  for (std::size_t i = 0; i < layers; ++i) until[i + 1] = until[i] + layer_ns[i];
  constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
  // slowest[s][i]: of the first i layers in s stages; first[s][i]: where its last stage begins.
  std::vector<std::vector<std::int64_t>> slowest(stages + 1,
                                                 std::vector<std::int64_t>(layers + 1, never));
  std::vector<std::vector<std::size_t>> first(stages + 1, std::vector<std::size_t>(layers + 1, 0));
  slowest[0][0] = 0;
  for (std::size_t s = 1; s <= stages; ++s) {
    for (std::size_t i = s; i <= layers; ++i) {
      for (std::size_t begin = s - 1; begin < i; ++begin) {
        if (slowest[s - 1][begin] == never) continue;
        const std::int64_t now = std::max(slowest[s - 1][begin], until[i] - until[begin]);
        if (now >= slowest[s][i]) continue;
        slowest[s][i] = now;
        first[s][i] = begin;
      }
    }
  }
  std::vector<std::size_t> cuts(stages);
  std::size_t end = layers;
  for (std::size_t s = stages; s > 0; --s) cuts[s - 1] = end = first[s][end];
  return cuts;
}

Result<std::vector<Stage>> make_stages(const KernelEditor& editor, const PassLayers& layers,
                                       std::size_t count,
                                       const std::function<std::int64_t(TaskId)>& time_of) {
  const std::vector<PassLayer>& list = layers.list;
  if (list.size() < count) {
    return Error{ErrorCode::no_match,
                 fmt::format("pipeline: got {} stages, expected at most the {} layers that the "
                             "trace tells ({})",
                             count, list.size(), to_string(layers.evidence))};
  }
  std::vector<std::int64_t> layer_ns;
  double parameters = 0;
  for (const PassLayer& layer : list) {
    std::int64_t ns = 0;
    for (const TaskId kernel : layer.forward) ns += time_of(kernel);
    for (const TaskId kernel : layer.backward) ns += time_of(kernel);
    layer_ns.push_back(ns);
    parameters += layer.parameters;
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
      stage.parameters +=
          parameters > 0 ? layer.parameters / parameters : 1.0 / static_cast<double>(list.size());
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
      return Error{ErrorCode::missing_cost,
                   "pipeline: the trace does not say how large activations between layers are, "
                   "expected recorded shapes"};
    }
  }
  return stages;
}

}  // namespace foretrace::editing
