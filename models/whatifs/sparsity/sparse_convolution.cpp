// Sparse convolutions: pruned filters, or gathered points, multiply only what is there.
//
//   before   [convolution]                        [gather][gemm][scatter] x 27 offsets
//   after    [sparse convolution]                 [gather][gemm    ][scatter] of several offsets
//   filter: convolutions do `density` of their FLOPs at `efficiency` of the rate. points: runs of
//   gather, product and scatter are grouped, and their map moves fewer bytes.
//
// memory    filters x density with 16-bit indices, where convolutions read recorded weights.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "models/editing/kernels/kernel_editor.h"
#include "models/editing/kernels/precision_choice.h"
#include "models/editing/parameters/weight_tensors.h"
#include "models/whatifs/what_if.h"
#include "sim/core/whole.h"

namespace foretrace::sparse_convolution_parts {
namespace {

constexpr ParamInfo mode_param = {
    .name = "mode",
    .type = ParamType::text,
    .default_text = "filter",
    .doc = "filter: pruned weights; points: convolutions over point clouds.",
    .choices = "filter|points"};
constexpr ParamInfo density_param = {.name = "density",
                                     .unit = "1",
                                     .doc = "Share of filter weights that is left (mode=filter).",
                                     .minimum = 0,
                                     .maximum = 1};
constexpr ParamInfo efficiency_param = {
    .name = "efficiency",
    .unit = "x",
    .default_text = "0.3",
    .doc =
        "Rate of the sparse kernel / that of the dense one, for the FLOPs that are "
        "left.",
    .minimum = 0.001,
    .maximum = 2,
    .optimistic = "0.6",
    .pessimistic = "0.15"};
constexpr ParamInfo group_param = {.name = "group",
                                   .type = ParamType::integer,
                                   .unit = "1",
                                   .default_text = "27",
                                   .doc = "Offsets in one group at most (mode=points).",
                                   .minimum = 1,
                                   .maximum = 1000};
constexpr ParamInfo redundant_param = {
    .name = "redundant",
    .unit = "1",
    .default_text = "0.5",
    .doc = "Share of the bytes of gathers and scatters that is not needed (mode=points).",
    .minimum = 0,
    .maximum = 1,
    .optimistic = "0.8",
    .pessimistic = "0"};

// Column of a weight in its row: 16 bit, as long as rows have at most 65,536.
constexpr double index_bytes = 2;

void prune_filters(editing::KernelEditor& editor, editing::WeightTensors& weights, double density,
                   double efficiency) {
  const double factor = density / efficiency;
  for (const TaskId kernel : editor.kernels()) {
    if (editor.class_of(kernel) != KernelClass::convolution) continue;
    const double numbers =
        editing::convolution_weight_numbers(editor.operator_of(kernel), editor.inputs_of(kernel));
    if (numbers > 0 && factor < 1 && editor.graph().phase(kernel) != Phase::backward) {
      const double bytes = editor.number_bytes(kernel);
      weights.add(kernel, numbers * bytes, numbers * density * (bytes + index_bytes));
    }
    editor.set(kernel, editing::moved_share(editor.graph().duration_ns(kernel),
                                            KernelClass::convolution, std::min(1.0, factor)));
  }
}

// gather, product, scatter of one offset of the filter, next to each other.
struct Triple {
  std::array<TaskId, 3> kernels{};
};

class Grouper {
 public:
  Grouper(editing::KernelEditor& editor, std::size_t group, double redundant)
      : editor_(editor), group_(group), redundant_(redundant) {}

  void run() {
    std::vector<Triple> open;
    TaskId end = none<TaskId>;
    for (const TaskId kernel : editor_.kernels()) {
      Triple triple;
      if (!starts_triple(kernel, triple)) continue;
      if (!open.empty() &&
          (next_on_lane(editor_.graph(), end) != kernel || open.size() == group_)) {
        close(open);
      }
      open.push_back(triple);
      end = triple.kernels[2];
    }
    close(open);
  }

 private:
  bool starts_triple(TaskId kernel, Triple& triple) const {
    constexpr std::array wanted = {KernelClass::gather, KernelClass::gemm, KernelClass::gather};
    TaskId task = kernel;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (task == none<TaskId> || editor_.graph().kind(task) != TaskKind::kernel ||
          editor_.class_of(task) != wanted[i]) {
        return false;
      }
      triple.kernels[i] = task;
      task = next_on_lane(editor_.graph(), task);
    }
    return true;
  }

