// LLM.int8(): linear layers multiply in int8, but for the few columns with outliers.
//
//   before   [linear fp16]
//   after    [row maxima, quantize][int8 product][fp16 product of outliers][dequantize, add]
//   Only products with a recorded or derived shape, and only in runs that do not train.
//
// memory    weights of these layers take 1 byte per number (outlier rows 2 more), recorded ones as
//           long as one step reads each once.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "models/editing/kernels/kernel_names.h"
#include "models/editing/kernels/recorded_accelerator.h"
#include "models/editing/parameters/weight_tensors.h"
#include "models/editing/tensors/training_pass.h"
#include "models/whatifs/what_if.h"
#include "sim/core/whole.h"

namespace foretrace::int8_matmul_parts {
namespace {

constexpr ParamInfo outliers_param = {
    .name = "outliers",
    .unit = "1",
    .default_text = "0.001",
    .doc = "Share of the input columns that stay in fp16; 0 leaves their product out.",
    .minimum = 0,
    .maximum = 1};
constexpr ParamInfo least_columns_param = {.name = "least_columns",
                                           .unit = "1",
                                           .default_text = "512",
                                           .doc = "Layers with fewer inputs stay as they are.",
                                           .minimum = 1,
                                           .maximum = 1e9};
constexpr ParamInfo host_param = {.name = "host",
                                  .type = ParamType::time,
                                  .unit = "us",
                                  .default_text = "10 us",
                                  .doc = "Host time of each added kernel before its launch call.",
                                  .minimum = 0,
                                  .maximum = 1e9,
                                  .optimistic = "3 us",
                                  .pessimistic = "20 us"};

class Int8 {
 public:
  Int8(const WhatIfInput& scenario, double outliers, std::int64_t host_ns)
      : editor_(scenario), outliers_(outliers), host_ns_(host_ns) {}

  Result<Change> run(double least_columns) {
    if (editing::trains(editor_.graph())) {
      return Error{ErrorCode::no_match,
                   "the run trains (it has kernels of a backward pass or an update): the method is "
                   "for inference, gradients of int8 products are not defined"};
    }
    for (const TaskId kernel : editor_.kernels()) {
      const Phase phase = editor_.graph().phase(kernel);
      if (phase == Phase::backward || phase == Phase::update) continue;
      if (!editing::is_linear(editor_, kernel)) continue;
      const GemmShape& shape = *editor_.about(kernel).amount.gemm;
      const Precision precision = editor_.about(kernel).traits.precision;
      if (shape.k < least_columns || precision == Precision::int8 ||
          bytes_per_number(precision) == 0 || !editor_.about(kernel).traits.compute_bound) {
        continue;
      }
      FORETRACE_TRY(replace(kernel, shape));
    }
    if (editor_.untouched()) {
      return Error{
          ErrorCode::no_match,
          "no linear product of known shape in forward or inference, expected a trace with "
          "record_shapes=True"};
    }
    TensorEditor tensors(editor_.edit());
    const std::string kept = weights_.edit(tensors);
    return editor_.finish(
        fmt::format("{} products in int8, {} kernels around them: {}; weights of "
                    "these calls {:.0f} MB -> {:.0f} MB{}{}",
                    editor_.sums().changed, editor_.sums().added, editor_.sums_text(),
                    weights_before_ * 1e-6, weights_after_ * 1e-6, tensors.note(), kept));
  }

