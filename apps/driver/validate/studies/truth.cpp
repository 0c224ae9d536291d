#include "apps/driver/validate/studies/truth.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace foretrace::scheduling {
namespace {

using ConfigKind = ConfigValue::Kind;

std::optional<double> number_of(const ConfigValue& value) {
  if (value.kind != ConfigKind::number) return std::nullopt;
  double number = 0;
  const char* const end = value.text.data() + value.text.size();
  const auto read = std::from_chars(value.text.data(), end, number);
  if (read.ec != std::errc{} || read.ptr != end) return std::nullopt;
  return number;
}

}  // namespace

Result<Truth> Truth::read(const std::string& path) {
  auto document = read_config(path, "foretrace-truth/1");
  if (!document) return document.error();
  const auto wrong = [&](std::string_view what) {
    return Error{ErrorCode::bad_format, fmt::format("{}: {}", path, what)};
  };
  Truth table;
  table.path_ = path;
  if (const ConfigValue* id = document->find("id"); id != nullptr) table.name_ = id->text;
  const ConfigValue* columns = document->find("columns");
  const ConfigValue* rows = document->find("rows");
  if (columns == nullptr || columns->kind != ConfigKind::list)
    return wrong("/columns: expected a list");
  if (rows == nullptr || rows->kind != ConfigKind::list) return wrong("/rows: expected a list");
  for (const ConfigValue& column : columns->items) table.columns_.push_back(column.text);
  for (std::size_t i = 0; i < rows->items.size(); ++i) {
    const std::size_t cells = rows->items[i].items.size();
    if (rows->items[i].kind == ConfigKind::list && cells == table.columns_.size()) continue;
    return wrong(
        fmt::format("/rows/{}: got {} cells, expected {}", i, cells, table.columns_.size()));
  }
  table.rows_ = rows->items;
  if (const ConfigValue* fixed = document->find("fixed"); fixed != nullptr) table.fixed_ = *fixed;
  return table;
}

std::ptrdiff_t Truth::find(std::string_view column) const {
  const auto at = std::find(columns_.begin(), columns_.end(), column);
  return at == columns_.end() ? -1 : at - columns_.begin();
}

const ConfigValue* Truth::cell(std::size_t row, std::string_view column) const {
  const std::ptrdiff_t at = find(column);
  return at < 0 ? nullptr : &rows_[row].items[static_cast<std::size_t>(at)];
}

std::optional<double> Truth::number(std::size_t row, std::string_view column) const {
  const ConfigValue* value = cell(row, column);
  return value == nullptr ? std::nullopt : number_of(*value);
}

std::string Truth::text(std::size_t row, std::string_view column) const {
  const ConfigValue* value = cell(row, column);
  return value == nullptr || value->kind == ConfigKind::null ? "" : value->text;
}

std::vector<double> Truth::numbers(std::size_t row, std::string_view column) const {
  std::vector<double> list;
  const ConfigValue* value = cell(row, column);
  if (value == nullptr) return list;
  for (const ConfigValue& item : value->items) list.push_back(number_of(item).value_or(0));
  return list;
}

std::string Truth::fixed(std::string_view key) const {
  const ConfigValue* value = fixed_.find(key);
  return value == nullptr ? "" : value->text;
}

Status Truth::needs(std::initializer_list<std::string_view> columns) const {
  for (const std::string_view column : columns) {
    if (has(column)) continue;
    return Error{ErrorCode::bad_format, fmt::format("{}: /columns: no column '{}', got {}", path_,
                                                    column, fmt::join(columns_, ", "))};
  }
  return ok_status();
}

std::optional<std::int64_t> first_number(std::string_view text) {
  const std::size_t at = text.find_first_of("0123456789");
  if (at == std::string_view::npos) return std::nullopt;
  std::int64_t number = 0;
  const auto read = std::from_chars(text.data() + at, text.data() + text.size(), number);
  if (read.ec != std::errc{}) return std::nullopt;
  return number;
}

}  // namespace foretrace::scheduling
