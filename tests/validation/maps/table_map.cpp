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

std::string text_at(const ConfigValue& object, std::string_view key) {
  const ConfigValue* const found = object.find(key);
  return found == nullptr ? std::string() : found->text;
}

/// A list of texts, or one.
std::vector<std::string> texts_at(const ConfigValue& object, std::string_view key) {
  std::vector<std::string> texts;
  const ConfigValue* const found = object.find(key);
  if (found == nullptr) return texts;
  if (found->kind != Kind::list) return {found->text};
  for (const ConfigValue& one : found->items) texts.push_back(one.text);
  return texts;
}

void take_patch(const ConfigValue& object, std::string_view key, ConfigValue& into) {
  if (const ConfigValue* patch = object.find(key)) into = *patch;
}

Status check_keys(std::string_view at, const ConfigValue& object,
                  std::span<const std::string_view> known) {
  for (const std::string& key : object.keys) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    return wrong(at, fmt::format("unknown key {}", key));
  }
  return ok_status();
}

Status read_columns(const ConfigValue* object, std::vector<ColumnMap>& columns);

/// {"count": 1000, "least": 0, "standard": 1} or {"number": 1000, ...}
Status read_number(const ConfigValue& value, ColumnMap& column) {
  const bool is_whole = value.find("count") != nullptr;
  const auto high = number_at(value, is_whole ? "count" : "number");
  if (!high.has_value()) {
    return wrong(column.name, "expected words, a pattern, a count or a number at most");
  }
  column.kind = ColumnMap::Kind::number;
  column.parts = texts_at(value, "parts");
  if (!column.parts.empty()) column.kind = ColumnMap::Kind::parts;
  column.is_whole = is_whole;
  column.high = *high;
  column.low = number_at(value, "least").value_or(is_whole ? 1 : 1e-9);
  column.standard = number_at(value, "standard");
  const ConfigValue* const tries = value.find("try");
  for (std::size_t i = 0; tries != nullptr && i < tries->items.size(); ++i) {
    column.tries.push_back(number_of(&tries->items[i]).value_or(column.low));
  }
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
  constexpr std::array<std::string_view, 12> known = {"words",   "count",   "number",   "parts",
                                                      "pattern", "columns", "least",    "try",
                                                      "given",   "missing", "standard", "positive"};
  FORETRACE_TRY(check_keys(name, value, known));
  take_patch(value, "given", column.given);
  take_patch(value, "missing", column.missing);
  take_patch(value, "positive", column.positive);
  if (const ConfigValue* words = value.find("words")) {
    column.kind = ColumnMap::Kind::words;
    for (std::size_t i = 0; i < words->keys.size(); ++i) {
      column.words.emplace_back(words->keys[i], words->items[i]);
    }
    return column;
  }
  column.patterns = texts_at(value, "pattern");
  const bool is_number = value.find("count") != nullptr || value.find("number") != nullptr ||
                         value.find("parts") != nullptr;
  const bool is_there_or_not = value.find("given") != nullptr || value.find("missing") != nullptr;
  if (column.patterns.empty() && !is_number && is_there_or_not) return column;
  if (column.patterns.empty()) {
    FORETRACE_TRY(read_number(value, column));
    return column;
  }
  column.kind = ColumnMap::Kind::pattern;
  FORETRACE_TRY(read_columns(value.find("columns"), column.inner));
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
  constexpr std::array<std::string_view, 15> known = {
      "column", "as",   "is",       "unit",    "amount", "measured", "group", "result",
      "unless", "only", "optional", "columns", "with",   "against",  "range"};
  FORETRACE_TRY(check_keys("points", object, known));
  PointMap point;
  point.column = text_at(object, "column");
  point.as = text_at(object, "as");
  point.is = text_at(object, "is");
  point.amount = text_at(object, "amount");
  point.measured = text_at(object, "measured");
  point.group = text_at(object, "group");
  point.result = text_at(object, "result");
  point.unless = text_at(object, "unless");
  point.only = text_at(object, "only");
  point.is_optional = text_at(object, "optional") == "true";
  point.unit = number_at(object, "unit").value_or(1);
  take_patch(object, "with", point.with);
  take_patch(object, "against", point.against);
  FORETRACE_TRY(read_columns(object.find("columns"), point.columns));
  if (std::find(point_kinds.begin(), point_kinds.end(), point.is) != point_kinds.end()) {
    return point;
  }
  return wrong("points", fmt::format("is: got {}, expected one of {}", point.is,
                                     fmt::join(point_kinds, ", ")));
}

ResultMap read_result(const std::string& name, const ConfigValue& object) {
  return {.name = name,
          .unit = text_at(object, "unit"),
          .notes = texts_at(object, "notes"),
          .is_share = text_at(object, "errors") == "difference",
          .has_total = text_at(object, "total") == "true",
          .mean = text_at(object, "mean")};
}

Status read_points(const ConfigValue& document, TableMap& map) {
  const ConfigValue* points = document.find("points");
  for (std::size_t i = 0; points != nullptr && i < points->items.size(); ++i) {
    FORETRACE_TRY(auto point, read_point(points->items[i]));
    map.points.push_back(std::move(point));
  }
  if (map.points.empty()) return wrong("points", "expected at least one");
  const bool has_own = std::any_of(map.points.begin(), map.points.end(),
                                   [](const PointMap& point) { return point.result.empty(); });
  if (has_own) map.results.push_back(read_result("", document));
  const ConfigValue* results = document.find("results");
  for (std::size_t i = 0; results != nullptr && i < results->keys.size(); ++i) {
    constexpr std::array<std::string_view, 5> known = {"unit", "notes", "errors", "total", "mean"};
    FORETRACE_TRY(check_keys("results", results->items[i], known));
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

bool is_meant(std::string_view id, std::string_view table) {
  return id.ends_with('*') ? table.starts_with(id.substr(0, id.size() - 1)) : id == table;
}

}  // namespace

bool TableMap::has_result(std::string_view name) const {
  return std::any_of(results.begin(), results.end(),
                     [name](const ResultMap& result) { return result.name == name; });
}

const std::pair<std::string, ConfigValue>* TableMap::of(std::string_view table_id) const {
  const auto found = std::find_if(tables.begin(), tables.end(), [table_id](const auto& table) {
    return is_meant(table.first, table_id);
  });
  return found == tables.end() ? nullptr : &*found;
}

Result<TableMap> parse_table_map(std::string_view text, const std::string& path) {
  FORETRACE_TRY(const auto document, parse_config_document(text, path, map_schema));
  TableMap map{.path = path, .tables = {}};
  ConfigFields fields(document, path);
  read_tables(fields, map);
  fields.optional_text("publisher", map.publisher);
  fields.take(read_columns(fields.optional_object("fixed"), map.fixed));
  fields.take(read_columns(fields.object("columns"), map.columns));
  if (const ConfigValue* shared = fields.optional_object("shared")) {
    map.shared = {text_at(*shared, "by"), texts_at(*shared, "columns")};
  }
  if (const ConfigValue* id = fields.optional_object("id")) {
    FORETRACE_TRY(map.id, read_column("id", *id));
  }
  if (const ConfigValue* run = fields.object("run")) map.run = *run;
  for (const char* const known :
       {"unit", "notes", "errors", "total", "mean", "results", "points"}) {
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
