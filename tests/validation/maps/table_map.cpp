#include "tests/validation/maps/table_map.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tests/validation/studies/truth_table.h"

namespace foretrace::validation {
namespace {

namespace fs = std::filesystem;
using Kind = ConfigValue::Kind;

constexpr std::string_view map_schema = "foretrace.table_map/1";

Error wrong(std::string_view at, std::string_view what) {
  return {ErrorCode::bad_config, fmt::format("{}: {}", at, what)};
}

std::optional<double> number_at(const ConfigValue& object, std::string_view key) {
  return number_of(object.find(key));
}

void take_patch(const ConfigValue& object, std::string_view key, ConfigValue& into) {
  if (const ConfigValue* patch = object.find(key)) into = *patch;
}

/// {"count": 1000, "least": 0, "standard": 1} or {"number": 1000, ...}
Status read_number(const ConfigValue& value, ColumnMap& column) {
  const bool is_whole = value.find("count") != nullptr;
  const auto high = number_at(value, is_whole ? "count" : "number");
  if (!high.has_value()) return wrong(column.name, "expected words, a count or a number at most");
  column.kind = ColumnMap::Kind::number;
  if (const ConfigValue* parts = value.find("parts")) {
    column.kind = ColumnMap::Kind::parts;
    for (const ConfigValue& part : parts->items) column.parts.push_back(part.text);
  }
  column.is_whole = is_whole;
  column.high = *high;
  column.low = number_at(value, "least").value_or(is_whole ? 1 : 1e-9);
  column.standard = number_at(value, "standard");
  return ok_status();
}

Result<ColumnMap> read_column(const std::string& name, const ConfigValue& value) {
  ColumnMap column{.name = name};
  if (value.kind == Kind::text) {
    if (value.text == "text") column.kind = ColumnMap::Kind::text;
    if (value.text == "measured") column.kind = ColumnMap::Kind::measured;
    if (column.kind != ColumnMap::Kind::ignored || value.text == "ignored") return column;
    return wrong(name, fmt::format("{}, expected ignored, text or measured", value.described()));
  }
  for (const std::string& key : value.keys) {
    constexpr std::array known = {"words",    "count", "number",  "parts",   "least",
                                  "standard", "given", "missing", "positive"};
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      return wrong(name, fmt::format("unknown key {}", key));
    }
  }
  take_patch(value, "given", column.given);
  take_patch(value, "missing", column.missing);
  take_patch(value, "positive", column.positive);
  const ConfigValue* words = value.find("words");
  if (words == nullptr) {
    FORETRACE_TRY(read_number(value, column));
    return column;
  }
  column.kind = ColumnMap::Kind::words;
  for (std::size_t i = 0; i < words->keys.size(); ++i) {
    column.words.emplace_back(words->keys[i], words->items[i]);
  }
  return column;
}

Status read_columns(const ConfigValue* object, std::vector<ColumnMap>& columns) {
  for (std::size_t i = 0; object != nullptr && i < object->keys.size(); ++i) {
    FORETRACE_TRY(auto column, read_column(object->keys[i], object->items[i]));
    columns.push_back(std::move(column));
  }
  return ok_status();
}

Result<PointMap> read_point(const ConfigValue& object) {
  PointMap point;
  for (std::size_t i = 0; i < object.keys.size(); ++i) {
    const std::string& key = object.keys[i];
    const ConfigValue& value = object.items[i];
    const auto number = number_of(&value);
    if (std::string* const text = key == "column"     ? &point.column
                                  : key == "is"       ? &point.is
                                  : key == "amount"   ? &point.amount
                                  : key == "measured" ? &point.measured
                                  : key == "group"    ? &point.group
                                  : key == "result"   ? &point.result
                                  : key == "unless"   ? &point.unless
                                  : key == "only"     ? &point.only
                                                      : nullptr) {
      *text = value.text;
    } else if (key == "with") {
      point.with = value;
    } else if (key == "columns") {
      FORETRACE_TRY(read_columns(&value, point.columns));
    } else if (key == "optional") {
      point.is_optional = value.text == "true";
    } else if (double* const into = key == "unit"   ? &point.unit
                                    : key == "low"  ? &point.low
                                    : key == "high" ? &point.high
                                                    : nullptr;
               into != nullptr && number.has_value()) {
      *into = *number;
    } else {
      return wrong("points", fmt::format("unknown key {}", key));
    }
  }
  constexpr std::array<std::string_view, 9> kinds = {"time",       "rate",     "memory",
                                                     "prompt",     "token",    "total",
                                                     "collective", "exchange", "exchange_rate"};
  if (std::find(kinds.begin(), kinds.end(), point.is) != kinds.end()) return point;
  return wrong("points",
               fmt::format("is: got {}, expected one of {}", point.is, fmt::join(kinds, ", ")));
}

ResultMap read_result(const std::string& name, const ConfigValue& object) {
  ResultMap result{.name = name};
  if (const ConfigValue* unit = object.find("unit")) result.unit = unit->text;
  if (const ConfigValue* notes = object.find("notes")) {
    for (const ConfigValue& note : notes->items) result.notes.push_back(note.text);
  }
  return result;
}

Status read_points(const ConfigValue& document, TableMap& map) {
  const ConfigValue* points = document.find("points");
  for (std::size_t i = 0; points != nullptr && i < points->items.size(); ++i) {
    FORETRACE_TRY(auto point, read_point(points->items[i]));
    map.points.push_back(std::move(point));
  }
  if (map.points.empty()) return wrong("points", "expected at least one");
  map.results.push_back(read_result("", document));
  const ConfigValue* results = document.find("results");
  for (std::size_t i = 0; results != nullptr && i < results->keys.size(); ++i) {
    map.results.push_back(read_result(results->keys[i], results->items[i]));
  }
  return ok_status();
}

/// A list of ids, or an object: what a table alone says.
void read_tables(ConfigFields& fields, TableMap& map) {
  const ConfigValue* const tables = fields.optional_value("tables");
  if (tables == nullptr || tables->items.empty()) {
    return fields.mistake("tables", "expected ids of tables");
  }
  for (std::size_t i = 0; i < tables->items.size(); ++i) {
    if (tables->kind == Kind::object) {
      map.tables.emplace_back(tables->keys[i], tables->items[i]);
    } else {
      map.tables.emplace_back(tables->items[i].text, ConfigValue());
    }
  }
}

Status check_point(const TableMap& map, const PointMap& point) {
  const auto has_column = [&map](std::string_view name) {
    return std::any_of(map.columns.begin(), map.columns.end(),
                       [name](const ColumnMap& column) { return column.name == name; });
  };
  if (!has_column(point.column)) return wrong("points", point.column + " is no column of the map");
  const bool has_result =
      std::any_of(map.results.begin(), map.results.end(),
                  [&point](const ResultMap& result) { return result.name == point.result; });
  if (!has_result) return wrong("points", point.result + " is none of the results");
  return ok_status();
}

}  // namespace

