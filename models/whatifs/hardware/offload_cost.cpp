#include "models/whatifs/hardware/offload_cost.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "models/hardware/execution/exec_model.h"
#include "models/whatifs/hardware/operator_calls.h"
#include "sim/core/whole.h"

namespace foretrace {
namespace {

/// The product that a kernel computes, a convolution as its implicit one.
struct Product {
  GemmShape shape;
  double input_numbers = 0;
  bool has_weights = false;
};

std::optional<Product> convolution_of(const editing::KernelEditor& editor, TaskId kernel) {
  const OperatorInputs inputs = editor.inputs_of(kernel);
  const Dims* const input = inputs.shape(0);
  const Dims* const weight = inputs.shape(1);
  const double flops = editor.about(kernel).amount.flops;
  if (!(flops > 0) || input == nullptr || weight == nullptr || weight->empty()) return std::nullopt;
  const auto outputs = static_cast<double>(weight->front());
  const double numbers = element_count(*weight);
  if (!(outputs > 0) || !(numbers > 0)) return std::nullopt;
  Product product;
  product.shape.n = outputs;
  product.shape.k = numbers / outputs;
  product.shape.m = flops / (2 * numbers);
  product.input_numbers = element_count(*input);
  product.has_weights = true;
  return product;
}

std::optional<Product> product_of(const editing::KernelEditor& editor, TaskId kernel) {
  const KernelDescription& about = editor.about(kernel);
  if (about.amount.gemm) {
    const GemmShape& shape = *about.amount.gemm;
    const bool is_gradient = editor.graph().phase(kernel) == Phase::backward;
    return Product{shape, shape.batch * shape.m * shape.k, shape.batch == 1 && !is_gradient};
  }
  const bool is_forward = editor.graph().phase(kernel) != Phase::backward;
  if (editor.class_of(kernel) == KernelClass::convolution && is_forward) {
    return convolution_of(editor, kernel);
  }
  return std::nullopt;
}

Error no_work(const editing::KernelEditor& editor, TaskId kernel) {
  if (editor.inputs_of(kernel).tensors.empty()) {
    return {ErrorCode::missing_cost,
            fmt::format("{}: the shapes of its inputs are not recorded, expected a trace with "
                        "record_shapes=True",
                        operator_or_kernel(editor, kernel))};
  }
  return {ErrorCode::missing_cost,
          fmt::format("{}: no formula for the work of its {} kernels from the recorded shapes, "
                      "expected patterns without it",
                      operator_or_kernel(editor, kernel), to_string(editor.class_of(kernel)))};
}

Result<OperatorWork> machine_work(const editing::KernelEditor& editor, TaskId kernel,
                                  double number_bytes) {
  OperatorWork work;
  work.number_bytes = number_bytes;
  if (const auto product = product_of(editor, kernel)) {
    const GemmShape& shape = product->shape;
    const double second = shape.batch * shape.k * shape.n * number_bytes;
    work.kind = WorkKind::product;
    work.batch = shape.batch;
    work.m = shape.m, work.n = shape.n, work.k = shape.k;
    work.input_reuse =
        std::max(1.0, shape.batch * shape.m * shape.k / std::max(product->input_numbers, 1.0));
    work.input_bytes = product->input_numbers * number_bytes + (product->has_weights ? 0 : second);
    work.weight_bytes = product->has_weights ? second : 0;
    work.output_bytes = shape.batch * shape.m * shape.n * number_bytes;
    return work;
  }
  const WorkAmount& amount = editor.about(kernel).amount;
  if (multiplies(editor.class_of(kernel)) || amount.numbers < 0 || amount.output < 0) {
    return no_work(editor, kernel);
  }
  work.kind = WorkKind::vector;
  work.numbers = amount.output;
  work.output_bytes = std::min(amount.output, amount.numbers) * number_bytes;
  work.input_bytes = amount.numbers * number_bytes - work.output_bytes;
  return work;
}

Result<Cost> machine_cost(const Accelerator& device, Precision precision,
                          const OperatorWork& work) {
  const double peak = device.flops(precision);
  if (work.kind == WorkKind::product && !(peak > 0)) {
    return Error{ErrorCode::unsupported,
                 fmt::format("{} has no units for products in {}, expected another precision",
                             device.name, to_string(precision))};
  }
  const ExecDevice machine{device.memory_bandwidth * 1e-9, device.vector_fp32_flops * 1e-9,
                           peak / 2 * 1e-9, static_cast<double>(device.memory_bytes)};
  const double ns = device.exec_model->time(machine, {}, work).total();
  return Cost{to_whole(std::min(ns, 1e17)), device.exec_model->machine().provenance, 0.8F, 1.25F};
}

}  // namespace

Result<OffloadWork> offload_work(const editing::KernelEditor& editor, TaskId kernel,
                                 const Accelerator& device, Precision precision) {
  const KernelDescription& about = editor.about(kernel);
  const Precision recorded =
      about.traits.precision == Precision::unknown ? Precision::fp32 : about.traits.precision;
  const Precision there = precision == Precision::unknown ? recorded : precision;
  FORETRACE_TRY(auto work, machine_work(editor, kernel, std::max(1, bytes_per_number(there))));
  FORETRACE_TRY(auto cost, device.exec_model != nullptr
                               ? machine_cost(device, there, work)
                               : roofline_cost(about, {&device, there, 1},
                                               operator_or_kernel(editor, kernel)));
  // Numbers cross the link as they are recorded.
  const double crossing =
      static_cast<double>(std::max(1, bytes_per_number(recorded))) / work.number_bytes;
  const auto product = product_of(editor, kernel);
  const double largest = product ? product->input_numbers : about.amount.output;
  const double first = std::min(largest * work.number_bytes, work.input_bytes);
  return OffloadWork{cost, first * crossing, (work.input_bytes - first) * crossing,
                     work.output_bytes * crossing};
}

}  // namespace foretrace
