// Weights are told from other inputs by the place that an operator's signature gives them.
#include "models/editing/parameters/weight_uses.h"

#include <map>
#include <utility>

#include "models/editing/tensors/kernel_calls.h"
#include "sim/core/text.h"

namespace foretrace::editing {
namespace {

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

}  // namespace

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
  std::map<TaskId, std::size_t> position;
  for (std::size_t i = 0; i < forward.size(); ++i) position.emplace(forward[i], i);
  std::vector<WeightUse> uses;
  const KernelCalls calls(editor, forward);
  for (const std::vector<TaskId>& call : calls.list()) {
    const TaskId first = call.front();
    std::vector<double> sizes = parameter_sizes(editor.operator_of(first), editor.inputs_of(first));
    if (sizes.empty()) continue;
    uses.push_back({position.at(first), position.at(call.back()), std::move(sizes)});
  }
  return uses;
}

FusedTables fused_tables(const KernelEditor& editor, std::span<const TaskId> forward) {
  constexpr double fp32_bytes = 4;
  FusedTables tables;
  const KernelCalls calls(editor, forward);
  for (const std::vector<TaskId>& call : calls.list()) {
    const std::string_view op = editor.operator_of(call.front());
    if (!contains(op, "split_embedding_codegen_lookup")) continue;
    // Weights on the device, and in managed memory: each one long row of numbers.
    const OperatorInputs inputs = editor.inputs_of(call.front());
    double numbers = 0;
    for (const std::size_t input : {0U, 1U}) {
      const Dims* shape = inputs.shape(input);
      if (shape != nullptr && shape->size() == 1) numbers += element_count(*shape);
    }
    // By rows Adagrad keeps a number for each of them: next to nothing.
    const double states = contains(op, "rowwise")   ? 0
                          : contains(op, "adagrad") ? 1
                          : contains(op, "adam")    ? 2
                                                    : 0;
    tables.numbers += numbers;
    tables.state_bytes += states * fp32_bytes * numbers;
  }
  return tables;
}

}  // namespace foretrace::editing
