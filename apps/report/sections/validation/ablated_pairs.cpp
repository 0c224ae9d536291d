// What each rule is worth for predictions: errors of pairs with it and without.
#include "apps/report/pages/ablated_pairs.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/report/text.h"

namespace foretrace::report {
namespace {

std::string pairs_headline(const std::vector<AblatedPairs>& rules) {
  const std::size_t pairs = rules.empty() ? 0 : rules.front().pairs.size();
  if (rules.size() == 1) {
    const AblatedPairs& rule = rules.front();
    return fmt::format("without {}, {} of {} pairs differ: mean error {:.2f} -> {:.2f} %",
                       rule.rule, rule.differing(), pairs, 100 * rule.mean(&AblatedPair::with),
                       100 * rule.mean(&AblatedPair::without));
  }
  std::vector<std::string_view> idle;
  for (const AblatedPairs& rule : rules) {
    if (rule.differing() == 0) idle.push_back(rule.rule);
  }
  return fmt::format("{} of {} rules move none of {} pairs{}{}", idle.size(), rules.size(), pairs,
                     idle.empty() ? "" : ": ", fmt::join(idle, ", "));
}

Value pair_value(const AblatedPair& pair) {
  Value::Object members = {{"pair", Value::words(pair.pair)}};
  if (pair.failure.empty()) {
    members.push_back({"with", Value::change(pair.with)});
    members.push_back({"without", Value::change(pair.without)});
  } else {
    members.push_back({"failure", Value::words(pair.failure)});
  }
  members.push_back({"moved", Value::flag(pair.differs())});
  return Value::object(std::move(members));
}

Value rule_of_pairs(const AblatedPairs& rule) {
  Value::List pairs;
  for (const AblatedPair& pair : rule.pairs) pairs.push_back(pair_value(pair));
  return Value::object(
      {{"rule", Value::words(rule.rule)}, {"pairs", Value::list(std::move(pairs))}});
}

std::string moved_text(const AblatedPair& pair) {
  return pair.failure.empty()
             ? fmt::format("{:+.1f} -> {:+.1f} %", 100 * pair.with, 100 * pair.without)
             : pair.failure;
}

/// Of one rule every pair that it moves, of several one row each.
Table pairs_moved(const std::vector<AblatedPairs>& rules) {
  if (rules.size() == 1) {
    Table table{.name = "pairs", .title = "pair", .columns = {{"pair"}, {"error", "error"}}};
    for (const AblatedPair& pair : rules.front().pairs) {
      if (pair.differs()) table.add({Value::words(pair.pair), Value::words(moved_text(pair))});
    }
    return table;
  }
  Table table{.name = "pairs",
              .title = "without",
              .columns = {{"rule"},
                          {"moved", "differ"},
                          {"mean", "mean error of all pairs"},
                          {"most_moved", "most in"}}};
  for (const AblatedPairs& rule : rules) {
    const AblatedPair* const most = rule.most_moved();
    table.add(
        {Value::words(rule.rule), Value::count(rule.differing()),
         Value::share(rule.mean(&AblatedPair::without)),
         Value::words(most == nullptr ? std::string()
                                      : fmt::format("{}, {}", most->pair, moved_text(*most)))});
  }
  return table;
}

}  // namespace

void add_ablated_pairs(const std::vector<AblatedPairs>& rules, Page& page) {
  Value::List list;
  for (const AblatedPairs& rule : rules) list.push_back(rule_of_pairs(rule));
  Section section{.key = "ablated_pairs", .headline = pairs_headline(rules)};
  section.datum("ablated_pairs", Value::list(std::move(list)));
  section.tables = {pairs_moved(rules)};
  section.note("pairs: predicted / measured - 1, predicted from a graph without the rule");
  page.sections.push_back(std::move(section));
}

}  // namespace foretrace::report