 private:
  Status replace(TaskId kernel, const GemmShape& shape) {
    const Setting from{editor_.accelerator(), editor_.about(kernel).traits.precision, 1};
    const Setting to{editor_.accelerator(), Precision::int8, 1};
    const double bytes = editor_.number_bytes(kernel);
    editor_.set(kernel,
                scaled_cost(editor_.graph().duration_ns(kernel), editor_.about(kernel), from, to));
    editor_.describe(kernel, 0,
                     [&] { return editing::lowered_work(editor_, kernel, Precision::int8); });
    // Reads the activations for their row maxima and again to write them in one byte.
    auto quantize =
        editor_.moving_cost(shape.m * shape.k * (2 * bytes + 1), KernelClass::reduction);
    // Reads the 32-bit sums, and reads and writes 16-bit results.
    auto dequantize =
        editor_.moving_cost(shape.m * shape.n * (4 + 2 + 2), KernelClass::elementwise);
    FORETRACE_TRY(quantize);
    FORETRACE_TRY(dequantize);
    editor_.add(kernel, Place::before,
                {"quantize rows to int8",
                 editing::reducing_work(2 * shape.m * shape.k, shape.m * shape.k, from.precision),
                 *quantize, host_ns_});
    if (outliers_ > 0) {
      const GemmShape few{1, shape.m, shape.n, std::max(1.0, std::ceil(shape.k * outliers_))};
      const double ns = gemm_ns(*editor_.accelerator(), Precision::fp16, few);
      if (!(ns > 0)) return missing_cost("the fp16 product of outliers");
      const Spread spread = class_spread(KernelClass::gemm);
      const Cost cost{to_whole(ns), Provenance::roofline, static_cast<float>(spread.low),
                      static_cast<float>(spread.high)};
      editor_.add(kernel, Place::after,
                  {"product of outlier columns", editing::plain_product_work(few, Precision::fp16),
                   cost, host_ns_});
    }
    editor_.add(kernel, Place::after,
                {"dequantize and add",
                 editing::moving_work(3 * shape.m * shape.n, shape.m * shape.n, Precision::fp16),
                 *dequantize, host_ns_});
    const double weights = shape.k * shape.n;
    weights_before_ += weights * bytes;
    weights_after_ += weights * (1 + 2 * outliers_);
    weights_.add(kernel, weights * bytes, weights * std::min(bytes, 1 + 2 * outliers_));
    return ok_status();
  }

  editing::KernelEditor editor_;
  double outliers_ = 0;
  std::int64_t host_ns_ = 0;
  double weights_before_ = 0;
  double weights_after_ = 0;
  editing::WeightTensors weights_{editor_, editing::Fewer::bytes};
};

Result<Change> apply(const WhatIfInput& scenario, const ParamValues& params) {
  if (scenario.graph.size() == 0) return Error{ErrorCode::no_match, "no linear product"};
  FORETRACE_TRY(auto found, editing::recorded_accelerator(
                                scenario, params.text(editing::recorded_accelerator_param)));
  if (found->flops(Precision::int8) <= 0) {
    return Error{ErrorCode::unsupported, fmt::format("{} has no int8 units", found->name)};
  }
  return Int8({scenario.graph, found, scenario.catalogue}, params.number(outliers_param),
              params.integer(host_param))
      .run(params.number(least_columns_param));
}

constexpr std::array<std::string_view, 4> assumptions = {
    "Every linear layer of an inference run with at least least_columns inputs is replaced; "
    "attention stays. A run that trains is refused.",
    "The int8 product takes the measured time x its model time / that of the recorded precision.",
    "Activations are read twice to be quantized, 32-bit sums are read once to be scaled and added.",
    "A share `outliers` of the columns is multiplied in fp16; its cost follows the model of "
    "tiles."};
constexpr std::array<std::string_view, 3> ignores = {
    "weights that are converted between layouts, and bias kernels",
    "finding and gathering the outlier columns", "accuracy"};
constexpr std::array params = {outliers_param, least_columns_param, host_param,
                               editing::recorded_accelerator_param};
constexpr std::array<std::string_view, 1> conflicts = {"mixed_precision"};

constexpr std::array trends = {Trend{&outliers_param, Larger::is_slower}};

}  // namespace

extern constexpr WhatIfInfo info = {
    .name = "int8_matmul",
    .summary = "Multiply linear layers in int8, outlier columns in fp16.",
    .paper =
        "T. Dettmers, M. Lewis, Y. Belkada, L. Zettlemoyer, LLM.int8(): 8-bit Matrix "
        "Multiplication for Transformers at Scale, NeurIPS 2022",
    .recipe =
        "Every linear product of known shape in forward or inference takes the time of the "
        "int8 product, and gets a kernel that quantizes before it, a small fp16 product and "
        "a kernel that dequantizes and adds after it, each with its launch.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate =
        "outliers: share of feature columns beyond the threshold; host: dispatch time of "
        "an operator in the trace.",
    .identity = {.none_because = "inputs are quantized, also where all columns stay in 16 bit"},
    .params = params,
    .trends = trends,
    .apply = apply,
    .stage = ApplyStage::precision,
    .conflicts = conflicts};

}  // namespace foretrace::int8_matmul_parts
