// Weight-only quantization: weights lie in memory in 8 or 4 bit, products are computed in 16.
//
//   before   [x W: reads W in 16 bit   ][x W': ...]          decode: a few rows, bound by reading W
//   after    [x W: reads W in 4 bit][x W': ...]              bits=4
//   Linear products of at most `rows` rows read their weight in fewer bytes and turn it into 16 bit
//   on the way. Larger products (the prompt) are bound by arithmetic and stay.
//
// memory    weights x bits / 16, with a 16-bit scale and zero point for every `group` of them.
#include <array>
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "models/editing/kernels/kernel_names.h"
#include "models/editing/parameters/weight_tensors.h"
#include "models/whatifs/what_if.h"

namespace foretrace::weight_only_quantization_parts {
namespace {

constexpr ParamInfo bits_param = {.name = "bits",
                                  .type = ParamType::integer,
                                  .unit = "1",
                                  .doc = "Of a stored weight: 8 or 4.",
                                  .minimum = 2,
                                  .maximum = 8};
constexpr ParamInfo group_param = {
    .name = "group",
    .type = ParamType::integer,
    .unit = "1",
    .default_text = "128",
    .doc = "Weights that share a scale and a zero point of 16 bit each.",
    .minimum = 8,
    .maximum = 1e6};
constexpr ParamInfo rows_param = {.name = "rows",
                                  .type = ParamType::integer,
                                  .unit = "1",
                                  .default_text = "16",
                                  .doc = "Products of more rows are bound by arithmetic and stay.",
                                  .minimum = 1,
                                  .maximum = 1e6};
constexpr ParamInfo efficiency_param = {
    .name = "efficiency",
    .unit = "x",
    .default_text = "0.85",
    .doc = "Bandwidth of the new kernels / that of the recorded ones.",
    .minimum = 0.05,
    .maximum = 2,
    .optimistic = "1",
    .pessimistic = "0.6"};

struct Settings {
  double bits = 4;
  double group = 128;
  double rows = 16;
  double efficiency = 1;
};

class Quantizer {
 public:
  Quantizer(const WhatIfInput& scenario, const Settings& settings)
      : editor_(scenario), settings_(settings) {}

  Result<Change> run() {
    for (const TaskId kernel : editor_.kernels()) {
      if (editor_.graph().phase(kernel) == Phase::backward) {
        return Error{ErrorCode::no_match,
                     "the run trains: weights that change cannot be stored in few bits"};
      }
    }
    for (const TaskId kernel : editor_.kernels()) {
      if (editing::is_linear(editor_, kernel)) quantize(kernel);
    }
    if (found_ == 0) {
      return Error{ErrorCode::no_match,
                   "no linear product of known shape, expected inference with record_shapes=True"};
    }
    if (editor_.untouched()) {
      return Error{ErrorCode::no_match,
                   fmt::format("none of {} linear products of known shape has at most {:g} rows "
                               "and is slower than with weights of {:g} bit; {} have more rows",
                               found_, settings_.rows, settings_.bits, large_)};
    }
    TensorEditor tensors(editor_.edit());
    const std::string kept = weights_.edit(tensors);
    return editor_.finish(fmt::format(
        "{} of {} linear products read {:.1f} MB of weights instead of {:.1f} MB: {}; {} of more "
        "than {:g} rows stay{}{}",
        editor_.sums().changed, found_, after_bytes_ * 1e-6, before_bytes_ * 1e-6,
        editor_.sums_text(), large_, settings_.rows, tensors.note(), kept));
  }

 private:
  void quantize(TaskId kernel) {
    const GemmShape& shape = *editor_.about(kernel).amount.gemm;
    const double number = editor_.number_bytes(kernel);
    const double weight = shape.k * shape.n;
    const double scales = weight / settings_.group * 4;
    const double stored = weight * settings_.bits / 8 + scales;
    ++found_;
    if (stored >= weight * number) return;
    // All weights are stored so, also those that products of many rows read.
    weights_.add(kernel, weight * number, stored);
    if (shape.m > settings_.rows) {
      ++large_;
      return;
    }
    const double rest = (shape.m * shape.k + shape.m * shape.n) * number;
    const double share = (stored + rest) / (weight * number + rest) / settings_.efficiency;
    if (share >= 1) return;
    before_bytes_ += weight * number;
    after_bytes_ += stored;
    editor_.set(kernel, editing::moved_share(editor_.graph().duration_ns(kernel), KernelClass::gemm,
                                             share));
  }

  editing::KernelEditor editor_;
  const Settings& settings_;
  editing::WeightTensors weights_{editor_, editing::Fewer::bytes};
  std::size_t found_ = 0;
  std::size_t large_ = 0;
  double before_bytes_ = 0;
  double after_bytes_ = 0;
};

Result<Change> apply(const WhatIfInput& scenario, const ParamValues& params) {
  const Settings settings{.bits = params.number(bits_param),
                          .group = params.number(group_param),
                          .rows = params.number(rows_param),
                          .efficiency = params.number(efficiency_param)};
  return Quantizer(scenario, settings).run();
}

constexpr std::array<std::string_view, 3> assumptions = {
    "A product of few rows takes the time of reading its weight, but for its start and end.",
    "The kernel that reads and widens weights reaches `efficiency` of the bandwidth that the "
    "recorded one does.",
    "The prompt's products widen weights on the way without getting slower."};
constexpr std::array<std::string_view, 3> ignores = {
    "accuracy, and layers that are left in 16 bit for it", "embeddings and attention's caches",
    "a reordering of activations that some methods need"};
constexpr std::array params = {bits_param, group_param, rows_param, efficiency_param};
constexpr std::array<std::string_view, 2> conflicts = {"int8_matmul", "nm_sparsity"};

constexpr std::array trends = {Trend{&bits_param, Larger::is_slower}};

}  // namespace

extern constexpr WhatIfInfo info = {
    .name = "weight_only_quantization",
    .summary = "Store the weights of inference in 8 or 4 bit; compute in 16 bit.",
    .paper =
        "E. Frantar, S. Ashkboos, T. Hoefler, D. Alistarh, GPTQ: Accurate Post-Training "
        "Quantization for Generative Pre-trained Transformers, ICLR 2023; J. Lin et al., AWQ: "
        "Activation-aware Weight Quantization, MLSys 2024",
    .recipe =
        "Every linear product of known shape and at most `rows` rows takes, beyond its start and "
        "end, the share of its time that its bytes have with stored weights, over efficiency.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate = "efficiency: one quantized product beside its 16-bit twin (Marlin, exllama).",
    .identity = {.none_because = "weights are stored in 8 bit at most"},
    .params = params,
    .trends = trends,
    .apply = apply,
    .stage = ApplyStage::precision,
    .conflicts = conflicts};

}  // namespace foretrace::weight_only_quantization_parts
