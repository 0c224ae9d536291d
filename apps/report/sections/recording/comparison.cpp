// Two runs side by side: the reasons for the difference of their steps, and everything matched.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>

#include <fmt/format.h>

#include "apps/questions/compare/stretches.h"
#include "apps/report/pages/compare.h"
#include "apps/report/sections/words.h"
#include "apps/report/text.h"
#include "sim/core/whole.h"
#include "sim/result/steps/steps.h"

namespace foretrace::report::sections {
namespace {

/// "+3.1 ms"; decimals follow the step.
std::string signed_time_text(std::int64_t ns, std::int64_t scale_ns) {
  return (ns < 0 ? "-" : "+") + time_text(std::abs(ns), scale_ns);
}

/// As changes of memory are told: "+0.000 s" would say how little it may be.
Value change_value(std::int64_t ns, std::int64_t scale_ns) {
  return Value::time(ns).as(ns == 0 ? "same" : signed_time_text(ns, scale_ns));
}

}  // namespace

std::string reason_name(const Compared& reason) {
  const std::string& name = reason.names.front();
  switch (reason.use) {
    case Use::compute:
    case Use::copy: return name;
    case Use::communication: return "exposed " + name;
    case Use::waiting: return "waiting for " + name;
    case Use::host: return "CPU work, " + in_words(name);
    case Use::idle: return name.empty() ? std::string(to_string(Use::idle)) : name;
  }
  return name;
}

namespace {

/// "117 x 435.3 us": so many operations, and how long each.
std::string calls_text(double calls, std::int64_t busy_ns) {
  const auto count = static_cast<std::uint64_t>(to_whole(calls));
  if (count == 0) return "none";
  const std::int64_t each = to_whole(static_cast<double>(busy_ns) / calls);
  return fmt::format("{} x {}", count_text(count), time_text(each));
}

}  // namespace

std::string what_changed(const Compared& row) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  const bool known =
      row.before_precision != Precision::unknown && row.after_precision != Precision::unknown;
  if (known && row.before_precision != row.after_precision) {
    add(fmt::format("{} -> {}", to_string(row.before_precision), to_string(row.after_precision)));
  }
  if (!row.parts.empty() && (row.use == Use::host || row.use == Use::waiting)) {
    const Compared& most = row.parts.front();
    add(fmt::format("{} {}", shorten(function_text(most.names.back()), 60),
                    signed_time_text(most.change_ns(), std::max(row.before_ns, row.after_ns))));
  }
  if (row.before_calls > 0 || row.after_calls > 0) {
    add(fmt::format("{} -> {}", calls_text(row.before_calls, row.before_busy_ns),
                    calls_text(row.after_calls, row.after_busy_ns)));
  }
  if (row.before_bytes != row.after_bytes) {
    add(fmt::format("{} -> {}", bytes_text(row.before_bytes), bytes_text(row.after_bytes)));
  }
  return text;
}