  // One gather, one product over all rows, one scatter.
  void close(std::vector<Triple>& triples) {
    if (triples.size() > 1) {
      for (std::size_t part = 0; part < 3; ++part) {
        std::vector<TaskId> kernels;
        std::int64_t sum = 0;
        for (const Triple& triple : triples) {
          kernels.push_back(triple.kernels[part]);
          sum += editor_.graph().duration_ns(kernels.back());
        }
        constexpr std::array names = {"grouped gather", "grouped product", "grouped scatter"};
        const Cost cost = part == 1
                              ? product_cost(kernels, sum)
                              : editing::moved_share(sum, KernelClass::gather, 1 - redundant_);
        editor_.replace(kernels, {names[part], editing::fused_work(editor_, kernels), cost});
      }
    }
    triples.clear();
  }

  // Nothing tells what it gains: as long as its parts together, which is a guess.
  static Cost as_long(std::int64_t sum) {
    const Spread spread = class_spread(KernelClass::gemm);
    return {sum, Provenance::scaled, static_cast<float>(spread.low),
            static_cast<float>(spread.high)};
  }

  [[nodiscard]] Cost product_cost(const std::vector<TaskId>& kernels, std::int64_t sum) const {
    GemmShape all;
    double parts = 0;
    const Precision precision = editor_.about(kernels.front()).traits.precision;
    for (const TaskId kernel : kernels) {
      const auto& shape = editor_.about(kernel).amount.gemm;
      if (!shape || editor_.accelerator() == nullptr) {
        return as_long(sum);
      }
      parts += gemm_ns(*editor_.accelerator(), precision, *shape);
      all = {1, all.m + shape->m, shape->n, shape->k};
    }
    const double whole = gemm_ns(*editor_.accelerator(), precision, all);
    if (!(parts > 0) || !(whole > 0)) return as_long(sum);
    return {to_whole(static_cast<double>(sum) * std::min(1.0, whole / parts)), Provenance::scaled,
            0.85F, 1.2F};
  }

  editing::KernelEditor& editor_;
  std::size_t group_ = 1;
  double redundant_ = 0;
};

Result<Change> apply(const WhatIfInput& scenario, const ParamValues& params) {
  editing::KernelEditor editor(scenario);
  editing::WeightTensors weights(editor, editing::Fewer::bytes);
  if (params.text(mode_param) == "filter") {
    prune_filters(editor, weights, params.number(density_param), params.number(efficiency_param));
  } else {
    Grouper(editor, static_cast<std::size_t>(params.integer(group_param)),
            params.number(redundant_param))
        .run();
  }
  if (editor.untouched()) {
    return Error{ErrorCode::no_match,
                 params.text(mode_param) == "filter"
                     ? "no convolution"
                     : "no two runs of gather, product and scatter next to each other"};
  }
  TensorEditor tensors(editor.edit());
  const std::string kept = weights.edit(tensors);
  return editor.finish(editor.sums_text() + tensors.note() + kept);
}

constexpr std::array<std::string_view, 3> assumptions = {
    "A sparse kernel does the FLOPs of the weights that are left at `efficiency` of "
    "the dense rate; where that is slower the dense one stays.",
    "Products of several offsets can be batched: their rows add up.",
    "The share `redundant` of the bytes of maps, gathers and scatters is not "
    "needed."};
constexpr std::array<std::string_view, 3> ignores = {
    "building the map of neighbours", "choosing the dataflow per layer by measurement",
    "accuracy of pruned filters"};
constexpr std::array params = {mode_param, density_param, efficiency_param, group_param,
                               redundant_param};

constexpr std::array trends = {Trend{&density_param, Larger::is_slower}};

}  // namespace

extern constexpr WhatIfInfo info = {
    .name = "sparse_convolution",
    .summary = "Convolve only over the filter weights or points that exist.",
    .paper =
        "J. Won, C. Mendis, J. Emer, S. Amarasinghe, Unified Convolution Framework, "
        "MLSys 2023; K. Hong et al., Exploiting Hardware Utilization and Adaptive "
        "Dataflow for Efficient Sparse Convolution in 3D Point Clouds, MLSys 2023",
    .recipe =
        "filter: every convolution takes min(1, density / efficiency) of its time "
        "beyond the ramp-up. points: up to `group` consecutive triples of gather, "
        "product and scatter become one; its products take the model time of the summed "
        "rows / the sum of model times, gathers and scatters (1 - redundant) of their "
        "bytes.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate =
        "efficiency: one sparse convolution beside its dense twin; redundant: bytes by "
        "a profiler.",
    .identity = {.setting = "density=1,efficiency=1"},
    .params = params,
    .trends = trends,
    .apply = apply};

}  // namespace foretrace::sparse_convolution_parts
