#include "tests/validation/studies/truth_table.h"

#include <algorithm>

#include <fmt/format.h>

#include "sim/core/params.h"

namespace foretrace {
namespace {

const ConfigValue* rows_of(const ConfigValue& document) {
  const ConfigValue* rows = document.find("rows");
  return rows != nullptr ? rows : document.find("records");
}

/// A member, or what stands in one that is an object: "fig1_gib.baseline".
const ConfigValue* inside(const ConfigValue& object, std::string_view name) {
  if (const ConfigValue* found = object.find(name)) return found;
  const auto dot = name.find('.');
  const ConfigValue* const outer =
      dot == std::string_view::npos ? nullptr : object.find(name.substr(0, dot));
  return outer == nullptr ? nullptr : inside(*outer, name.substr(dot + 1));
}

}  // namespace

std::optional<double> number_of(const ConfigValue* value) {
  if (value == nullptr || value->kind != ConfigValue::Kind::number) return std::nullopt;
  const auto parsed = parse_quantity(value->text, ParamType::number);
  return parsed.ok() ? std::optional<double>(*parsed) : std::nullopt;
}

const ConfigValue* TruthRow::find(std::string_view column) const {
  const ConfigValue* found = nullptr;
  if (value_->kind == ConfigValue::Kind::object) {
    found = inside(*value_, column);
  } else {
    const auto at = std::find(columns_->begin(), columns_->end(), column);
    const auto i = static_cast<std::size_t>(at - columns_->begin());
    if (at != columns_->end() && i < value_->items.size()) found = &value_->items[i];
  }
  return found != nullptr && found->kind != ConfigValue::Kind::null ? found : nullptr;
}

std::string TruthRow::text(std::string_view column) const {
  const ConfigValue* value = find(column);
  return value != nullptr ? value->text : std::string();
}

std::size_t TruthTable::size() const {
  const ConfigValue* rows = rows_of(document);
  return rows != nullptr ? rows->items.size() : 0;
}

TruthRow TruthTable::row(std::size_t i) const { return {columns, rows_of(document)->items[i]}; }

const ConfigValue* TruthTable::fixed(std::string_view key) const {
  const ConfigValue* object = document.find("fixed");
  return object != nullptr ? object->find(key) : nullptr;
}

TruthRow TruthTable::fixed_row() const {
  static const ConfigValue none;
  const ConfigValue* object = document.find("fixed");
  return {columns, object != nullptr ? *object : none};
}

Result<TruthTable> read_truth_table(const std::string& path) {
  FORETRACE_TRY(auto document, read_config(path, "foretrace-truth/1"));
  TruthTable table;
  table.path = path;
  const ConfigValue* id = document.find("id");
  if (id == nullptr || id->kind != ConfigValue::Kind::text || id->text.empty()) {
    return Error{ErrorCode::bad_format, fmt::format("{}: /id: missing key, expected a text", path)};
  }
  table.id = id->text;
  if (const ConfigValue* columns = document.find("columns")) {
    for (const ConfigValue& column : columns->items) table.columns.push_back(column.text);
  }
  const ConfigValue* rows = rows_of(document);
  if (rows == nullptr || rows->kind != ConfigValue::Kind::list) {
    return Error{ErrorCode::bad_format,
                 fmt::format("{}: /rows: missing key, expected a list of rows or records", path)};
  }
  for (std::size_t i = 0; i < rows->items.size(); ++i) {
    const ConfigValue& row = rows->items[i];
    const bool is_row =
        row.kind == ConfigValue::Kind::list && row.items.size() == table.columns.size();
    if (is_row || row.kind == ConfigValue::Kind::object) continue;
    return Error{ErrorCode::bad_format,
                 fmt::format("{}: /rows/{}: {} of {} values, expected one per column ({})", path, i,
                             row.described(), row.items.size(), table.columns.size())};
  }
  table.document = std::move(document);
  return table;
}

}  // namespace foretrace
