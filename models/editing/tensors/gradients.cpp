// Gradients are searched where the trace is surest: in kernels that accumulate them, then in the
// weights of forward operators, then in what the optimizer updates.
#include "models/editing/tensors/gradients.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "sim/core/text.h"

namespace foretrace::editing {
namespace {

/// Tensors of a model whose sizes are not known one by one.
constexpr std::size_t unknown_tensors = 64;
/// Kernels that accumulate are believed if they add up to what forward operators read, or to what
/// the optimizer updates, within this share.
constexpr double agreement = 0.02;

bool is_norm(std::string_view op) { return contains(op, "norm") || contains(op, "Norm"); }

/// The first two one-dimensional inputs of equal size: scale and bias.
std::vector<double> norm_parameters(const OperatorInputs& inputs) {
  std::vector<double> sizes;
  for (std::size_t i = 1; i < inputs.tensors.size() && sizes.size() < 2; ++i) {
    const Dims* shape = inputs.shape(i);
    if (shape == nullptr || shape->size() != 1) continue;
    if (!sizes.empty() && sizes.front() != element_count(*shape)) break;
    sizes.push_back(element_count(*shape));
  }
  return sizes;
}

std::vector<double> convolution_parameters(const OperatorInputs& inputs) {
  const Dims* weight = inputs.shape(1);
  if (weight == nullptr || weight->size() < 3) return {};
  std::vector<double> sizes = {element_count(*weight)};
  const Dims* bias = inputs.shape(2);
  if (bias != nullptr && bias->size() == 1) sizes.push_back(element_count(*bias));
  return sizes;
}

/// addmm(bias, input, weight), linear(input, weight, bias), mm(input, weight).
std::vector<double> product_parameters(std::string_view op, const OperatorInputs& inputs) {
  const bool bias_first = contains(op, "addmm");
  const Dims* weight = inputs.shape(bias_first ? 2 : 1);
  const Dims* bias = bias_first ? inputs.shape(0) : inputs.shape(2);
  if (weight == nullptr || weight->size() != 2) return {};
  std::vector<double> sizes = {element_count(*weight)};
  if (bias != nullptr && bias->size() == 1) sizes.push_back(element_count(*bias));
  return sizes;
}

/// A second kernel of the same call of an operator. Products in a row are calls of their own.
bool is_again(const KernelEditor& editor, TaskId kernel, TaskId before) {
  if (editor.class_of(kernel) == KernelClass::gemm) return false;
  const TaskGraph& graph = editor.graph();
  const Work& one = graph.work(kernel);
  const Work& other = graph.work(before);
  return one.operator_name == other.operator_name && one.shapes == other.shapes &&
         graph.names()[one.shapes].size() > 2;
}

class Finder {
 public:
  Finder(const KernelEditor& editor, const TrainingPass& pass)
      : editor_(editor), graph_(editor.graph()), pass_(pass) {
    ends_.reserve(pass.backward.size());
    for (const TaskId kernel : pass.backward) {
      backward_ns_ += static_cast<double>(graph_.duration_ns(kernel));
      ends_.push_back(backward_ns_);
    }
  }

  [[nodiscard]] Gradients accumulated() const {
    Gradients found{{}, GradientEvidence::accumulated};
    for (const TaskId kernel : pass_.backward) {
      if (editor_.operator_of(kernel) != "aten::add_") continue;
      const OperatorInputs inputs = editor_.inputs_of(kernel);
      const Dims* to = inputs.shape(0);
      const Dims* what = inputs.shape(1);
      if (to == nullptr || what == nullptr || *to != *what || to->empty()) continue;
      const TaskId ready = with_call(kernel);
      if (ready != none<TaskId>) found.list.push_back({element_count(*to), ready});
    }
    return found;
  }

  [[nodiscard]] Gradients weights() const {
    Gradients found{{}, GradientEvidence::weights};
    double forward_ns = 0;
    for (const TaskId kernel : pass_.forward) {
      forward_ns += static_cast<double>(graph_.duration_ns(kernel));
    }
    const std::vector<WeightUse> uses = weight_uses(editor_, pass_.forward);
    auto use = uses.begin();
    double before = 0;
    for (std::size_t i = 0; i < pass_.forward.size() && use != uses.end(); ++i) {
      const double from = before;
      before += static_cast<double>(graph_.duration_ns(pass_.forward[i]));
      if (use->kernel != i) continue;
      // The backward pass undoes the forward one, with the same share of its time for each kernel.
      const double share = forward_ns > 0 ? (forward_ns - from) / forward_ns : 1;
      const TaskId ready = kernel_at(share);
      for (const double size : use->sizes) found.list.push_back({size, ready});
      ++use;
    }
    // What comes first in the forward pass is ready last.
    std::reverse(found.list.begin(), found.list.end());
    return found;
  }

  [[nodiscard]] Gradients spread(double numbers, std::size_t tensors,
                                 GradientEvidence evidence) const {
    Gradients found{{}, evidence};
    for (std::size_t i = 1; i <= tensors; ++i) {
      const double share = static_cast<double>(i) / static_cast<double>(tensors);
      found.list.push_back({numbers / static_cast<double>(tensors), kernel_at(share)});
    }
    return found;
  }