namespace {

std::vector<Value> cells_of(const Compared& row, Value name, const Comparison& comparison) {
  const std::int64_t scale = std::max(comparison.before_ns, comparison.after_ns);
  return {std::move(name),
          Value::words(to_string(row.use)),
          Value::time(row.before_ns),
          Value::time(row.after_ns),
          change_value(row.change_ns(), scale),
          Value::share(share_of(row.change_ns(), comparison.change_ns())),
          Value::time(row.before_busy_ns),
          Value::time(row.after_busy_ns),
          Value::plain(row.before_calls),
          Value::plain(row.after_calls),
          Value::bytes(row.before_bytes),
          Value::bytes(row.after_bytes),
          Value::words(what_changed(row))};
}

/// A prediction beside what was measured of the changed run.
bool is_check(const CompareAnswer& answer) {
  return !answer.before.measured_ns && answer.after.measured_ns;
}

Table amounts_table(std::string key, std::string title, const CompareAnswer& answer) {
  const bool checks = is_check(answer);
  return {.key = std::move(key),
          .title = std::move(title),
          .columns = {{"name"},
                      {"use", "", Show::never},
                      {"before_ns", checks ? "predicted" : "before"},
                      {"after_ns", checks ? "measured" : "after"},
                      {"change_ns", "change"},
                      {"share", "", Show::never},
                      {"before_busy_ns", "", Show::never},
                      {"after_busy_ns", "", Show::never},
                      {"before_calls", "", Show::never},
                      {"after_calls", "", Show::never},
                      {"before_bytes", "", Show::never},
                      {"after_bytes", "", Show::never},
                      {.key = "what", .title = "what changed", .is_prose = true}}};
}

// A page shows so many parts of a reason, and leaves out changes below this share of the step.
constexpr std::size_t most_parts = 3;
constexpr double least_difference = 0.002;

bool is_small(const Compared& row, const Comparison& comparison) {
  const auto step = static_cast<double>(std::max(comparison.before_ns, comparison.after_ns));
  return std::abs(static_cast<double>(row.change_ns())) < least_difference * step;
}

Row reason_row(const Compared& reason, const Comparison& comparison) {
  Row row{.cells = cells_of(reason, Value::words(reason_name(reason)), comparison)};
  for (std::size_t i = 0; i < reason.parts.size(); ++i) {
    const Compared& part = reason.parts[i];
    const bool shown = i < most_parts && !is_small(part, comparison) && reason.parts.size() > 1;
    row.below.push_back(
        {.cells =
             cells_of(part, Value::words(part.names.back()).as(function_text(part.names.back())),
                      comparison),
         .show = shown ? Show::details : Show::never});
  }
  // What has no parts is its own, so that each level of a document adds up to the step.
  if (reason.parts.empty()) row.below.push_back({.cells = row.cells, .show = Show::never});
  return row;
}

std::string top_reasons(const Comparison& comparison) {
  constexpr std::size_t count = 3;
  const std::int64_t scale = std::max(comparison.before_ns, comparison.after_ns);
  std::string text;
  for (std::size_t i = 0; i < std::min(count, comparison.reasons.size()); ++i) {
    const Compared& reason = comparison.reasons[i];
    if (reason.change_ns() == 0) break;
    text += fmt::format("{}{} {}", text.empty() ? ": " : ", ", reason_name(reason),
                        signed_time_text(reason.change_ns(), scale));
  }
  return text;
}

std::string_view range_verdict(const CompareAnswer& answer) {
  const bool is_inside = answer.before.low_ns <= answer.comparison.after_ns &&
                         answer.comparison.after_ns <= answer.before.high_ns;
  return is_inside ? ", within its range" : ", outside its range";
}

std::string comparison_headline(const CompareAnswer& answer) {
  const Comparison& comparison = answer.comparison;
  if (comparison.before_ns == 0 && comparison.after_ns == 0 && comparison.peak) {
    const ComparedBytes& peak = *comparison.peak;
    return fmt::format("memory peak {} -> {} ({})", bytes_text(peak.before_bytes),
                       bytes_text(peak.after_bytes),
                       change_text(peak.after_bytes, peak.before_bytes));
  }
  const std::int64_t scale = std::max(comparison.before_ns, comparison.after_ns);
  if (is_check(answer)) {
    return fmt::format("{} {} predicted, {} measured (prediction {} off{}){}",
                       step_word(answer.after.run.answer), time_text(comparison.before_ns, scale),
                       time_text(comparison.after_ns, scale),
                       change_text(comparison.before_ns, comparison.after_ns),
                       range_verdict(answer), top_reasons(comparison));
  }
  return fmt::format("{} {} -> {} ({}, {}){}", step_word(answer.after.run.answer),
                     time_text(comparison.before_ns, scale), time_text(comparison.after_ns, scale),
                     signed_time_text(comparison.change_ns(), scale),
                     change_text(comparison.after_ns, comparison.before_ns),
                     top_reasons(comparison));
}

std::string noise_remark(const Comparison& comparison) {
  const double change = change_of(comparison.after_ns, comparison.before_ns);
  return comparison.change_ns() != 0 && comparison.scatter > 0 &&
                 std::abs(change) <= comparison.scatter
             ? fmt::format("within the {} scatter of the recorded steps: noise",
                           percent_text(comparison.scatter))
             : std::string();
}

std::string run_text(const ComparedRun& run) {
  const StepAnswer& answer = run.run.answer;
  std::string text = run.name;
  if (!run.has_work()) return text + ", memory alone";
  if (run.measured_ns) {
    text += fmt::format(", {} {} measured, {} simulated", step_word(answer),
                        time_text(*run.measured_ns), time_text(answer.step_ns, *run.measured_ns));
  } else {
    text += fmt::format(", {} {} {}", step_word(answer), time_text(answer.step_ns),
                        run.high_ns > 0 ? "predicted" : "simulated");
    if (run.low_ns != run.high_ns) {
      text += ", between " + time_text(run.low_ns, answer.step_ns) + " and " +
              time_text(run.high_ns, answer.step_ns);
    }
  }
  if (!answer.is_span) text += ", " + plural(run.run.steps.host_ns.size(), "step");
  return text;
}

Section run_section(const std::string& path, const ComparedRun& run) {
  Section section{.key = path, .path = path, .show = Show::never};
  section.datum("name", Value::words(run.name));
  section.datum("measured_ns", Value::time(run.measured_ns));
  section.datum("simulated_ns", Value::time(run.run.answer.step_ns));
  section.datum("low_ns", Value::known_time(run.measured_ns ? -1 : run.low_ns));
  section.datum("high_ns", Value::known_time(run.measured_ns ? -1 : run.high_ns));
  section.datum("steps_ns", Value::numbers(run.run.steps.host_ns));
  section.datum("limit", Value::words(to_string(run.run.answer.limit)));
  section.datum("is_span", Value::flag(run.run.answer.is_span));
  section.datum("scatter", Value::share(run.scatter));
  return section;
}

Section matched_section(std::string key, std::string title, const std::vector<Compared>& rows,
                        const CompareAnswer& answer) {
  const Comparison& comparison = answer.comparison;
  Section section{.key = key, .scale_ns = comparison.before_ns, .show = Show::details};
  Table table = amounts_table(std::move(key), std::move(title), answer);
  constexpr std::size_t longest = 15;
  table.longest = longest;
  for (const Compared& row : rows) {
    table.rows.push_back(
        {.cells = cells_of(row, Value::words(row.names.back()).as(function_text(row.names.back())),
                           comparison)});
  }
  section.tables.push_back(std::move(table));
  return section;
}

}  // namespace

