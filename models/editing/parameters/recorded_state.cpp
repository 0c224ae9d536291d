// Parameters are counted where the trace is surest; states are what operators or names tell.
#include "models/editing/parameters/recorded_state.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "models/editing/kernels/update_phase.h"
#include "models/editing/parameters/exchanged_gradients.h"
#include "models/editing/parameters/update_of_pass.h"
#include "models/editing/parameters/weight_uses.h"
#include "sim/core/text.h"
#include "sim/graph/links.h"

namespace foretrace::editing {
namespace {

constexpr double fp32_bytes = 4;
constexpr double half_bytes = 2;
constexpr OptimizerStates adam = {8, "Adam, by the operators of its update"};
constexpr OptimizerStates momentum = {4, "one state, by the operators of the update"};
constexpr OptimizerStates plain = {0, "no states, by the operators of the update"};

struct Updated {
  double numbers = 0;
  std::size_t tensors = 0;
};

/// By device: the largest update of a pass, all runs of its kernels together.
std::map<DeviceOfRank, Updated> largest_updates(const KernelEditor& editor,
                                                const std::vector<TrainingPass>& passes) {
  const TaskGraph& graph = editor.graph();
  const std::vector<UpdateOfPass> updates = updates_of_passes(editor, passes);
  std::map<TaskId, std::size_t> pass_of;  // of kernels; others belong to a pass before the window
  for (std::size_t i = 0; i < updates.size(); ++i) {
    for (const TaskId kernel : updates[i].kernels) pass_of[kernel] = i;
  }
  std::map<std::pair<DeviceOfRank, std::size_t>, Updated> of_passes;
  for (const Update& run : find_updates(graph, describe_works(graph, editor.accelerator()))) {
    const TaskId kernel = launched_by(graph, run.calls.front()).front();
    const auto pass = pass_of.find(kernel);
    const std::size_t at = pass == pass_of.end() ? passes.size() : pass->second;
    Updated& sum = of_passes[{device_of(graph, kernel), at}];
    sum.numbers += run.parameters;
    sum.tensors += run.parameters > 0 ? run.tensors : 0;
  }
  std::map<DeviceOfRank, Updated> most;
  for (const auto& [of, sum] : of_passes) {
    if (sum.numbers > most[of.first].numbers) most[of.first] = sum;
  }
  return most;
}

std::map<DeviceOfRank, double> recorded_weights(const TaskGraph& graph, double bytes_each) {
  std::map<DeviceOfRank, double> weights;
  for (const Tensor& tensor : graph.context().tensors) {
    // Casts of weights go again; weights stay.
    if (tensor.category != TensorCategory::weight || tensor.freed_in != none<TaskId>) continue;
    weights[{graph.rank_of(tensor), tensor.device}] +=
        static_cast<double>(tensor.bytes) / bytes_each;
  }
  return weights;
}

/// A weight that two layers share counts twice.
double forward_weights(const KernelEditor& editor, const TrainingPass& pass) {
  double numbers = 0;
  for (const WeightUse& use : weight_uses(editor, pass.forward)) {
    numbers = std::accumulate(use.sizes.begin(), use.sizes.end(), numbers);
  }
  return numbers;
}

/// What tells the parameters of one device.
struct Evidence {
  Updated updated;
  ExchangedGradients exchanged;
  double recorded = 0;
  double read = 0;  // by a forward pass

  /// Whether exchanges of untold type are as many numbers as shapes say if they are of 2 bytes, and
  /// not if they are of 4.
  [[nodiscard]] bool in_16_bit() const {
    const auto fits = [this](double numbers) {
      constexpr double agreement = 0.05;
      const auto near = [numbers](double other) {
        return std::abs(numbers - other) <= agreement * other;
      };
      return near(updated.numbers) || near(read);
    };
    return !exchanged.typed && !fits(exchanged.numbers) && fits(2 * exchanged.numbers);
  }