void merge(ConfigValue& into, const ConfigValue& patch) {
  if (patch.kind == Kind::null) return;
  if (into.kind != Kind::object || patch.kind != Kind::object) {
    into = patch;
    return;
  }
  for (std::size_t i = 0; i < patch.keys.size(); ++i) {
    const auto at = std::find(into.keys.begin(), into.keys.end(), patch.keys[i]);
    if (at == into.keys.end()) {
      into.keys.push_back(patch.keys[i]);
      into.items.push_back(patch.items[i]);
    } else {
      merge(into.items[static_cast<std::size_t>(at - into.keys.begin())], patch.items[i]);
    }
  }
}

Result<TableMap> parse_table_map(std::string_view text, const std::string& path) {
  FORETRACE_TRY(const auto document, parse_config_document(text, path, map_schema));
  TableMap map{.path = path, .tables = {}};
  ConfigFields fields(document, path);
  read_tables(fields, map);
  fields.take(read_columns(fields.optional_object("fixed"), map.fixed));
  fields.take(read_columns(fields.object("columns"), map.columns));
  if (const ConfigValue* run = fields.object("run")) map.run = *run;
  for (const char* const known : {"unit", "notes", "results", "points"}) {
    static_cast<void>(fields.optional_value(known));
  }
  fields.take(read_points(document, map));
  for (const PointMap& point : map.points) fields.take(check_point(map, point));
  FORETRACE_TRY(fields.finish());
  return map;
}

Result<std::vector<TableMap>> read_table_maps(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (at->path().extension() == ".json") files.push_back(at->path().string());
  }
  std::sort(files.begin(), files.end());
  std::vector<TableMap> maps;
  for (const std::string& file : files) {
    FORETRACE_TRY(const auto text, read_config_text(file));
    FORETRACE_TRY(auto map, parse_table_map(text, file));
    maps.push_back(std::move(map));
  }
  return maps;
}

}  // namespace foretrace::validation