Sections compared_runs(const CompareAnswer& answer) {
  const Comparison& comparison = answer.comparison;
  Section section{.key = "comparison",
                  .headline = comparison_headline(answer),
                  .remark = noise_remark(comparison)};
  section.line(is_check(answer) ? "predicted" : "before", run_text(answer.before));
  section.line(is_check(answer) ? "measured" : "after", run_text(answer.after));
  section.datum("before_ns", Value::time(comparison.before_ns));
  section.datum("after_ns", Value::time(comparison.after_ns));
  section.datum("change_ns", Value::time(comparison.change_ns()));
  section.datum("scatter", Value::share(comparison.scatter));
  return {std::move(section), run_section("before", answer.before),
          run_section("after", answer.after)};
}

Sections compared_uses(const CompareAnswer& answer) {
  const Comparison& comparison = answer.comparison;
  Section section{.key = "uses", .scale_ns = comparison.before_ns};
  Table table = amounts_table("uses", "where the step goes", answer);
  table.columns.back().show = Show::never;
  for (const Compared& use : comparison.uses) {
    table.rows.push_back(
        {.cells = cells_of(use, Value::words(use.names.front()), comparison),
         .show = use.before_ns == 0 && use.after_ns == 0 ? Show::never : Show::always});
  }
  if (comparison.before_ns != 0 || comparison.after_ns != 0) {
    section.tables.push_back(std::move(table));
  }
  return {std::move(section)};
}

