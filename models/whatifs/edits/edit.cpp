// Edit: one primitive on a selection of tasks, as a person asks for it.
//
//   before   host   l1     l2
//            s      k1(l1) k2(l2)
//   after    host   l1     lx    l2                  select=name=k1, insert=x
//            s      k1(l1) x(lx) k2(l2)
//   Every primitive is the one of the editor (sim/edit/editor.h) of that name: waits, event waits,
//   hand-overs and meetings of ranks stay whatever is edited, and what cannot be done so is
//   refused.
#include <array>

#include <fmt/format.h>

#include "models/whatifs/edit_params.h"
#include "models/whatifs/edits/edit_order.h"
#include "models/whatifs/edits/edit_work.h"
#include "models/whatifs/what_if.h"
#include "sim/edit/selection.h"

namespace foretrace::edit_parts {
namespace {

using edits::Request;

Result<std::string> scale(Request& request) {
  const ParamValues& values = request.values;
  const bool chosen = values.given(edits::of_param);
  const std::string& of = values.text(edits::of_param);
  const ScaleOf scaled = !chosen || of == "duration" ? ScaleOf::duration
                         : of == "segment"           ? ScaleOf::segment
                                                     : ScaleOf::duration_and_segment;
  const double factor = values.number(edits::scale_param);
  FORETRACE_TRY(request.editor.scale(request.tasks, factor, scaled));
  return fmt::format("{} tasks scaled to {:g} of their time", request.tasks.size(), factor);
}

Result<std::string> remove(Request& request) {
  const std::vector<TaskId> gone = request.editor.remove(request.tasks);
  return fmt::format("{} tasks removed, {} of them with others", gone.size(),
                     gone.size() - request.tasks.size());
}

struct Row {
  const ParamInfo* primitive;
  /// What was done, in words.
  Result<std::string> (*apply)(Request& request);
};
constexpr std::array<Row, 10> rows = {{{&edits::scale_param, scale},
                                       {&edits::insert_param, edits::insert},
                                       {&edits::remove_param, remove},
                                       {&edits::replace_param, edits::replace},
                                       {&edits::split_param, edits::split},
                                       {&edits::merge_param, edits::merge},
                                       {&edits::move_param, edits::move},
                                       {&edits::replicate_param, edits::replicate},
                                       {&edits::reorder_param, edits::reorder},
                                       {&edits::prioritize_param, edits::prioritize}}};

Result<Change> apply(const WhatIfInput& scenario, const ParamValues& values) {
  FORETRACE_TRY(const ParamInfo* const primitive, edits::primitive_of(values));
  const std::string& selection = values.text(edits::select_param);
  FORETRACE_TRY(std::vector<TaskId> tasks, select(scenario.graph, selection));
  if (tasks.empty()) {
    return Error{ErrorCode::no_match, fmt::format("no task matches {}", in_quotes(selection))};
  }
  Editor editor(scenario.graph);
  Request request{scenario.graph, editor, values, std::move(tasks)};
  const auto* const row = std::find_if(
      rows.begin(), rows.end(), [&](const Row& each) { return each.primitive == primitive; });
  FORETRACE_CHECK(row != rows.end());
  FORETRACE_TRY(const std::string note, row->apply(request));
  const std::string label =
      values.given(edits::label_param) ? values.text(edits::label_param) + ": " : std::string();
  editor.note(fmt::format("{}{} {}: {}", label, primitive->name, in_quotes(selection), note));
  return editor.finish();
}

constexpr std::array<std::string_view, 3> assumptions = {
    "Stated durations apply to every task that the edit makes.",
    "Nothing changes but what the edit says: an inserted task reads and writes no memory, and "
    "slows nothing that runs beside it.",
    "Priorities choose among tasks that are ready; one that runs is never interrupted."};
constexpr std::array<std::string_view, 2> ignores = {
    "where a duration comes from, and whether any hardware reaches it",
    "tensors of inserted and removed tasks"};

constexpr auto params = edits::params;

}  // namespace

extern constexpr WhatIfInfo info = {
    .name = edits::name,
    .summary =
        "One edit of any selection of tasks, from scale and insert to reorder and prioritize.",
    .paper =
        "H. Zhu, A. Phanishayee, G. Pekhimenko, Daydream: Accurately Estimating the Efficacy "
        "of Optimizations for DNN Training, USENIX ATC 2020",
    .recipe =
        "Selected tasks are changed as the primitive says; whatever waited for them waits for what "
        "replaces them. In a file several follow each other, each on what those before it made: "
        "{\"edits\": [{\"select\": \"name~gemm\", \"scale\": 0.5}, ...]}. Durations that are given "
        "count as assumed, multiplied ones as scaled.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate =
        "duration, scale: a micro-benchmark of the kernels that are put in, or before and "
        "after.",
    .identity = {.setting = "select='kind=kernel',scale=1"},
    .params = params,
    .apply = apply,
    .stage = ApplyStage::device,
    .basis = Basis::formula};

}  // namespace foretrace::edit_parts
