// One table of a page as CSV (RFC 4180): figures as in documents, lists joined by semicolons.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/report/csv_cell.h"
#include "apps/report/writers.h"
#include "sim/core/params.h"

namespace foretrace::report {
namespace {

struct ToText {
  std::string operator()(std::monostate /*null*/) const { return {}; }
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(std::int64_t value) const { return std::to_string(value); }
  std::string operator()(double value) const { return fmt::format("{}", value); }
  std::string operator()(const std::string& value) const { return value; }
  std::string operator()(const Value::Numbers& values) const {
    return fmt::format("{}", fmt::join(values, ";"));
  }
  std::string operator()(const Value::List& values) const {
    std::vector<std::string> texts;
    for (const Value& value : values) texts.push_back(std::visit(*this, value.held));
    return fmt::format("{}", fmt::join(texts, ";"));
  }
  std::string operator()(const Value::Object& members) const {
    std::vector<std::string> texts;
    for (const Member& member : members) {
      texts.push_back(member.key + "=" + std::visit(*this, member.value.held));
    }
    return fmt::format("{}", fmt::join(texts, ";"));
  }
};

/// Whether the text begins with one from elsewhere; figures and keys are ours.
bool begins_with_words(const Value& value) {
  if (std::holds_alternative<std::string>(value.held)) return true;
  const auto* const list = std::get_if<Value::List>(&value.held);
  return list != nullptr && !list->empty() && begins_with_words(list->front());
}

std::string cell_of(const Value& value) {
  const std::string text = std::visit(ToText{}, value.held);
  return begins_with_words(value) ? csv_name(text) : csv_cell(text);
}

/// A table and the part of the page that it stands in.
struct Found {
  const Table* table = nullptr;
  std::string part;
};

bool has_figures(const Table& table) {
  return std::any_of(table.columns.begin(), table.columns.end(),
                     [](const Column& column) { return !column.key.empty(); });
}

const std::string& name_of(const Section& section, const Table& table) {
  return !table.name.empty()                     ? table.name
         : table.key.empty() || table.key == "." ? section.key
                                                 : table.key;
}

/// Names of all tables, each once.
void add_names(const Page& page, std::vector<std::string>& names) {
  for (const Section& section : page.sections) {
    for (const Table& table : section.tables) {
      const std::string& name = name_of(section, table);
      if (has_figures(table) && std::find(names.begin(), names.end(), name) == names.end()) {
        names.push_back(name);
      }
    }
  }
  for (const Page& part : page.parts) add_names(part, names);
}

/// The first table that the page shows, where its main one is missing; empty: it shows none.
std::string first_shown(const Page& page) {
  for (const Section& section : page.sections) {
    for (const Table& table : section.tables) {
      if (section.show != Show::never && has_figures(table) && !table.rows.empty()) {
        return name_of(section, table);
      }
    }
  }
  for (const Page& part : page.parts) {
    if (std::string name = first_shown(part); !name.empty()) return name;
  }
  return {};
}

void find(const Page& page, std::string_view name, std::vector<Found>& found) {
  for (const Section& section : page.sections) {
    for (const Table& table : section.tables) {
      if (has_figures(table) && name_of(section, table) == name) {
        found.push_back({&table, page.part_name});
      }
    }
  }
  for (const Page& part : page.parts) find(part, name, found);
}

/// A column of the file: one of the table, or a member of one that holds objects.
struct Field {
  std::size_t column = 0;
  std::string member{};  ///< empty: the value itself
  std::string name;
};

/// Objects become one field per member, as the first of them has them.
void add_fields(const Table& table, std::size_t column, std::vector<Field>& fields) {
  const std::string& name = table.columns[column].key;
  if (name.empty()) return;
  for (const Row& row : table.rows) {
    if (column >= row.cells.size()) continue;
    const auto* const object = std::get_if<Value::Object>(&row.cells[column].held);
    if (object == nullptr) continue;
    for (const Member& member : *object) {
      fields.push_back({column, member.key, name + "." + member.key});
    }
    return;
  }
  fields.push_back({column, {}, name});
}

std::string cell_of(const Field& field, const Value& value) {
  if (field.member.empty()) return cell_of(value);
  const auto* const object = std::get_if<Value::Object>(&value.held);
  if (object == nullptr) return {};
  const auto member = std::find_if(object->begin(), object->end(), [&](const Member& candidate) {
    return candidate.key == field.member;
  });
  return member == object->end() ? std::string() : cell_of(member->value);
}

bool has_rows_below(const Table& table) {
  return std::any_of(table.rows.begin(), table.rows.end(), [](const Row& row) {
    return std::any_of(row.below.begin(), row.below.end(),
                       [](const Row& below) { return !below.is_for_pages; });
  });
}

class CsvWriter {
 public:
  CsvWriter(const std::vector<Found>& found, const std::string& part_name) {
    const Table& first = *found.front().table;
    for (std::size_t i = 0; i < first.columns.size(); ++i) add_fields(first, i, fields_);
    has_parts_ = !part_name.empty();
    is_tree_ = has_rows_below(first);
    std::vector<std::string> head;
    if (has_parts_) head.push_back(csv_name(part_name));
    if (is_tree_) head.emplace_back("level");
    if (first.is_object) head.emplace_back("name");
    for (const Field& field : fields_) head.push_back(csv_name(field.name));
    line(head);
    for (const Found& one : found) {
      for (const Row& row : one.table->rows) add(one, row, 0);
    }
  }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  void line(const std::vector<std::string>& cells) {
    text_ += fmt::format("{}\n", fmt::join(cells, ","));
  }

  void add(const Found& found, const Row& row, std::size_t level) {
    if (row.is_for_pages) return;
    std::vector<std::string> cells;
    if (has_parts_) cells.push_back(csv_name(found.part));
    if (is_tree_) cells.push_back(std::to_string(level));
    if (found.table->is_object) cells.push_back(csv_name(row.key));
    for (const Field& field : fields_) {
      cells.push_back(field.column < row.cells.size() ? cell_of(field, row.cells[field.column])
                                                      : std::string());
    }
    line(cells);
    if (!is_tree_) return;
    for (const Row& below : row.below) add(found, below, level + 1);
  }

  std::string text_;
  std::vector<Field> fields_;
  bool has_parts_ = false;
  bool is_tree_ = false;
};

}  // namespace

Result<std::string> csv_of(const Page& page, std::string_view name) {
  std::string wanted(name.empty() ? std::string_view(page.main_table) : name);
  std::vector<Found> found;
  find(page, wanted, found);
  if (found.empty() && name.empty()) {
    wanted = first_shown(page);
    find(page, wanted, found);
  }
  if (found.empty()) {
    std::vector<std::string> names;
    add_names(page, names);
    if (name.empty()) return Error{ErrorCode::no_match, "main table: this answer shows no table"};
    const std::vector<std::string_view> views(names.begin(), names.end());
    return Error{ErrorCode::bad_usage,
                 fmt::format("named table: no table '{}' in this answer, expected {}{}", name,
                             names.empty() ? std::string("none")
                                           : fmt::format("one of {}", fmt::join(names, ", ")),
                             did_you_mean(name, views))};
  }
  return CsvWriter(found, page.parts.empty() ? std::string() : page.part_title).take();
}

}  // namespace foretrace::report
