// Pages of sections as JSON documents.
#include <nlohmann/json.hpp>

#include "apps/report/writers.h"
#include "sim/core/hidden_text.h"

namespace foretrace::report {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const Value& value);

struct ToJson {
  Json operator()(std::monostate /*null*/) const { return nullptr; }
  Json operator()(bool value) const { return value; }
  Json operator()(std::int64_t value) const { return value; }
  Json operator()(double value) const { return value; }
  Json operator()(const std::string& value) const { return value; }
  Json operator()(const Value::Numbers& values) const { return values; }
  Json operator()(const Value::List& values) const {
    Json list = Json::array();
    for (const Value& value : values) list.push_back(json_of(value));
    return list;
  }
  Json operator()(const Value::Object& members) const {
    Json object = Json::object();
    for (const Member& member : members) object[member.key] = json_of(member.value);
    return object;
  }
};

Json json_of(const Value& value) { return std::visit(ToJson{}, value.held); }

/// The value at "a/b/c", made where it is missing.
Json& at(Json& document, std::string_view path) {
  Json* place = &document;
  while (!path.empty()) {
    const std::string_view key = path.substr(0, path.find('/'));
    path.remove_prefix(std::min(path.size(), key.size() + 1));
    place = &(*place)[std::string(key)];
    if (place->is_discarded()) *place = nullptr;
  }
  return *place;
}

Json rows_of(const Table& table, const std::vector<Row>& rows);

Json row_of(const Table& table, const Row& row) {
  Json object = Json::object();
  for (std::size_t i = 0; i < table.columns.size() && i < row.cells.size(); ++i) {
    if (!table.columns[i].key.empty()) object[table.columns[i].key] = json_of(row.cells[i]);
  }
  if (!table.below_key.empty()) object[table.below_key] = rows_of(table, row.below);
  return object;
}

/// An object with one entry per row.
void add_rows(const Table& table, Json& object) {
  std::vector<std::size_t> keyed;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (!table.columns[i].key.empty()) keyed.push_back(i);
  }
  if (object.is_null()) object = Json::object();
  for (const Row& row : table.rows) {
    if (row.is_for_pages) continue;
    object[row.key] = keyed.size() == 1 ? json_of(row.cells[keyed[0]]) : row_of(table, row);
  }
}

Json rows_of(const Table& table, const std::vector<Row>& rows) {
  Json list = Json::array();
  for (const Row& row : rows) {
    if (!row.is_for_pages) list.push_back(row_of(table, row));
  }
  return list;
}

void add(const Section& section, Json& document) {
  for (const Fact& fact : section.facts) {
    if (!fact.key.empty()) at(document, section.path)[fact.key] = json_of(fact.value);
  }
  for (const Table& table : section.tables) {
    if (table.key.empty()) continue;
    Json& place = at(document, section.path);
    Json& rows = table.key == "." ? place : place[table.key];
    if (rows.is_discarded()) rows = nullptr;
    if (table.is_object) {
      add_rows(table, rows);
    } else {
      rows = rows_of(table, table.rows);
    }
  }
}

Json document_of(const Page& page) {
  Json document;
  if (!page.schema.empty()) document["schema"] = page.schema;
  for (const std::string& key : page.document_keys) document[key] = Json::value_t::discarded;
  for (const Section& section : page.sections) add(section, document);
  for (const std::string& key : page.document_keys) {
    if (document[key].is_discarded()) document.erase(key);
  }
  if (!page.parts_key.empty()) {
    Json& parts = document[page.parts_key] = Json::array();
    for (const Page& part : page.parts) parts.push_back(document_of(part));
  }
  return document;
}

}  // namespace

std::string json_of(const Page& page) {
  return with_hidden_escaped(
             document_of(page).dump(2, ' ', false, Json::error_handler_t::replace)) +
         "\n";
}

}  // namespace foretrace::report
