// Integer kernels: softmax, GELU and layer norm in integer arithmetic.
//
//   before   [softmax fp32][gelu fp32][layer norm fp32]
//   after    [softmax int ][gelu int ][layer norm int ]      each `factor` of its time
//   Kernels of a device that is weak in floating point; products keep their time.
//
// memory    activations between integer kernels take 1 instead of 4 bytes.
#include <array>
#include <map>
#include <string_view>

#include <fmt/format.h>

#include "models/editing/kernels/kernel_names.h"
#include "models/whatifs/what_if.h"
#include "sim/core/text.h"
#include "sim/core/whole.h"

namespace foretrace::integer_kernels_parts {
namespace {

constexpr ParamInfo factor_param = {
    .name = "factor",
    .unit = "x",
    .doc = "New time / old time of these kernels; the paper reports 1/5 on two ARM CPUs.",
    .minimum = 0,
    .maximum = 10};

bool is_covered(const editing::KernelEditor& editor, TaskId kernel) {
  const Phase phase = editor.graph().phase(kernel);
  if (phase == Phase::backward || phase == Phase::update) return false;
  if (editor.class_of(kernel) == KernelClass::softmax || editing::is_gelu(editor, kernel)) {
    return true;
  }
  return editor.class_of(kernel) == KernelClass::normalization &&
         !editing::is_batch_norm(editor, kernel);
}

// A run on the CPU has these operators as parts of its host time. Where a device computes, such a
// part is the dispatch of its kernels, which takes as long for integers.
std::int64_t shorten_host(const TaskGraph& graph, double factor, Editor& editor) {
  std::map<TaskId, std::int64_t> less;
  std::int64_t total = 0;
  for (const SegmentPart& part : graph.context().segment_parts) {
    const std::string_view label = graph.names()[part.label];
    if (!contains(label, "softmax") && !contains(label, "gelu") && !contains(label, "layer_norm"))
      continue;
    const auto saved = to_whole(static_cast<double>(part.duration_ns) * (1 - factor));
    less[part.task] += saved;
    total += saved;
  }
  for (const auto& [task, saved] : less) {
    editor.set_segment(task, std::max<std::int64_t>(graph.segment_ns(task) - saved, 0));
  }
  return total;
}

Result<Change> apply(const WhatIfInput& scenario, const ParamValues& params) {
  editing::KernelEditor editor(scenario);
  const double factor = params.number(factor_param);
  for (const TaskId kernel : editor.kernels()) {
    if (!is_covered(editor, kernel)) continue;
    const auto measured = static_cast<double>(scenario.graph.duration_ns(kernel));
    const Cost other{to_whole(measured * factor), Provenance::assumed, 0.8F, 1.25F};
    editor.set(kernel, factor == 1 ? kept_cost(scenario.graph.duration_ns(kernel)) : other);
  }
  const bool on_host = editor.kernels().empty();
  const std::int64_t host =
      on_host ? shorten_host(scenario.graph, factor, editor.edit()) : std::int64_t{0};
  if (editor.untouched() && editor.edit().change().segments.empty()) {
    return Error{ErrorCode::no_match, "no softmax, GELU or layer norm in forward or inference"};
  }
  return editor.finish(
      fmt::format("{}; {:.2f} ms less of host time", editor.sums_text(), editing::to_ms(host)));
}

constexpr std::array<std::string_view, 3> assumptions = {
    "The device computes exponentials and roots slowly in floating point, as small "
    "ARM cores do; on a GPU bound by bytes factor is the ratio of bytes.",
    "Every softmax, GELU and layer norm has an integer kernel.",
    "Products run on 8-bit data already or keep their time."};
constexpr std::array<std::string_view, 2> ignores = {
    "conversion between integer and floating point", "accuracy"};
constexpr std::array params = {factor_param};

constexpr std::array trends = {Trend{&factor_param, Larger::is_slower}};

}  // namespace

extern constexpr WhatIfInfo info = {
    .name = "integer_kernels",
    .summary = "Run softmax, GELU and layer norm in integer arithmetic.",
    .paper =
        "Z. Zhang, B. He, Z. Zhang, Practical Edge Kernels for Integer-Only Vision "
        "Transformers Under Post-training Quantization, MLSys 2023",
    .recipe =
        "Kernels of softmax, GELU and layer normalization in forward or inference take "
        "`factor` of their time; in a run without a device, so do the parts of host time that "
        "regions of these names cover.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate = "factor: both kernels on the target device.",
    .identity = {.setting = "factor=1"},
    .params = params,
    .trends = trends,
    .apply = apply,
    .stage = ApplyStage::precision,
    .basis = Basis::formula};

}  // namespace foretrace::integer_kernels_parts
