// Scale: any selection of tasks takes another time, all else stays.
//
//   before   gemm (100 us) -> relu (20 us)
//   after    gemm ( 50 us) -> relu (20 us)        select=name~gemm, factor=0.5
//   A selected host task scales with the host time before it on its thread (segments=true), because
//   that is where Python and the framework spend it; launch latencies, device gaps and the wait of
//   a synchronization never scale: they follow from the rest.
#include <array>
#include <vector>

#include <fmt/format.h>

#include "models/whatifs/what_if.h"
#include "sim/core/whole.h"
#include "sim/edit/editor.h"
#include "sim/edit/selection.h"
#include "sim/graph/links.h"

namespace foretrace::scale_parts {
namespace {

constexpr ParamInfo factor_param = {
    .name = "factor",
    .unit = "x",
    .doc = "New time / old time: 0.5 is twice as fast, 0 removes the work.",
    .minimum = 0,
    .maximum = 1e4};
constexpr ParamInfo select_param = {
    .name = "select",
    .type = ParamType::selection,
    .default_text = "kind=kernel",
    .doc = "Which tasks, e.g. 'kind=kernel&name~gemm&phase=backward' or 'resource=host'."};
constexpr ParamInfo segments_param = {
    .name = "segments",
    .type = ParamType::boolean,
    .default_text = "true",
    .doc = "Selected host tasks scale with the host time before them on their thread."};

std::int64_t times(std::int64_t ns, double factor) {
  return to_whole(static_cast<double>(ns) * factor);
}

// Hand-overs carry host time of the thread in their lag.
void scale_hand_overs(const TaskGraph& graph, TaskId task, double factor, Editor& editor) {
  for (const Link& dependency : sources(graph, task)) {
    if (dependency.kind != DependencyKind::hand_over || dependency.lag_ns == 0) continue;
    editor.set_lag(task, DependencyKind::hand_over, times(dependency.lag_ns, factor));
    return;
  }
}

Result<Change> apply(const WhatIfInput& scenario, const ParamValues& params) {
  const TaskGraph& graph = scenario.graph;
  FORETRACE_TRY(auto selected,
                select(graph, params.text(select_param)).with_context("parameter 'select'"));
  if (selected.empty()) {
    return Error{ErrorCode::no_match,
                 fmt::format("no task matches {}", in_quotes(params.text(select_param)))};
  }
  const double factor = params.number(factor_param);
  const bool segments = params.boolean(segments_param);
  Editor editor(graph);
  std::int64_t before = 0;
  for (const TaskId task : selected) {
    const std::int64_t duration = graph.duration_ns(task);
    before += duration;
    editor.set_duration(task, times(duration, factor));
    if (!segments || !is_host(graph.kind(task))) continue;
    before += graph.segment_ns(task);
    editor.set_segment(task, times(graph.segment_ns(task), factor));
    scale_hand_overs(graph, task, factor, editor);
  }
  const double total_ms = static_cast<double>(before) * 1e-6;
  editor.note(fmt::format("{} tasks with {:.3f} ms in all become {:.3f} ms", selected.size(),
                          total_ms, total_ms * factor));
  return editor.finish();
}

constexpr std::array<std::string_view, 3> assumptions = {
    "The factor applies to every selected task, short or long.",
    "Nothing else changes: not the order of launches, not the work that runs beside it.",
    "For host tasks the time before the call on its thread scales with the call (segments=true)."};
constexpr std::array<std::string_view, 2> ignores = {
    "where the factor comes from, and whether any hardware reaches it",
    "waits, launch latencies and device gaps: they are simulated or stay as measured"};

constexpr std::array params = {factor_param, select_param, segments_param};

constexpr std::array trends = {Trend{&factor_param, Larger::is_slower}};

}  // namespace

extern constexpr WhatIfInfo info = {
    .name = "scale",
    .summary = "Multiply the time of any selection of tasks by a factor.",
    .paper =
        "none; the shrink primitive of H. Zhu, A. Phanishayee, G. Pekhimenko, Daydream, USENIX "
        "ATC 2020",
    .recipe =
        "Every selected task takes factor x its time. A host task takes the host time before it "
        "along, hand-overs between threads likewise. Waiting is simulated anew.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate = "factor: a micro-benchmark of the selected kernels before and after.",
    .identity = {.setting = "factor=1"},
    .params = params,
    .trends = trends,
    .apply = apply,
    .stage = ApplyStage::device};

}  // namespace foretrace::scale_parts
