#include "models/hardware/costs/calibration/recorded_operators.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "models/hardware/costs/kernel_cost.h"
#include "sim/core/statistics.h"

namespace foretrace {
namespace {

/// What a kernel is a measurement of; none if it is of nothing that is fitted.
std::optional<OperatorRow> operator_row_of(const KernelDescription& kernel) {
  OperatorRow row;
  row.precision = kernel.traits.precision;
  if (row.precision == Precision::unknown) return std::nullopt;
  if (const auto& gemm = kernel.amount.gemm) {
    // Others that serve a product, such as sums of its parts, are no product.
    if (!kernel.traits.compute_bound || kernel.shape_from_grid) return std::nullopt;
    row.kind = gemm->batch > 1 ? OperatorKind::batched_gemm : OperatorKind::gemm;
    row.shape = *gemm;
    return row;
  }
  if (const auto& rows = kernel.amount.rows) {
    row.kind = rows->kind;
    row.shape = {1, rows->rows, rows->columns, 0};
    return row;
  }
  return std::nullopt;
}

}  // namespace

OperatorTable recorded_operators(const TaskGraph& graph, const std::string& name,
                                 const std::string& device) {
  const std::vector<KernelDescription> works = describe_works(graph, nullptr);
  using Key = std::tuple<OperatorKind, Precision, double, double, double, double>;
  std::map<Key, std::pair<OperatorRow, std::vector<std::int64_t>>> measured;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const auto task = make_id<TaskId>(i);
    if (graph.kind(task) != TaskKind::kernel || graph.duration_ns(task) <= 0) continue;
    const auto row = operator_row_of(works[index(graph.work_id(task))]);
    if (!row) continue;
    const OperatorShape& s = row->shape;
    auto& one = measured[{row->kind, row->precision, s.batch, s.m, s.n, s.k}];
    one.first = *row;
    one.second.push_back(graph.duration_ns(task));
  }
  OperatorTable table{
      .name = name, .source = name, .origin = name, .licence = {}, .paper = {}, .rows = {}};
  for (auto& [key, one] : measured) {
    one.first.device = device;
    one.first.measured_ns = static_cast<double>(upper_median(std::move(one.second)));
    table.rows.push_back(one.first);
  }
  return table;
}

}  // namespace foretrace
