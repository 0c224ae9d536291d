// Kernel table: products and other operators take times from a table of measurements.
//
//   before   [aten::mm 512 x 256 x 1024, 40 us as recorded]
//   after    [aten::mm 512 x 256 x 1024, 31 us by the table]
//   A row has an operator, sizes, and a time. Sizes that no row has are interpolated.
//
// memory    none.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "models/costs/cost_table.h"
#include "models/editing/kernels/kernel_editor.h"
#include "models/whatifs/optimization.h"

namespace foretrace::kernel_table_parts {
namespace {

constexpr ParamInfo table_param = {
    .name = "table",
    .type = ParamType::text,
    .doc =
        "A JSON file, or a name in configs/kernel_tables, with the schema "
        "foretrace.kernel_table/1.",
    .config = "kernel_tables"};
constexpr ParamInfo reach_param = {.name = "reach",
                                   .unit = "x",
                                   .default_text = "2",
                                   .doc = "Sizes may differ from a row by this factor in all.",
                                   .minimum = 1,
                                   .maximum = 1000000.0};

Result<Change> apply(const Scenario& scenario, const ParamValues& params) {
  editing::KernelEditor editor(scenario);
  if (editor.kernels().empty()) return Error{ErrorCode::no_match, "no kernels"};
  auto document =
      scenario.catalogue.document({"kernel table", "kernel_tables"}, params.text(table_param));
  if (!document) return std::move(document).error().with_context("parameter 'table'");
  auto table = costing::CostTable::from(**document, params.text(table_param));
  if (!table) return std::move(table).error().with_context("parameter 'table'");
  std::size_t exact = 0;
  std::size_t out_of_reach = 0;
  for (const TaskId kernel : editor.kernels()) {
    const WorkAmount& amount = editor.about(kernel).amount;
    if (!amount.known() || editor.about(kernel).shape_from_grid) continue;
    const auto entry =
        table->look_up(editor.operator_of(kernel), amount, params.number(reach_param));
    if (entry.found == costing::CostTable::Found::no_row) continue;
    if (entry.found == costing::CostTable::Found::out_of_reach) {
      ++out_of_reach;
      continue;
    }
    const bool hit = entry.found == costing::CostTable::Found::exact;
    exact += hit ? 1 : 0;
    const float spread = hit ? 1.03F : 1.15F;  // repeated timings; between rows
    editor.set(kernel,
               {std::llround(std::min(entry.ns, 1e17)), Provenance::table, 1 / spread, spread});
  }
  if (editor.untouched()) {
    return Error{
        ErrorCode::no_match,
        fmt::format("no kernel of known size has a row within reach in the table ({} rows, "
                    "{} kernels out of reach)",
                    table->size(), out_of_reach)};
  }
  return editor.finish(
      fmt::format("{}: {} by a row of their size, {} interpolated, {} out of reach",
                  editor.sums_text(), exact, editor.sums().changed - exact, out_of_reach));
}

constexpr std::array<std::string_view, 3> assumptions = {
    "A row means the device, precision, layout and schedule that the table is "
    "about.",
    "Between rows the time per unit of work is smooth in the logarithm of the "
    "sizes.",
    "Sizes of a row are those of the product (m, n, k, batch), or the numbers moved "
    "for other operators."};
constexpr std::array<std::string_view, 2> ignores = {
    "operators that are not in the table and sizes out of reach: they stay as "
    "measured",
    "other kernels that the same operator launches"};
constexpr std::array params = {table_param, reach_param};

constexpr OptimizationInfo info = {
    .name = "kernel_table",
    .summary = "Take kernel times from a table of operators, sizes and times.",
    .paper =
        "Z. Ye et al., SparseTIR, ASPLOS 2023; S. Feng et al., TensorIR, ASPLOS 2023; "
        "R. Lai et al., Relax: Composable Abstractions for End-to-End Dynamic Machine "
        "Learning, 2023",
    .recipe =
        "Every kernel whose operator is in the table and whose sizes are recorded takes "
        "the time of the row with its sizes, or, within `reach`, the time per unit of "
        "work of the two nearest rows, weighted by the inverse of their distance in the "
        "logarithm of the sizes.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate = "the table itself: time each operator at the sizes of the model.",
    .params = params,
    .apply = apply,
    .stage = ApplyStage::device};

}  // namespace
}  // namespace foretrace::kernel_table_parts

namespace foretrace::optimizations {
extern const OptimizationInfo kernel_table;
constinit const OptimizationInfo kernel_table = kernel_table_parts::info;
}  // namespace foretrace::optimizations
