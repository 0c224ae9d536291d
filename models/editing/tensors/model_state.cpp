// Parameters are counted where the trace is surest; states are what operators or names tell.
#include "models/editing/tensors/model_state.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "models/editing/kernels/update_phase.h"
#include "models/editing/tensors/gradients.h"
#include "models/editing/tensors/training_pass.h"
#include "sim/core/text.h"

namespace foretrace::editing {
namespace {

constexpr double fp32_bytes = 4;
constexpr OptimizerStates adam = {8, "Adam, by the operators of its update"};
constexpr OptimizerStates momentum = {4, "one state, by the operators of the update"};
constexpr OptimizerStates plain = {0, "no states, by the operators of the update"};

using Device = std::pair<std::int32_t, std::int32_t>;  // rank, number

/// Of every update between one backward pass of a device and its next: all runs of its kernels.
double largest_update(const KernelEditor& editor, const std::vector<TrainingPass>& passes) {
  const TaskGraph& graph = editor.graph();
  std::map<std::tuple<Device, std::ptrdiff_t>, double> numbers;
  for (const Update& update : find_updates(graph, describe_works(graph, editor.accelerator()))) {
    const Lane& stream = graph.context().lanes[index(update.stream)];
    const auto pass = std::count_if(passes.begin(), passes.end(), [&](const TrainingPass& one) {
      const Lane& lane = graph.lane(one.backward.front());
      return lane.rank == stream.rank && lane.device == stream.device &&
             one.backward.front() < update.calls.front();
    });
    numbers[{Device{stream.rank, stream.device}, pass}] += update.parameters;
  }
  double most = 0;
  for (const auto& [of, sum] : numbers) most = std::max(most, sum);
  return most;
}

double recorded_weights(const TaskGraph& graph) {
  std::map<Device, double> weights;
  for (const Tensor& tensor : graph.context().tensors) {
    // Casts of weights go again; weights stay.
    if (tensor.category != TensorCategory::weight || tensor.freed_in != none<TaskId>) continue;
    weights[{tensor.rank, tensor.device}] += static_cast<double>(tensor.bytes) / fp32_bytes;
  }
  double most = 0;
  for (const auto& [device, numbers] : weights) most = std::max(most, numbers);
  return most;
}

/// A weight that two layers share counts twice.
double forward_weights(const KernelEditor& editor, const TrainingPass& pass) {
  double numbers = 0;
  for (const WeightUse& use : weight_uses(editor, pass.forward)) {
    numbers = std::accumulate(use.sizes.begin(), use.sizes.end(), numbers);
  }
  return numbers;
}

/// What the operators of the update tell; bytes below 0: nothing.
OptimizerStates states_by_operators(const KernelEditor& editor) {
  bool scales = false;
  bool adds = false;
  for (const TaskId kernel : editor.kernels()) {
    if (editor.graph().phase(kernel) != Phase::update) continue;
    const std::string_view op = editor.operator_of(kernel);
    const std::string_view name = editor.graph().name(kernel);
    if (contains_any(op, {"addcdiv", "sqrt", "_adam", "_lamb"}) ||
        contains_any(name, {"Adam", "LAMB", "Lamb"})) {
      return adam;
    }
    scales = scales || contains_any(op, {"mul_", "lerp", "_sgd"}) || contains(name, "SGD");
    adds = adds || contains(op, "add");
  }
  return scales ? momentum : adds ? plain : OptimizerStates{-1, {}};
}

/// What "Optimizer.step#AdamW.step" tells; bytes below 0: nothing.
OptimizerStates states_by_name(const TaskGraph& graph) {
  OptimizerStates found = {-1, {}};
  for (const SegmentPart& part : graph.context().segment_parts) {
    const std::string_view label = graph.names()[part.label];
    if (!contains(label, "Optimizer.step")) continue;
    if (contains_any(label, {"Adam", "LAMB", "Lamb"})) return {8, "Adam, by the optimizer's name"};
    if (contains_any(label, {"SGD", "Lion", "Muon", "RMSprop", "Adagrad"})) {
      found = {4, "one state, by the optimizer's name"};
    }
  }
  return found;
}

}  // namespace

ParameterCount parameter_count(const KernelEditor& editor) {
  const std::vector<TrainingPass> passes = find_passes(editor);
  const ParameterCount updated = {largest_update(editor, passes),
                                  "by the shapes of what one update touches"};
  const ParameterCount recorded = {recorded_weights(editor.graph()), "by recorded weights"};
  ParameterCount read = {0, "by the shapes of the weights that a forward pass reads"};
  for (const TrainingPass& pass : passes) {
    read.numbers = std::max(read.numbers, forward_weights(editor, pass));
  }
  const ParameterCount& other = recorded.numbers >= read.numbers ? recorded : read;
  return updated.numbers > 0 && 2 * updated.numbers >= other.numbers ? updated : other;
}

double count_parameters(const KernelEditor& editor) { return parameter_count(editor).numbers; }

OptimizerStates optimizer_states(const KernelEditor& editor) {
  if (const OptimizerStates found = states_by_operators(editor); found.bytes >= 0) return found;
  if (const OptimizerStates found = states_by_name(editor.graph()); found.bytes >= 0) return found;
  return {adam.bytes, "Adam assumed, nothing tells"};
}

}  // namespace foretrace::editing
