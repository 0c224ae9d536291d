// Every what-if with its example settings, on every recording of a folder.
#include <fmt/format.h>

#include "apps/questions/validate/what_if_table.h"
#include "apps/report/section.h"
#include "apps/report/text.h"

namespace foretrace::report::sections {
namespace {

std::string percent_of(const ExampleOutcome& outcome) {
  return fmt::format("{:+.1f} %", 100 * outcome.change());
}

std::string examples_headline(const ExampleTable& examples) {
  std::size_t applied = 0;
  std::size_t errors = 0;
  for (const ExampleRow& row : examples.rows) {
    applied += row.applied();
    for (const ExampleOutcome& outcome : row.outcomes) errors += outcome.is_error ? 1 : 0;
  }
  return fmt::format(
      "{} what-ifs on {} recordings: {} answers, {} refusals, {} of them because a cost or a "
      "device is unknown",
      examples.rows.size(), examples.recordings, applied,
      examples.rows.size() * examples.recordings - applied, errors);
}

Value outcome_value(const ExampleOutcome& outcome) {
  if (!outcome.refusal.empty()) {
    return Value::object(
        {{"trace", Value::words(outcome.trace)}, {"refused", Value::words(outcome.refusal)}});
  }
  return Value::object({{"trace", Value::words(outcome.trace)},
                        {"before_ns", Value::time(outcome.before_ns)},
                        {"after_ns", Value::time(outcome.after_ns)},
                        {"low_ns", Value::time(outcome.low_ns)},
                        {"high_ns", Value::time(outcome.high_ns)},
                        {"samples", Value::plain(outcome.samples)},
                        {"change", Value::change(outcome.change())}});
}

Table what_ifs_table(const ExampleTable& examples) {
  Table table{.name = "what_ifs",
              .title = "what-if",
              .columns = {{"name"},
                          {"settings", "example", Show::details},
                          {"applies", "applies to"},
                          {"least", "from"},
                          {"median", "median"},
                          {"most", "to"},
                          {"least_in", "most gain in", Show::details},
                          {"most_in", "least gain in", Show::details},
                          {.key = "usual_refusal",
                           .title = "usual refusal",
                           .show = Show::details,
                           .is_prose = true}}};
  for (const ExampleRow& row : examples.rows) {
    const auto list = row.by_change();
    const auto cell = [&](std::size_t at) {
      return list.empty() ? Value::none()
                          : Value::change(list[at]->change()).as(percent_of(*list[at]));
    };
    const auto where = [&](std::size_t at) { return list.empty() ? "" : list[at]->trace; };
    const std::size_t last = list.empty() ? 0 : list.size() - 1;
    const std::string mark = row.info->basis == Basis::formula ? " (formula)" : "";
    table.add({Value::words(std::string(row.info->name) + mark), Value::words(row.settings),
               Value::count(list.size()), cell(0), cell(last / 2), cell(last),
               Value::words(where(0)), Value::words(where(last)),
               Value::words(row.usual_refusal())});
  }
  return table;
}

/// Every answer, for CSV.
Table answers_table(const ExampleTable& examples) {
  Table table{.name = "answers",
              .title = "answer",
              .columns = {{"name"},
                          {"trace"},
                          {"before_ns"},
                          {"after_ns"},
                          {"low_ns"},
                          {"high_ns"},
                          {"change"},
                          {"refused"}},
              .show = Show::never};
  for (const ExampleRow& row : examples.rows) {
    for (const ExampleOutcome& outcome : row.outcomes) {
      std::vector<Value> cells = {Value::words(row.info->name), Value::words(outcome.trace)};
      if (outcome.refusal.empty()) {
        cells.insert(cells.end(), {Value::time(outcome.before_ns), Value::time(outcome.after_ns),
                                   Value::time(outcome.low_ns), Value::time(outcome.high_ns),
                                   Value::change(outcome.change())});
      } else {
        cells.insert(cells.end(), {Value::none(), Value::none(), Value::none(), Value::none(),
                                   Value::none(), Value::words(outcome.refusal)});
      }
      table.add(std::move(cells));
    }
  }
  return table;
}

}  // namespace

Sections what_if_examples(const ExampleTable& examples) {
  Value::List list;
  for (const ExampleRow& row : examples.rows) {
    Value::List outcomes;
    for (const ExampleOutcome& outcome : row.outcomes) outcomes.push_back(outcome_value(outcome));
    list.push_back(Value::object({{"name", Value::words(row.info->name)},
                                  {"basis", Value::words(to_string(row.info->basis))},
                                  {"settings", Value::words(row.settings)},
                                  {"recordings", Value::list(std::move(outcomes))}}));
  }
  Section section{.key = "what_ifs", .headline = examples_headline(examples)};
  section.datum("what_ifs", Value::list(std::move(list)));
  section.tables = {what_ifs_table(examples), answers_table(examples)};
  section.note(
      "changes of the time per sample, each what-if alone, with the settings of its "
      "example; --csv=answers and --json have every recording");
  return {std::move(section)};
}

}  // namespace foretrace::report::sections
