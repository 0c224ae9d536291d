// Kernel table: kernels take times from a table of measurements, or of what a model tells.
//
//   before   [aten::mm 512 x 256 x 1024, 40 us as recorded]
//   after    [aten::mm 512 x 256 x 1024, 31 us by the table]
//   A row has an operator, sizes, and a time, and sizes that no row has are interpolated; or it
//   names a kernel, with as much of its operator, inputs and launch as tells it from others.
//
// memory    none.
#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "models/editing/kernels/kernel_editor.h"
#include "models/hardware/costs/cost_table.h"
#include "models/hardware/costs/kernel_kinds.h"
#include "models/whatifs/what_if.h"
#include "sim/core/whole.h"

namespace foretrace::kernel_table_parts {
namespace {

constexpr ParamInfo table_param = {
    .name = "table",
    .type = ParamType::text,
    .doc =
        "A JSON file, a name in configs/kernel_tables, or such a document itself, with the "
        "schema foretrace.kernel_table/1.",
    .config = "kernel_tables"};
constexpr ParamInfo reach_param = {.name = "reach",
                                   .unit = "x",
                                   .default_text = "2",
                                   .doc = "Sizes may differ from a row by this factor in all.",
                                   .minimum = 1,
                                   .maximum = 1000000.0};
constexpr ParamInfo select_param = {.name = "select",
                                    .type = ParamType::selection,
                                    .default_text = "kind=kernel",
                                    .doc = "Kernels that may use a time of the table."};

using costing::CostTable;

Result<CostTable> table_of(const WhatIfInput& scenario, const std::string& text) {
  if (CostTable::is_document(text)) return CostTable::parse(text, "the document");
  FORETRACE_TRY(auto document,
                scenario.catalogue.document({"kernel table", "kernel_tables"}, text));
  return CostTable::from(*document, text);
}

/// By its own row, else by its operator and sizes.
CostTable::Entry entry_of(const CostTable& table, const editing::KernelEditor& editor,
                          TaskId kernel, double reach) {
  const CostTable::Entry own = table.look_up(costing::table_kernel(editor.graph(), kernel));
  const KernelDescription& about = editor.about(kernel);
  if (own.found != CostTable::Found::no_row || !about.amount.known() || about.shape_from_grid) {
    return own;
  }
  return table.look_up(editor.operator_of(kernel), about.amount, reach);
}

/// How far the time may be off, as a factor.
double spread_of(const CostTable::Entry& entry) {
  constexpr double repeated = 1.03;  // timings of one kernel, where no error is stated
  constexpr double between = 1.15;   // rows that are not its own
  const bool hit = entry.found == CostTable::Found::exact;
  if (!entry.error) return hit ? repeated : between;
  return (1 + *entry.error) * (hit ? 1 : between);
}

Result<Change> apply(const WhatIfInput& scenario, const ParamValues& params) {
  editing::KernelEditor editor(scenario);
  if (editor.kernels().empty()) return Error{ErrorCode::no_match, "no kernels"};
  FORETRACE_TRY(auto table,
                table_of(scenario, params.text(table_param)).with_context("parameter 'table'"));
  FORETRACE_TRY(auto kernels, costing::selected_kernels(scenario.graph, params.text(select_param))
                                  .with_context("parameter 'select'"));
  std::size_t exact = 0;
  std::size_t out_of_reach = 0;
  std::vector<std::optional<CostTable::Entry>> known(scenario.graph.context().works.size());
  for (const TaskId kernel : kernels) {
    std::optional<CostTable::Entry>& of_work = known[index(scenario.graph.work_id(kernel))];
    if (!of_work) of_work = entry_of(table, editor, kernel, params.number(reach_param));
    const CostTable::Entry& entry = *of_work;
    if (entry.found == CostTable::Found::no_row) continue;
    if (entry.found == CostTable::Found::out_of_reach) {
      ++out_of_reach;
      continue;
    }
    exact += entry.found == CostTable::Found::exact ? 1 : 0;
    const auto spread = static_cast<float>(spread_of(entry));
    editor.set(kernel, {to_whole(std::min(entry.ns, 1e17)), Provenance::table, 1 / spread, spread});
  }
  if (editor.untouched()) {
    return Error{
        ErrorCode::no_match,
        fmt::format("no kernel {} in the table ({} rows, {} kernels out of reach)",
                    table.names_kernels() ? "has a row" : "of known size has a row within reach",
                    table.size(), out_of_reach)};
  }
  return editor.finish(fmt::format("{}: {} by a row of their own, {} interpolated, {} out of reach",
                                   editor.sums_text(), exact, editor.sums().changed - exact,
                                   out_of_reach));
}

constexpr std::array<std::string_view, 3> assumptions = {
    "A row means the device, precision, layout and schedule that the table is "
    "about.",
    "Between rows the time per unit of work is smooth in the logarithm of the "
    "sizes.",
    "Sizes of a row are those of the product (m, n, k, batch), or the numbers moved for other "
    "operators; a row of a kernel applies to all sizes that it does not distinguish."};
constexpr std::array<std::string_view, 2> ignores = {
    "operators that are not in the table and sizes out of reach: they stay as "
    "measured",
    "other kernels that the same operator launches"};
constexpr std::array params = {table_param, reach_param, select_param};

}  // namespace

extern constexpr WhatIfInfo info = {
    .name = "kernel_table",
    .summary = "Take kernel times from a table of operators, sizes and times.",
    .paper =
        "Z. Ye et al., SparseTIR, ASPLOS 2023; S. Feng et al., TensorIR, ASPLOS 2023; "
        "R. Lai et al., Relax: Composable Abstractions for End-to-End Dynamic Machine "
        "Learning, 2023",
    .recipe =
        "A kernel that a row names takes its time. Every other one whose operator is in the "
        "table and whose sizes are recorded takes "
        "the time of the row with its sizes, or, within `reach`, the time per unit of "
        "work of the two nearest rows, weighted by the inverse of their distance in the "
        "logarithm of the sizes.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate =
        "the table itself: time each operator at the sizes of the model. `error` of a row, or of "
        "the table, is the relative error of its times: that of a model on kernels that it has "
        "not seen.",
    .identity = {.none_because = "kernels take the times of the table"},
    .params = params,
    .apply = apply,
    .stage = ApplyStage::device};

}  // namespace foretrace::kernel_table_parts
