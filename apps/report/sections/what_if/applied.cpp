// What was applied: parameters, what changed, what it assumes.
#include <algorithm>

#include <fmt/format.h>

#include "apps/report/pages/result.h"
#include "apps/report/sections/parts.h"
#include "apps/report/text.h"
#include "models/hardware/costs/cost_table.h"

namespace foretrace::report::sections {
namespace {

std::string parameters_text(const Applied& applied) {
  std::string text;
  for (const auto& [name, value] : applied.parameters) {
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", name, value);
  }
  return text;
}

/// A table that is part of the question is not repeated.
std::vector<Applied> shown_stack(const ResultAnswer& answer) {
  std::vector<Applied> stack = answer.predicted->prediction().applied;
  if (answer.table_label.empty()) return stack;
  for (Applied& applied : stack) {
    for (auto& [key, value] : applied.parameters) {
      if (costing::CostTable::is_document(value)) value = answer.table_label;
    }
  }
  return stack;
}

Section stack_section(const std::vector<Applied>& stack) {
  Section section{.key = "applied_what_ifs", .title = "applied"};
  for (const Applied& applied : stack) {
    const bool is_formula = applied.info->basis == Basis::formula;
    const std::string changed = fmt::format("{}: {} changed", is_formula ? " (formula)" : "",
                                            plural(applied.tasks_changed, "task"));
    section.notes.push_back({changed, "  ", Show::always, std::string(applied.info->name)});
    if (const std::string parameters = parameters_text(applied); !parameters.empty()) {
      section.notes.push_back({parameters, "    with ", Show::details});
    }
    for (std::size_t i = 0; i < applied.notes.size(); ++i) {
      section.notes.push_back({applied.notes[i], "    ", i == 0 ? Show::always : Show::details});
    }
  }
  return section;
}

/// Each what-if's assumptions once.
Section stack_assumptions(const std::vector<Applied>& stack) {
  Section section{.key = "assumptions", .title = "assumes", .show = Show::details};
  std::vector<const WhatIfInfo*> seen;
  for (const Applied& applied : stack) {
    if (std::find(seen.begin(), seen.end(), applied.info) != seen.end()) continue;
    seen.push_back(applied.info);
    for (const std::string_view assumption : applied.info->assumptions) {
      section.notes.push_back({std::string(assumption), "  - "});
    }
  }
  return section;
}

}  // namespace

Sections applied(const ResultAnswer& answer) {
  if (answer.predicted == nullptr) {
    return {};
  }
  const std::vector<Applied> stack = shown_stack(answer);
  Section document{.key = "applied", .show = Show::never};
  Table table{
      .key = "applied",
      .columns = {
          {"name"}, {"parameters"}, {"tasks_changed"}, {"assumptions"}, {"notes"}, {"basis"}}};
  for (const Applied& applied : stack) {
    table.add({Value::words(applied.info->name), texts_by_name(applied.parameters),
               Value::count(applied.tasks_changed), Value::texts(applied.info->assumptions),
               Value::texts(applied.notes), Value::words(to_string(applied.info->basis))});
  }
  document.tables.push_back(std::move(table));
  return {std::move(document), stack_section(stack), stack_assumptions(stack)};
}

}  // namespace foretrace::report::sections
