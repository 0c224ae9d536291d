// What papers report, beside what is predicted on the nearest recording.
#include <algorithm>

#include <fmt/format.h>

#include "apps/report/text.h"
#include "tests/validation/report/pages.h"

namespace foretrace::report::sections {
namespace {

std::string gain_text(const Gain& gain) {
  return gain.low == gain.high ? factor_text(gain.low)
                               : factor_text(gain.low) + " to " + factor_text(gain.high);
}

Value gain_value(const Gain& gain) {
  return Value::list({Value::factor(gain.low), Value::factor(gain.high)});
}

std::size_t claims_with(const std::vector<ClaimRow>& claims, Verdict verdict) {
  return static_cast<std::size_t>(
      std::count_if(claims.begin(), claims.end(),
                    [verdict](const ClaimRow& row) { return row.verdict() == verdict; }));
}

std::string claims_headline(const std::vector<ClaimRow>& claims) {
  const auto failed = static_cast<std::size_t>(std::count_if(
      claims.begin(), claims.end(), [](const ClaimRow& row) { return !row.failure.empty(); }));
  const std::size_t not_comparable = claims_with(claims, Verdict::not_comparable);
  const std::size_t compared =
      claims.size() - claims_with(claims, Verdict::not_compared) - not_comparable;
  return fmt::format(
      "{} of {} published gains are inside the predicted range; {} below, {} above, {} opposite;\n"
      "{} are beside a published figure that they are not comparable with;\n"
      "{} rows are predicted without a published figure, {} are not predicted",
      claims_with(claims, Verdict::inside), compared, claims_with(claims, Verdict::below),
      claims_with(claims, Verdict::above), claims_with(claims, Verdict::opposite), not_comparable,
      claims.size() - compared - not_comparable - failed, failed);
}

/// As documents have it: a row without a prediction has its failure instead.
Value claim_value(const ClaimRow& row) {
  Value::Object members = {{"name", Value::words(row.name)},
                           {"source", Value::words(row.source)},
                           {"published", Value::words(row.published)}};
  const auto add = [&](const char* key, Value value) {
    members.push_back({key, std::move(value)});
  };
  if (row.published_gain) add("published_gain", gain_value(*row.published_gain));
  if (!row.failure.empty()) {
    add("failure", Value::words(row.failure));
    return Value::object(std::move(members));
  }
  add("gain_of", Value::words(to_string(row.of)));
  add("applied", Value::words(row.applied));
  add("workload", Value::words(row.workload));
  add("predicted_gain", Value::factor(row.predicted_gain));
  add("predicted_range", gain_value(row.predicted));
  add("verdict", Value::words(to_string(row.verdict())));
  if (!row.not_comparable.empty()) add("not_comparable", Value::words(row.not_comparable));
  return Value::object(std::move(members));
}

Table claims_table(const std::vector<ClaimRow>& claims) {
  Table table{.name = "claims",
              .title = "row",
              .columns = {{"name"},
                          {"source", "source", Show::details},
                          {"published", "published", Show::details},
                          {"gain_of", "gain of"},
                          {"published_gain", "published gain"},
                          {"predicted_gain", "predicted"},
                          {"predicted_range", "range", Show::details},
                          {"verdict", ""},
                          {"applied", "with", Show::details},
                          {"workload", "on"},
                          {"why", "why", Show::details}}};
  for (const ClaimRow& row : claims) {
    if (!row.failure.empty()) continue;
    table.add(
        {Value::words(row.name), Value::words(row.source), Value::words(row.published),
         Value::words(to_string(row.of)),
         row.published_gain ? gain_value(*row.published_gain).as(gain_text(*row.published_gain))
                            : Value::none(),
         Value::factor(row.predicted_gain), gain_value(row.predicted).as(gain_text(row.predicted)),
         Value::words(to_string(row.verdict())), Value::words(row.applied),
         Value::words(row.workload),
         Value::words(row.not_comparable.empty() ? row.why : row.not_comparable)});
  }
  return table;
}

Table not_predicted_table(const std::vector<ClaimRow>& claims) {
  Table table{.name = "not_predicted",
              .title = "not predicted",
              .columns = {{"name"},
                          {"published", "published", Show::details},
                          {.key = "why", .title = "why", .is_prose = true}}};
  for (const ClaimRow& row : claims) {
    if (row.failure.empty()) continue;
    table.add({Value::words(row.name), Value::words(row.published), Value::words(row.failure)});
  }
  return table;
}

}  // namespace

Sections predicted_claims(const std::vector<ClaimRow>& claims) {
  Value::List list;
  for (const ClaimRow& row : claims) list.push_back(claim_value(row));
  Section section{.key = "claims", .headline = claims_headline(claims)};
  section.datum("claims", Value::list(std::move(list)));
  section.tables = {claims_table(claims)};
  Section missing{.key = "not_predicted"};
  missing.tables = {not_predicted_table(claims)};
  return {std::move(section), std::move(missing)};
}

}  // namespace foretrace::report::sections
