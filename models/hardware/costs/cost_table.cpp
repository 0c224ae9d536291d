// Distances are sums of logarithms of ratios of sizes: a factor of 2 in one size is as far as in
// another.
#include "models/hardware/costs/cost_table.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "sim/core/params.h"

namespace foretrace::costing {
namespace {

constexpr std::string_view schema = "foretrace.kernel_table/1";

// The relative error of times that an object states, if it does.
std::optional<double> stated_error(ConfigFields& fields) {
  double error = 0;
  fields.optional_quantity("error", ParamType::number, error);
  if (!fields.has("error")) return std::nullopt;
  if (!(error >= 0 && error <= 100)) {
    fields.mistake("error", "expected a relative error from 0 to 100, such as 0.16");
  }
  return error;
}

// A text as it was recorded, which may be an empty one.
std::optional<std::string> stated_text(ConfigFields& fields, std::string_view key) {
  const ConfigValue* value = fields.optional_value(key);
  if (value == nullptr) return std::nullopt;
  if (value->kind != ConfigValue::Kind::text) {
    fields.mistake(key, fmt::format("{}, expected a text", value->described()));
  }
  return value->text;
}

// Three counts of blocks or threads.
std::optional<std::array<std::int32_t, 3>> stated_counts(ConfigFields& fields,
                                                         std::string_view key) {
  if (fields.optional_value(key) == nullptr) return std::nullopt;
  std::vector<double> numbers;
  fields.numbers(key, numbers);
  const bool are_counts =
      numbers.size() == 3 && std::all_of(numbers.begin(), numbers.end(), [](double v) {
        return v >= 0 && v <= 2147483647 && v == std::floor(v);
      });
  if (!are_counts) {
    fields.mistake(key, "expected three whole numbers");
    return std::nullopt;
  }
  std::array<std::int32_t, 3> counts{};
  std::transform(numbers.begin(), numbers.end(), counts.begin(),
                 [](double v) { return static_cast<std::int32_t>(v); });
  return counts;
}

}  // namespace

// One row as it stands in the file.
struct CostTable::Written {
  std::string operator_name;
  double batch = 1;
  double m = 0;
  double n = 0;
  double k = 0;
  double numbers = 0;
  double time_ns = 0;
  std::optional<double> error = {};
  std::string kernel;  // empty: a row of sizes
  KernelKey of_kernel = {};
};

std::bitset<5> CostTable::KernelKey::stated() const {
  std::bitset<5> members;
  members[0] = operator_name.has_value();
  members[1] = shapes.has_value();
  members[2] = types.has_value();
  members[3] = grid.has_value();
  members[4] = block.has_value();
  return members;
}

Result<CostTable::Written> CostTable::read_row(const ConfigValue& value, const std::string& where,
                                               std::size_t i) {
  if (value.kind != ConfigValue::Kind::object) {
    return Error{ErrorCode::bad_config,
                 fmt::format("{}: /rows/{}: {}, expected an object", where, i, value.described())};
  }
  ConfigFields fields(value, where, fmt::format("/rows/{}", i));
  Written row;
  if (fields.has("kernel")) {
    fields.text("kernel", row.kernel);
    if (row.kernel.empty()) fields.mistake("kernel", "expected the name of a kernel");
    row.of_kernel.operator_name = stated_text(fields, "operator");
    row.of_kernel.shapes = stated_text(fields, "shapes");
    row.of_kernel.types = stated_text(fields, "types");
    row.of_kernel.grid = stated_counts(fields, "grid");
    row.of_kernel.block = stated_counts(fields, "block");
  } else {
    fields.text("operator", row.operator_name);
    fields.optional_quantity("batch", ParamType::number, row.batch);
    fields.optional_quantity("m", ParamType::number, row.m);
    fields.optional_quantity("n", ParamType::number, row.n);
    fields.optional_quantity("k", ParamType::number, row.k);
    fields.optional_quantity("numbers", ParamType::number, row.numbers);
    const auto size = [](double v) { return v >= 1 && v < 1e15; };
    const bool product = size(row.m) && size(row.n) && size(row.k) && size(row.batch);
    if (product == size(row.numbers)) {
      fields.mistake("", "expected a kernel, or either m, n and k, or numbers, from 1 to 10^15");
    }
  }
  fields.quantity("time", ParamType::time, row.time_ns);
  if (!(row.time_ns >= 1 && row.time_ns < 1e15)) {
    fields.mistake("time", fmt::format("got {:g} ns, expected from 1 ns to 11 days", row.time_ns));
  }
  row.error = stated_error(fields);
  FORETRACE_TRY(fields.finish());
  return row;
}

Status CostTable::add(Written written, const std::string& where, std::size_t i) {
  ++size_;
  if (!written.kernel.empty()) {
    KernelRows& rows = kernels_[written.kernel];
    const std::bitset<5> stated = written.of_kernel.stated();
    const bool is_new =
        rows.times
            .try_emplace(std::move(written.of_kernel), KernelTime{written.time_ns, written.error})
            .second;
    if (!is_new) {
      return Error{ErrorCode::bad_config,
                   fmt::format("{}: /rows/{}: kernel {} stands in an earlier row, expected it once",
                               where, i, in_quotes(written.kernel))};
    }
    // Those that state as many stay in the order in which they first come.
    const auto behind =
        std::find_if(rows.choices.begin(), rows.choices.end(),
                     [&](const std::bitset<5>& other) { return other.count() < stated.count(); });
    if (std::find(rows.choices.begin(), rows.choices.end(), stated) == rows.choices.end()) {
      rows.choices.insert(behind, stated);
    }
    return ok_status();
  }
  Row row;
  row.ns = written.time_ns;
  row.error = written.error;
  row.product = written.numbers < 1;
  if (row.product) {
    row.logs = {std::log(written.batch), std::log(written.m), std::log(written.n),
                std::log(written.k)};
    row.work = 2 * written.batch * written.m * written.n * written.k;
  } else {
    row.logs = {std::log(written.numbers), 0, 0, 0};
    row.work = written.numbers;
  }
  std::vector<Row>& rows = rows_[written.operator_name];
  if (!sizes_.emplace(written.operator_name, row.product, row.logs).second) {
    return Error{ErrorCode::bad_config,
                 fmt::format("{}: /rows/{}: operator {} stands with these sizes in an earlier row, "
                             "expected it once",
                             where, i, in_quotes(written.operator_name))};
  }
  rows.push_back(row);
  return ok_status();
}

Result<CostTable> CostTable::parse(std::string_view text, const std::string& where) {
  FORETRACE_TRY(auto document, parse_config_document(text, where, schema));
  return from(document, where);
}

Result<CostTable> CostTable::from(const ConfigValue& document, const std::string& where) {
  const ConfigValue* rows = document.find("rows");
  if (rows == nullptr || rows->kind != ConfigValue::Kind::list) {
    return Error{ErrorCode::bad_config,
                 fmt::format("{}: /rows: {}, expected a list of rows", where,
                             rows == nullptr ? "got no such key" : rows->described())};
  }
  ConfigFields fields(document, where);
  const std::optional<double> error_of_all = stated_error(fields);
  for (const std::string_view key : {"source", "rows"}) {
    static_cast<void>(fields.optional_value(key));
  }
  FORETRACE_TRY(fields.finish());
  CostTable table;
  for (std::size_t i = 0; i < rows->items.size(); ++i) {
    FORETRACE_TRY(auto written, read_row(rows->items[i], where, i));
    if (!written.error) written.error = error_of_all;
    FORETRACE_TRY(table.add(std::move(written), where, i));
  }
  return table;
}

CostTable::Entry CostTable::look_up(const TableKernel& kernel) const {
  const auto found = kernels_.find(kernel.name);
  if (found == kernels_.end()) return {};
  for (const std::bitset<5>& stated : found->second.choices) {
    KernelKey key;
    if (stated[0]) key.operator_name = kernel.operator_name;
    if (stated[1]) key.shapes = kernel.shapes;
    if (stated[2]) key.types = kernel.types;
    if (stated[3]) key.grid = kernel.grid;
    if (stated[4]) key.block = kernel.block;
    const auto row = found->second.times.find(key);
    if (row != found->second.times.end()) {
      return {Found::exact, row->second.ns, row->second.error};
    }
  }
  return {};
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
  if (nearest[0].first < 1e-9) {
    return {Found::exact, nearest[0].second->ns, nearest[0].second->error};
  }
  const double farthest = std::log(reach);
  if (nearest[0].first > farthest) return {Found::out_of_reach, 0};
  double weights = 0;
  double log_rate = 0;  // of time per unit of work
  std::optional<double> error;
  for (const auto& [distance, row] : nearest) {
    if (row == nullptr || distance > farthest) continue;
    weights += 1 / distance;
    log_rate += std::log(row->ns / row->work) / distance;
    if (row->error) error = std::max(error.value_or(0), *row->error);
  }
  return {Found::interpolated, std::exp(log_rate / weights) * query.work, error};
}

}  // namespace foretrace::costing
