// Two what-ifs together, beside each of them alone.
#include <algorithm>

#include <fmt/format.h>

#include "apps/report/text.h"
#include "tests/validation/report/pages.h"

namespace foretrace::report::sections {
namespace {

/// Less is no difference.
constexpr double least_difference = 0.02;

Value gain_of(const PairOutcome& outcome) { return Value::factor(outcome.gain); }

Value memory_of(const PairOutcome& outcome) {
  return outcome.live_bytes ? Value::bytes(*outcome.live_bytes) : Value::none();
}

std::size_t rows_with(const WhatIfPairs& pairs, double sign) {
  return static_cast<std::size_t>(
      std::count_if(pairs.rows.begin(), pairs.rows.end(), [sign](const WhatIfPair& row) {
        return row.refusal.empty() && sign * row.more() > least_difference;
      }));
}

std::string pairs_headline(const WhatIfPairs& pairs) {
  const auto refused = static_cast<std::size_t>(
      std::count_if(pairs.rows.begin(), pairs.rows.end(),
                    [](const WhatIfPair& row) { return !row.refusal.empty(); }));
  return fmt::format(
      "{} what-ifs change {}: {} pairs, {} of them find nothing for the second\n"
      "{} gain more than 2 % beyond the product of both gains, {} stay more than 2 % below it",
      pairs.applied, pairs.recording, pairs.rows.size(), refused, rows_with(pairs, 1),
      rows_with(pairs, -1));
}

}  // namespace

Sections two_what_ifs(const WhatIfPairs& pairs) {
  Section section{.key = "pairs", .headline = pairs_headline(pairs)};
  section.datum("live_bytes", memory_of(pairs.now));
  Table table{.name = "pairs",
              .title = "first",
              .columns = {{"first"},
                          {"second", "second"},
                          {"first_gain", "first alone"},
                          {"second_gain", "second alone"},
                          {"gain", "together"},
                          {"more", "beyond their product"},
                          {"first_live_bytes", "memory, first"},
                          {"second_live_bytes", "memory, second"},
                          {"live_bytes", "memory, together"},
                          {.key = "refusal", .title = "refused", .is_prose = true}}};
  for (const WhatIfPair& row : pairs.rows) {
    const bool both = row.refusal.empty();
    table.add({Value::words(row.first), Value::words(row.second), gain_of(row.first_alone),
               gain_of(row.second_alone), both ? gain_of(row.together) : Value::none(),
               both ? Value::change(row.more()) : Value::none(), memory_of(row.first_alone),
               memory_of(row.second_alone), both ? memory_of(row.together) : Value::none(),
               Value::words(row.refusal)});
  }
  section.tables = {std::move(table)};
  return {std::move(section)};
}

}  // namespace foretrace::report::sections
