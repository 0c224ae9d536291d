#include "tests/validation/maps/map_row.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/core/params.h"
#include "tests/validation/studies/row_numbers.h"

namespace foretrace::validation {
namespace {

using Kind = ConfigValue::Kind;

Status read_words(const ColumnMap& column, const TruthRow& row, MapRow& read) {
  const std::string word = row.text(column.name);
  std::vector<std::string_view> known;
  for (const auto& [name, patch] : column.words) {
    if (name == word) {
      merge(read.run, patch);
      return ok_status();
    }
    known.push_back(name.empty() ? std::string_view("nothing") : std::string_view(name));
  }
  return Error{ErrorCode::not_found,
               fmt::format("{}: got {}{}, expected one of {}", column.name,
                           word.empty() ? "nothing" : in_quotes(word), did_you_mean(word, known),
                           fmt::join(known, ", "))};
}

Status read_parts(const ColumnMap& column, const TruthRow& row, MapRow& read) {
  std::string rest = row.text(column.name);
  if (rest.empty() && column.standard.has_value()) {
    for (const std::string& part : column.parts) read.numbers[part] = *column.standard;
    return ok_status();
  }
  for (const std::string& part : column.parts) {
    const auto bar = rest.find('|');
    const auto number = parse_quantity(rest.substr(0, bar), ParamType::number);
    if (!number.ok() || *number < column.low || *number > column.high ||
        (column.is_whole && *number != std::floor(*number))) {
      return Error{
          ErrorCode::bad_format,
          fmt::format("{}: got {}, expected numbers from {} to {}, parted by |", column.name,
                      in_quotes(row.text(column.name)), column.low, column.high)};
    }
    read.numbers[part] = *number;
    if (bar != std::string::npos) rest = rest.substr(bar + 1);
  }
  return ok_status();
}

Status read_column(const ColumnMap& column, const TruthRow& row, MapRow& read) {
  const bool is_there = row.find(column.name) != nullptr;
  if (column.kind == ColumnMap::Kind::text || column.kind == ColumnMap::Kind::words ||
      column.kind == ColumnMap::Kind::number) {
    read.texts[column.name] = row.text(column.name);
  }
  merge(read.run, is_there ? column.given : column.missing);
  if (column.kind == ColumnMap::Kind::words) return read_words(column, row, read);
  if (column.kind == ColumnMap::Kind::parts) return read_parts(column, row, read);
  if (column.kind != ColumnMap::Kind::number) return ok_status();
  if (!is_there && column.standard.has_value()) {
    read.numbers[column.name] = *column.standard;
    return ok_status();
  }
  FORETRACE_TRY(const auto number, column.is_whole
                                       ? count_in(row, column.name, column.low, column.high)
                                       : number_in(row, column.name, column.low, column.high));
  read.numbers[column.name] = number;
  if (number > 0) merge(read.run, column.positive);
  return ok_status();
}

Status fill(ConfigValue& value, const MapRow& row) {
  for (ConfigValue& item : value.items) {
    FORETRACE_TRY(fill(item, row));
  }
  if (value.kind != Kind::text || value.text.empty()) return ok_status();
  const char first = value.text.front();
  if (first != '=' && first != '?') {
    FORETRACE_TRY(value.text, filled_text(value.text, row));
    return ok_status();
  }
  FORETRACE_TRY(const auto number, calculate(std::string_view(value.text).substr(1), row.numbers));
  value.kind = first == '=' ? Kind::number : Kind::boolean;
  value.text = first == '=' ? fmt::format("{}", number) : number != 0 ? "true" : "false";
  return ok_status();
}

/// Numbers and texts that the run states for expressions and texts. An inner one may use an outer
/// one that stands before it.
Status let(MapRow& row) {
  const ConfigValue run = row.run;
  const ConfigValue* const numbers = run.find("let");
  for (std::size_t i = 0; numbers != nullptr && i < numbers->keys.size(); ++i) {
    ConfigValue value = numbers->items[i];
    FORETRACE_TRY(fill(value, row));
    if (const auto number = number_of(&value)) row.numbers[numbers->keys[i]] = *number;
  }
  const ConfigValue* const texts = run.find("texts");
  for (std::size_t i = 0; texts != nullptr && i < texts->keys.size(); ++i) {
    FORETRACE_TRY(row.texts[texts->keys[i]], filled_text(texts->items[i].text, row));
  }
  return ok_status();
}

Status read_columns(const std::vector<ColumnMap>& columns, const TruthRow& row, MapRow& read) {
  for (const ColumnMap& column : columns) {
    FORETRACE_TRY(read_column(column, row, read));
  }
  return ok_status();
}

bool has(const std::vector<ColumnMap>& columns, std::string_view name) {
  return std::any_of(columns.begin(), columns.end(),
                     [name](const ColumnMap& column) { return column.name == name; });
}

/// The map says of every column what it means.
Status columns_known(const TableMap& map, const TruthTable& table) {
  const ConfigValue* const fixed = table.document.find("fixed");
  for (std::size_t i = 0; fixed != nullptr && i < fixed->keys.size(); ++i) {
    if (has(map.fixed, fixed->keys[i])) continue;
    return Error{ErrorCode::unsupported,
                 fmt::format("fixed/{}: is not in the map of this table", fixed->keys[i])};
  }
  for (const std::string& name : table.columns) {
    const bool is_known =
        has(map.columns, name) ||
        std::any_of(map.points.begin(), map.points.end(),
                    [&name](const PointMap& point) { return has(point.columns, name); });
    if (is_known) continue;
    return Error{ErrorCode::unsupported, fmt::format("{}: is not in the map of this table", name)};
  }
  return ok_status();
}

}  // namespace

Result<MapRow> read_map_row(const TableMap& map, const TruthTable& table, std::size_t i) {
  const TruthRow row = table.row(i);
  MapRow read;
  read.run = map.run;
  for (const auto& [id, patch] : map.tables) {
    if (id == table.id) merge(read.run, patch);
  }
  Status status = columns_known(map, table);
  if (status.ok()) status = read_columns(map.fixed, table.fixed_row(), read);
  if (status.ok()) status = read_columns(map.columns, row, read);
  if (status.ok()) status = let(read);
  FORETRACE_TRY(status);
  return read;
}

Status read_point_columns(const PointMap& point, const TruthRow& row, MapRow& read) {
  FORETRACE_TRY(read_columns(point.columns, row, read));
  merge(read.run, point.with);
  return let(read);
}

Result<ConfigValue> filled_run(const MapRow& row) {
  ConfigValue filled = row.run;
  FORETRACE_TRY(fill(filled, row));
  return filled;
}

Result<std::string> filled_text(const std::string& text, const MapRow& row) {
  std::string filled;
  for (std::size_t at = 0; at < text.size();) {
    const auto open = std::min(text.find('{', at), text.size());
    filled += text.substr(at, open - at);
    if (open == text.size()) break;
    const auto close = text.find('}', open);
    const std::string name = text.substr(open + 1, close - open - 1);
    const auto found = row.texts.find(name);
    if (close == std::string::npos || found == row.texts.end()) {
      return Error{ErrorCode::bad_config, fmt::format("{}: no column {}", in_quotes(text), name)};
    }
    filled += found->second;
    at = close + 1;
  }
  return filled;
}

}  // namespace foretrace::validation
