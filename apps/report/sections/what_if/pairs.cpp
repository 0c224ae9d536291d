// What-ifs tried two at a time: what they give together, beside the sum of both.
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/report/pages/result.h"
#include "apps/report/sections/parts.h"
#include "apps/report/sections/words.h"
#include "apps/report/text.h"
#include "sim/result/steps/steps.h"

namespace foretrace::report::sections {
namespace {

// Longer lists are cut; documents have them whole.
constexpr std::size_t most_pair_rows = 15;
constexpr std::size_t brief_pair_rows = 6;

std::string pairs_headline(const ResultAnswer& answer) {
  const PairRanking& pairs = *answer.pairs;
  const StepAnswer& step = answer.session.run().answer;
  if (pairs.rows.empty()) {
    return fmt::format("no two of {} can be combined", plural(pairs.singles.size(), "what-if"));
  }
  const RankedPair& best = pairs.rows.front();
  std::string line =
      fmt::format("best of {}: {}, then {}, {} {} -> {} ({}, {})",
                  plural(pairs.rows.size(), "pair"), best.first->name, best.second->name,
                  step_word(step), time_text(step.step_ns), time_text(best.step_ns, step.step_ns),
                  change_text(best.step_ns, step.step_ns), factor_text(best.speedup));
  if (answer.ranking->by == RankBy::memory && best.memory) {
    line += fmt::format(", live peak {} -> {}", bytes_text(answer.ranking->memory->live_bytes),
                        bytes_text(best.memory->live_bytes));
  }
  return line;
}

std::string verdict(std::int64_t together, std::int64_t sum, std::int64_t tolerance) {
  if (std::abs(together - sum) <= tolerance) return "as sum";
  return together > sum ? "less" : "more";
}

/// Both figures of a pair, and whether both together give what they give alone.
std::vector<Value> pair_cells(const ResultAnswer& answer, const RankedPair& pair) {
  const Ranking& ranking = *answer.ranking;
  const std::int64_t before = answer.session.step_ns();
  const Value step = Value::time(pair.step_ns);
  const Value change = Value::change(change_of(pair.step_ns, before));
  const std::int64_t live = ranking.memory ? ranking.memory->live_bytes : 0;
  const Value peak = pair.memory ? Value::bytes(pair.memory->live_bytes) : Value{};
  const Value saved = pair.memory ? Value::bytes_change(pair.memory->live_bytes - live) : Value{};
  if (ranking.by == RankBy::memory) {
    return {peak,
            saved,
            Value::bytes_change(pair.added_live_bytes - live),
            Value::words(verdict(pair.memory->live_bytes, pair.added_live_bytes,
                                 answer.pairs->tolerance_bytes)),
            step,
            change};
  }
  return {step,
          change,
          Value::change(change_of(pair.added_ns, before)),
          Value::words(verdict(pair.step_ns, pair.added_ns, answer.pairs->tolerance_ns)),
          peak,
          saved};
}

Value together_value(const PairRanking& pairs, const RankedPair& pair) {
  const std::int64_t difference = pair.step_ns - pair.added_ns;
  return Value::words(std::abs(difference) <= pairs.tolerance_ns ? "as the sum"
                      : difference > 0                           ? "less than the sum"
                                                                 : "more than the sum");
}

Table pair_rows(const ResultAnswer& answer) {
  const PairRanking& pairs = *answer.pairs;
  const bool by_memory = answer.ranking->by == RankBy::memory;
  const bool has_memory = answer.ranking->memory.has_value();
  const std::int64_t before = answer.session.step_ns();
  const std::string first = by_memory ? "live peak" : "step";
  const std::string second = by_memory ? "step" : has_memory ? "live peak" : "";
  Table table{.key = "rows",
              .name = "pairs",
              .title = "two together",
              .columns = {{"first"},
                          {"", first},
                          {"", "change"},
                          {"", "sum"},
                          {"", "gives"},
                          {.title = second, .narrow = Narrow::left_out},
                          {.title = second.empty() ? "" : "change", .narrow = Narrow::left_out}},
              .longest = most_pair_rows,
              .brief = brief_pair_rows};
  for (const char* const key :
       {"second", "step_ns", "low_ns", "high_ns", "speedup", "time_ratio", "sum_of_parts_ns",
        "together", "other_order_ns", "memory", "sum_of_parts_live_bytes"}) {
    table.columns.push_back({key, "", Show::never});
  }
  for (const RankedPair& pair : pairs.rows) {
    std::vector<Value> cells = {Value::words(pair.first->name)};
    for (Value& value : pair_cells(answer, pair)) cells.push_back(std::move(value));
    for (Value& value : std::vector<Value>{
             Value::words(pair.second->name), Value::time(pair.step_ns), Value::time(pair.low_ns),
             Value::time(pair.high_ns), Value::factor(pair.speedup),
             Value::factor(time_ratio_of(before, pair.step_ns)), Value::time(pair.added_ns),
             together_value(pairs, pair), Value::none(), need_value(pair.memory),
             pair.memory ? Value::bytes(pair.added_live_bytes) : Value::none()}) {
      cells.push_back(std::move(value));
    }
    Row row{.cells = std::move(cells)};
    row.below.push_back(
        {.cells = {Value::words(fmt::format("then {}", pair.second->name))}, .is_for_pages = true});
    table.rows.push_back(std::move(row));
  }
  return table;
}

Section illegal_section(const PairRanking& pairs) {
  Section section{.key = "not_together", .title = "not combined", .show = Show::details};
  for (const IllegalPair& pair : pairs.illegal) {
    section.notes.push_back({pair.reason, fmt::format("  {}, {}: ", pair.first, pair.second)});
  }
  return section;
}

}  // namespace

Sections pairs(const ResultAnswer& answer) {
  if (answer.pairs == nullptr) {
    return {};
  }
  const PairRanking& pairs = *answer.pairs;
  const bool by_memory = answer.ranking->by == RankBy::memory;
  Section section{.key = "pairs",
                  .path = "pairs",
                  .headline = pairs_headline(answer),
                  .scale_ns = answer.session.step_ns()};
  section.line("combined", fmt::format("the best {} of the what-ifs that gain {} alone, with their "
                                       "defaults (--top N for more): {}",
                                       pairs.singles.size(), by_memory ? "memory" : "time",
                                       fmt::join(pairs.singles, ", ")));
  section.datum("top", Value::count(pairs.most_singles));
  section.datum("singles", Value::texts(pairs.singles));
  section.datum("tried", Value::count(pairs.tried));
  section.datum("tolerance_ns", Value::time(pairs.tolerance_ns));
  section.datum("tolerance_bytes", Value::bytes(pairs.tolerance_bytes));
  section.tables.push_back(pair_rows(answer));
  Value::List illegal;
  for (const IllegalPair& pair : pairs.illegal) {
    illegal.push_back(Value::object({{"first", Value::words(pair.first)},
                                     {"second", Value::words(pair.second)},
                                     {"reason", Value::words(pair.reason)}}));
  }
  section.datum("illegal", Value::list(std::move(illegal)));
  if (!pairs.rows.empty()) {
    section.note(fmt::format("sum: if both gains added up; less or more: by over {}",
                             by_memory ? bytes_text(pairs.tolerance_bytes)
                                       : time_text(pairs.tolerance_ns, answer.session.step_ns())));
  }
  if (!pairs.illegal.empty()) {
    section.notes.push_back(
        {fmt::format("{} cannot be combined (--details)", plural(pairs.illegal.size(), "pair")),
         "  ", Show::brief});
  }
  return {std::move(section), illegal_section(pairs)};
}

}  // namespace foretrace::report::sections