Sections compared_reasons(const CompareAnswer& answer) {
  const Comparison& comparison = answer.comparison;
  Section section{.key = "reasons", .scale_ns = comparison.before_ns};
  Table table = amounts_table("reasons", "why, largest change first", answer);
  table.below_key = "parts";
  std::int64_t small_ns = 0;
  std::size_t small = 0;
  for (const Compared& reason : comparison.reasons) {
    Row row = reason_row(reason, comparison);
    if (is_small(reason, comparison)) {
      row.show = Show::details;
      small_ns += reason.change_ns();
      ++small;
    }
    table.rows.push_back(std::move(row));
  }
  const std::int64_t scale = std::max(comparison.before_ns, comparison.after_ns);
  if (small > 0) {
    table.rows.push_back({.cells = {Value::words(plural(small, "smaller change")),
                                    {},
                                    {},
                                    {},
                                    change_value(small_ns, scale)},
                          .show = Show::brief,
                          .is_for_pages = true});
  }
  table.rows.push_back({.cells = {Value::words("together"),
                                  {},
                                  Value::time(comparison.before_ns).from("/before_ns"),
                                  Value::time(comparison.after_ns).from("/after_ns"),
                                  change_value(comparison.change_ns(), scale).from("/change_ns")},
                        .is_for_pages = true});
  if (scale != 0) section.tables.push_back(std::move(table));
  return {std::move(section)};
}

Sections compared_memory(const CompareAnswer& answer) {
  const Comparison& comparison = answer.comparison;
  Section section{.key = "memory", .path = "memory"};
  if (!comparison.peak) return {std::move(section)};
  Table table{.key = "categories",
              .title = "memory at the peak",
              .columns = {{"name"},
                          {"before_bytes", "before"},
                          {"after_bytes", "after"},
                          {"change_bytes", "change"}}};
  const auto row = [](const ComparedBytes& bytes) {
    return std::vector<Value>{Value::words(bytes.name), Value::bytes(bytes.before_bytes),
                              Value::bytes(bytes.after_bytes),
                              Value::bytes_change(bytes.after_bytes - bytes.before_bytes)};
  };
  for (const ComparedBytes& bytes : comparison.memory) table.add(row(bytes));
  const std::string was = "/memory/before_peak_bytes";
  const std::string is = "/memory/after_peak_bytes";
  std::vector<Value> peak = row(*comparison.peak);
  for (std::size_t i = 1; i < peak.size(); ++i) {
    peak[i] = peak[i].from(i == 1 ? was : i == 2 ? is : fmt::format("{} less {}", is, was));
  }
  table.rows.push_back({.cells = std::move(peak), .is_for_pages = true});
  section.datum("before_peak_bytes", Value::bytes(comparison.peak->before_bytes));
  section.datum("after_peak_bytes", Value::bytes(comparison.peak->after_bytes));
  section.tables.push_back(std::move(table));
  return {std::move(section)};
}

Sections compared_details(const CompareAnswer& answer) {
  const Comparison& comparison = answer.comparison;
  Sections sections = {matched_section("phases", "by phase", comparison.phases, answer),
                       matched_section("layers", "by layer", comparison.layers, answer),
                       matched_section("operators", "by operator", comparison.operators, answer)};
  Section kernels{.key = "kernels", .show = Show::never};
  Table table = amounts_table("kernels", "", answer);
  table.columns.insert(table.columns.begin() + 1, {{"layer"}, {"operator"}, {"shapes"}});
  for (const Compared& kernel : comparison.kernels) {
    std::vector<Value> cells = cells_of(kernel, Value::words(kernel.names[2]), comparison);
    const Value place[] = {Value::words(kernel.names[0]), Value::words(kernel.names[1]),
                           Value::words(kernel.names[3])};
    cells.insert(cells.begin() + 1, std::begin(place), std::end(place));
    table.add(std::move(cells));
  }
  kernels.tables.push_back(std::move(table));
  sections.push_back(std::move(kernels));
  return sections;
}

}  // namespace foretrace::report::sections