 private:
  /// The kernel itself, or the next of the backward pass that has a call of its own.
  [[nodiscard]] TaskId with_call(TaskId kernel) const {
    auto at = std::lower_bound(pass_.backward.begin(), pass_.backward.end(), kernel);
    for (; at != pass_.backward.end(); ++at) {
      if (editor_.own_call(*at) != none<TaskId>) return *at;
    }
    for (std::size_t i = pass_.backward.size(); i-- > 0;) {
      if (editor_.own_call(pass_.backward[i]) != none<TaskId>) return pass_.backward[i];
    }
    return pass_.backward.back();
  }
  /// The backward kernel that ends this share of the pass.
  [[nodiscard]] TaskId kernel_at(double share) const {
    const double until = share * backward_ns_ * (1 - 1e-12);
    const auto at = std::lower_bound(ends_.begin(), ends_.end(), until);
    const std::size_t i = std::min(static_cast<std::size_t>(at - ends_.begin()), ends_.size() - 1);
    return with_call(pass_.backward[i]);
  }

  const KernelEditor& editor_;
  const TaskGraph& graph_;
  const TrainingPass& pass_;
  std::vector<double> ends_;  // of backward kernels, in device time
  double backward_ns_ = 0;
};

bool agree(double a, double b) { return b > 0 && std::abs(a / b - 1) < agreement; }

}  // namespace

std::string_view to_string(GradientEvidence evidence) {
  switch (evidence) {
    case GradientEvidence::accumulated: return "kernels that accumulate them";
    case GradientEvidence::weights: return "shapes of the weights that the forward pass reads";
    case GradientEvidence::update:
      return "what the optimizer updates, spread over the backward pass";
    case GradientEvidence::given: return "the number given, spread over the backward pass";
  }
  return "";
}

double Gradients::numbers() const {
  double sum = 0;
  for (const Gradient& gradient : list) sum += gradient.numbers;
  return sum;
}

std::vector<double> parameter_sizes(std::string_view operator_name, const OperatorInputs& inputs) {
  if (contains(operator_name, "conv")) return convolution_parameters(inputs);
  if (is_norm(operator_name)) return norm_parameters(inputs);
  if (contains(operator_name, "embedding")) {
    const Dims* table = inputs.shape(0);
    if (table == nullptr || table->size() != 2) return {};
    return {element_count(*table)};
  }
  const bool product = operator_name == "aten::addmm" || operator_name == "aten::mm" ||
                       operator_name == "aten::linear" || operator_name == "aten::matmul";
  return product ? product_parameters(operator_name, inputs) : std::vector<double>{};
}

std::vector<WeightUse> weight_uses(const KernelEditor& editor, std::span<const TaskId> forward) {
  std::vector<WeightUse> uses;
  std::size_t newest = 0;  // last kernel of the newest use: a call may launch several
  for (std::size_t i = 0; i < forward.size(); ++i) {
    const bool follows = !uses.empty() && newest + 1 == i;
    if (follows && is_again(editor, forward[i], forward[newest])) {
      newest = i;
      continue;
    }
    std::vector<double> sizes =
        parameter_sizes(editor.operator_of(forward[i]), editor.inputs_of(forward[i]));
    if (sizes.empty()) continue;
    uses.push_back({i, std::move(sizes)});
    newest = i;
  }
  return uses;
}

GradientFinder::GradientFinder(const KernelEditor& editor)
    : editor_(editor),
      updates_(find_updates(editor.graph(), describe_works(editor.graph(), editor.accelerator()))) {
}

// What the largest update on the device of the pass touches; 0 parameters: not known.
Update GradientFinder::update_of(const TrainingPass& pass) const {
  const Lane& lane = editor_.graph().lane(pass.backward.back());
  const Update* best = nullptr;
  for (const Update& update : updates_) {
    const Lane& stream = editor_.graph().context().lanes[index(update.stream)];
    if (stream.rank != lane.rank || stream.device != lane.device) continue;
    if (best == nullptr || update.parameters > best->parameters) best = &update;
  }
  return best == nullptr ? Update{} : *best;
}

Gradients GradientFinder::of(const TrainingPass& pass, double parameters) const {
  const Finder finder(editor_, pass);
  if (parameters > 0) {
    return finder.spread(parameters, unknown_tensors, GradientEvidence::given);
  }
  Gradients by_weights = finder.weights();
  Gradients accumulated = finder.accumulated();
  const Update update = update_of(pass);
  if (agree(accumulated.numbers(), by_weights.numbers()) ||
      agree(accumulated.numbers(), update.parameters)) {
    return accumulated;
  }
  if (!by_weights.list.empty()) return by_weights;
  if (update.parameters <= 0) return {};
  return finder.spread(update.parameters, std::max<std::size_t>(update.tensors, 1),
                       GradientEvidence::update);
}

}  // namespace foretrace::editing
