// Distances are sums of logarithms of ratios of sizes: a factor of 2 in one size is as far as in
// another.
#include "models/costs/cost_table.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "sim/core/config.h"

namespace foretrace::costing {
namespace {

constexpr std::string_view schema = "foretrace.kernel_table/1";

// One row as it stands in the file.
struct Written {
  std::string operator_name;
  double batch = 1;
  double m = 0;
  double n = 0;
  double k = 0;
  double numbers = 0;
  double time_ns = 0;
};

Result<Written> read_row(const ConfigValue& value, const std::string& where, std::size_t i) {
  if (value.kind != ConfigValue::Kind::object) {
    return Error{ErrorCode::bad_config,
                 fmt::format("{}: /rows/{}: {}, expected an object", where, i, value.described())};
  }
  ConfigFields fields(value, where, fmt::format("/rows/{}", i));
  Written row;
  fields.text("operator", row.operator_name);
  fields.optional_quantity("batch", ParamType::number, row.batch);
  fields.optional_quantity("m", ParamType::number, row.m);
  fields.optional_quantity("n", ParamType::number, row.n);
  fields.optional_quantity("k", ParamType::number, row.k);
  fields.optional_quantity("numbers", ParamType::number, row.numbers);
  fields.quantity("time", ParamType::time, row.time_ns);
  const auto size = [](double v) { return v >= 1 && v < 1e15; };
  const bool product = size(row.m) && size(row.n) && size(row.k) && size(row.batch);
  if (product == size(row.numbers)) {
    fields.mistake("", "expected either m, n and k, or numbers, from 1 to 10^15");
  }
  if (!(row.time_ns > 0 && row.time_ns < 1e15)) fields.mistake("time", "expected a positive time");
  if (auto status = fields.finish(); !status) return std::move(status).error();
  return row;
}

}  // namespace

Result<CostTable> CostTable::parse(std::string_view text, const std::string& where) {
  auto document = parse_config_document(text, where, schema);
  if (!document) return std::move(document).error();
  return from(*document, where);
}

Result<CostTable> CostTable::from(const ConfigValue& document, const std::string& where) {
  const ConfigValue* rows = document.find("rows");
  if (rows == nullptr || rows->kind != ConfigValue::Kind::list) {
    return Error{ErrorCode::bad_config, fmt::format("{}: /rows: expected a list of rows", where)};
  }
  CostTable table;
  for (std::size_t i = 0; i < rows->items.size(); ++i) {
    auto written = read_row(rows->items[i], where, i);
    if (!written) return std::move(written).error();
    Row row;
    row.ns = written->time_ns;
    row.product = written->numbers < 1;
    if (row.product) {
      row.logs = {std::log(written->batch), std::log(written->m), std::log(written->n),
                  std::log(written->k)};
      row.work = 2 * written->batch * written->m * written->n * written->k;
    } else {
      row.logs = {std::log(written->numbers), 0, 0, 0};
      row.work = written->numbers;
    }
    table.rows_[written->operator_name].push_back(row);
    ++table.size_;
  }
  return table;
}

CostTable::Entry CostTable::look_up(std::string_view operator_name, const WorkAmount& amount,
                                    double reach) const {
  const auto found = rows_.find(operator_name);
  if (found == rows_.end()) return {};
  Row query;
  query.product = amount.gemm.has_value();
  if (amount.gemm) {
    query.work = amount.gemm->flops();
    query.logs = {std::log(amount.gemm->batch), std::log(amount.gemm->m), std::log(amount.gemm->n),
                  std::log(amount.gemm->k)};
  } else {
    query.work = amount.numbers;
    query.logs = {std::log(std::max(amount.numbers, 1e-300)), 0, 0, 0};
  }
  if (!(query.work > 0)) return {};
  // The two nearest rows.
  std::array<std::pair<double, const Row*>, 2> nearest{{{HUGE_VAL, nullptr}, {HUGE_VAL, nullptr}}};
  for (const Row& row : found->second) {
    if (row.product != query.product) continue;
    double distance = 0;
    for (std::size_t i = 0; i < row.logs.size(); ++i) {
      distance += std::abs(row.logs[i] - query.logs[i]);
    }
    if (distance < nearest[0].first) {
      nearest[1] = nearest[0];
      nearest[0] = {distance, &row};
    } else if (distance < nearest[1].first) {
      nearest[1] = {distance, &row};
    }
  }
  if (nearest[0].second == nullptr) return {};
  if (nearest[0].first < 1e-9) return {Found::exact, nearest[0].second->ns};
  const double farthest = std::log(reach);
  if (nearest[0].first > farthest) return {Found::out_of_reach, 0};
  double weights = 0;
  double log_rate = 0;  // of time per unit of work
  for (const auto& [distance, row] : nearest) {
    if (row == nullptr || distance > farthest) continue;
    weights += 1 / distance;
    log_rate += std::log(row->ns / row->work) / distance;
  }
  return {Found::interpolated, std::exp(log_rate / weights) * query.work};
}

}  // namespace foretrace::costing