  [[nodiscard]] ParameterCount count() const {
    const double other = std::max(recorded, read);
    const double exchanges = exchanged.numbers * (in_16_bit() ? 2 : 1);
    const bool in_exchange = exchanges > updated.numbers;
    const double direct = std::max(exchanges, updated.numbers);
    const double share = exchanged.numbers > 0 ? exchanged.held / exchanged.numbers : 1;
    const std::size_t tensors = updated.tensors;
    if (direct > 0 && 2 * direct >= other) {
      if (!in_exchange)
        return {direct, "by the shapes of what one update touches", direct, tensors};
      return {direct, "by the gradients that ranks exchange for one update", share * direct,
              tensors};
    }
    if (recorded >= read) return {recorded, "by recorded weights", recorded, tensors};
    return {read, "by the shapes of the weights that a forward pass reads", share * read, tensors};
  }
};

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

/// Families of optimizers in names such as "Optimizer.step#AdamW.step".
struct NamedOptimizers {
  bool two_states = false;  // Adam, LAMB
  bool squares = false;     // one, of sums of squares, by operators like Adam's: Adagrad, RMSprop
  bool momentum = false;    // one, of another kind
};
NamedOptimizers named_optimizers(const TaskGraph& graph) {
  NamedOptimizers named;
  for (const SegmentPart& part : graph.context().segment_parts) {
    const std::string_view label = graph.names()[part.label];
    if (!contains(label, "Optimizer.step")) continue;
    if (contains_any(label, {"Adam", "LAMB", "Lamb"})) {
      named.two_states = true;
    } else if (contains_any(label, {"RMSprop", "Adagrad"})) {
      named.squares = true;
    } else if (contains_any(label, {"SGD", "Lion", "Muon"})) {
      named.momentum = true;
    }
  }
  return named;
}

}  // namespace

double recorded_bytes(const KernelEditor& editor) {
  std::int64_t half_ns = 0;
  std::int64_t full_ns = 0;
  for (const TaskId kernel : editor.kernels()) {
    const KernelClass kernel_class = editor.class_of(kernel);
    if (editor.graph().phase(kernel) != Phase::update) continue;
    if (kernel_class != KernelClass::optimizer && kernel_class != KernelClass::elementwise)
      continue;
    const int bytes = bytes_per_number(editor.about(kernel).traits.precision);
    if (bytes == 2) half_ns += editor.graph().duration_ns(kernel);
    if (bytes >= 4) full_ns += editor.graph().duration_ns(kernel);
  }
  return half_ns > full_ns ? half_bytes : fp32_bytes;
}

std::map<DeviceOfRank, ParameterCount> recorded_counts(const KernelEditor& editor) {
  const TaskGraph& graph = editor.graph();
  const double bytes = recorded_bytes(editor);
  const std::vector<TrainingPass> passes = find_passes(editor);
  std::map<DeviceOfRank, Evidence> found;
  for (const auto& [device, updated] : largest_updates(editor, passes)) {
    found[device].updated = updated;
  }
  for (const auto& [device, numbers] : recorded_weights(graph, bytes)) {
    found[device].recorded = numbers;
  }
  for (const auto& [device, given] : exchanged_gradients(graph, passes)) {
    found[device].exchanged = given;
  }
  for (const TrainingPass& pass : passes) {
    double& read = found[device_of(graph, pass.backward.front())].read;
    read = std::max(read, forward_weights(editor, pass));
  }
  std::map<DeviceOfRank, ParameterCount> counts;
  for (const auto& [device, evidence] : found) {
    ParameterCount count = evidence.count();
    count.trained = count.numbers;
    count.updated = count.held;
    if (count.numbers > 0) counts.emplace(device, count);
  }
  return counts;
}

OptimizerStates recorded_states(const KernelEditor& editor) {
  const NamedOptimizers named = named_optimizers(editor.graph());
  if (named.squares && !named.two_states) return {4, "Adagrad or RMSprop, by its name"};
  if (const OptimizerStates found = states_by_operators(editor); found.bytes >= 0) return found;
  if (named.two_states) return {8, "Adam, by the optimizer's name"};
  if (named.momentum) return {4, "one state, by the optimizer's name"};
  return {adam.bytes, "Adam (assumed)"};
}

}  // namespace foretrace::editing
