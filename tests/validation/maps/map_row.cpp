#include "tests/validation/maps/map_row.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/core/config_text.h"
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
      merge_members(read.run, patch);
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

/// A number where it is one, else a text.
ConfigValue cell_of(std::string text) {
  ConfigValue cell{.kind = Kind::text, .text = std::move(text), .keys = {}, .items = {}};
  const bool has_digit =
      !cell.text.empty() && std::isdigit(static_cast<unsigned char>(cell.text.front())) != 0;
  if (has_digit && parse_quantity(cell.text, ParamType::number).ok()) cell.kind = Kind::number;
  return cell;
}

/// What stands where the pattern has names: {slices: 4, chip: v5e, size: 256}. None: another text.
std::optional<ConfigValue> parts_of(std::string_view pattern, std::string_view text) {
  ConfigValue parts{.kind = Kind::object, .text = {}, .keys = {}, .items = {}};
  for (;;) {
    const auto open = std::min(pattern.find('{'), pattern.size());
    if (!text.starts_with(pattern.substr(0, open))) return std::nullopt;
    text.remove_prefix(open);
    if (open == pattern.size()) break;
    const auto close = std::min(pattern.find('}', open), pattern.size() - 1);
    parts.keys.emplace_back(pattern.substr(open + 1, close - open - 1));
    pattern.remove_prefix(close + 1);
    const auto next = pattern.substr(0, pattern.find('{'));
    const auto end = next.empty() ? text.size() : text.find(next);
    if (end == 0 || end == std::string_view::npos) return std::nullopt;
    parts.items.push_back(cell_of(std::string(text.substr(0, end))));
    text.remove_prefix(end);
  }
  return text.empty() ? std::optional(std::move(parts)) : std::nullopt;
}

Status read_columns(const std::vector<ColumnMap>& columns, const TruthRow& row, MapRow& read);

Status read_pattern(const ColumnMap& column, std::string_view text, MapRow& read) {
  static const std::vector<std::string> no_columns;
  for (const std::string& pattern : column.patterns) {
    if (const auto parts = parts_of(pattern, text)) {
      return read_columns(column.inner, {no_columns, *parts}, read);
    }
  }
  return Error{ErrorCode::bad_format, fmt::format("{}: got {}, expected one like {}", column.name,
                                                  text.empty() ? "nothing" : in_quotes(text),
                                                  in_quotes(column.patterns.front()))};
}

Status read_column(const ColumnMap& column, const TruthRow& row, MapRow& read) {
  const bool is_there = row.find(column.name) != nullptr;
  if (column.kind == ColumnMap::Kind::text || column.kind == ColumnMap::Kind::words ||
      column.kind == ColumnMap::Kind::number) {
    read.texts[column.name] = row.text(column.name);
  }
  merge_members(read.run, is_there ? column.given : column.missing);
  if (column.kind == ColumnMap::Kind::words) return read_words(column, row, read);
  if (column.kind == ColumnMap::Kind::parts) return read_parts(column, row, read);
  if (column.kind == ColumnMap::Kind::pattern) {
    return read_pattern(column, row.text(column.name), read);
  }
  if (column.kind != ColumnMap::Kind::number) return ok_status();
  if (!is_there && column.standard.has_value()) {
    read.numbers[column.name] = *column.standard;
    return ok_status();
  }
  if (!is_there && !column.tries.empty()) {
    read.numbers[column.name] = column.tries.front();
    read.open = {column.name, column.tries};
    return ok_status();
  }
  FORETRACE_TRY(const auto number, column.is_whole
                                       ? count_in(row, column.name, column.low, column.high)
                                       : number_in(row, column.name, column.low, column.high));
  read.numbers[column.name] = number;
  if (number > 0) merge_members(read.run, column.positive);
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

bool has_column(const TableMap& map, std::string_view name) {
  return has(map.columns, name) ||
         std::any_of(map.points.begin(), map.points.end(),
                     [name](const PointMap& point) { return has(point.columns, name); });
}

Error not_in_map(std::string_view name) {
  return {ErrorCode::unsupported, fmt::format("{}: is not in the map of this table", name)};
}

/// Of a record; what stands in its objects has names such as "fig1_gib.baseline".
Status members_known(const TableMap& map, const ConfigValue& record, const std::string& within) {
  for (std::size_t i = 0; i < record.keys.size(); ++i) {
    const std::string name = within + record.keys[i];
    if (has_column(map, name)) continue;
    if (record.items[i].kind != Kind::object) return not_in_map(name);
    FORETRACE_TRY(members_known(map, record.items[i], name + "."));
  }
  return ok_status();
}

/// The map says of every column what it means.
Status columns_known(const TableMap& map, const TruthTable& table, const TruthRow& row) {
  const ConfigValue* const fixed = table.document.find("fixed");
  for (std::size_t i = 0; fixed != nullptr && i < fixed->keys.size(); ++i) {
    if (!has(map.fixed, fixed->keys[i])) return not_in_map("fixed/" + fixed->keys[i]);
  }
  if (row.value().kind == Kind::object) return members_known(map, row.value(), "");
  for (const std::string& name : table.columns) {
    if (!has_column(map, name)) return not_in_map(name);
  }
  return ok_status();
}

/// The record with what others of its kind say for all of them.
ConfigValue with_shared(const SharedColumns& shared, const TruthTable& table, const TruthRow& row) {
  ConfigValue record = row.value();
  if (record.kind != Kind::object) return record;
  for (const std::string& column : shared.columns) {
    for (std::size_t i = 0; i < table.size() && record.find(column) == nullptr; ++i) {
      const TruthRow other = table.row(i);
      const ConfigValue* const value = other.find(column);
      if (value == nullptr || other.text(shared.by) != row.text(shared.by)) continue;
      record.keys.push_back(column);
      record.items.push_back(*value);
    }
  }
  return record;
}

}  // namespace

Result<MapRow> read_map_row(const TableMap& map, const TruthTable& table, std::size_t i) {
  MapRow read;
  read.run = map.run;
  if (const auto* const own = map.of(table.id)) merge_members(read.run, own->second);
  FORETRACE_TRY(columns_known(map, table, table.row(i)));
  if (map.id.has_value()) FORETRACE_TRY(read_pattern(*map.id, table.id, read));
  FORETRACE_TRY(read_columns(map.fixed, table.fixed_row(), read));
  const ConfigValue record = with_shared(map.shared, table, table.row(i));
  FORETRACE_TRY(read_columns(map.columns, TruthRow(table.columns, record), read));
  FORETRACE_TRY(let(read));
  return read;
}

Status read_point_columns(const PointMap& point, const TruthRow& row, MapRow& read) {
  FORETRACE_TRY(read_columns(point.columns, row, read));
  merge_members(read.run, point.with);
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
