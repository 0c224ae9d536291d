// What each rule is worth: errors and reactions of replays with it and without.
#include "apps/questions/validate/ablation.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/report/section.h"
#include "apps/report/text.h"

namespace foretrace::report::sections {
namespace {

std::string both(const AblatedRule& rule, double GraphErrors::*error) {
  return fmt::format("{:.2f} -> {:.2f} %", 100 * rule.mean(&AblatedTrace::with, error),
                     100 * rule.mean(&AblatedTrace::without, error));
}

std::string rules_headline(const std::vector<AblatedRule>& rules) {
  if (rules.size() == 1) {
    const AblatedRule& rule = rules.front();
    return fmt::format(
        "without {}, {} of {} replays differ: mean error of the span {}, with an infinitely fast "
        "GPU {}",
        rule.rule, rule.differing(), rule.traces.size(), both(rule, &GraphErrors::span),
        both(rule, &GraphErrors::device_x0));
  }
  std::vector<std::string_view> idle;
  for (const AblatedRule& rule : rules) {
    if (rule.differing() == 0) idle.push_back(rule.rule);
  }
  return fmt::format("{} of {} rules change no replay of {}{}{}", idle.size(), rules.size(),
                     rules.empty() ? 0 : rules.front().traces.size(), idle.empty() ? "" : ": ",
                     fmt::join(idle, ", "));
}

Value errors_value(const GraphErrors& errors) {
  return Value::object({{"span", Value::change(errors.span)},
                        {"worst_step", Value::change(errors.worst_step)},
                        {"device_x0", Value::change(errors.device_x0)},
                        {"host_x0", Value::change(errors.host_x0)},
                        {"device_double", Value::change(errors.device_double)},
                        {"unexplained", Value::share(errors.unexplained)}});
}

Value rule_value(const AblatedRule& rule) {
  Value::List traces;
  for (const AblatedTrace& trace : rule.traces) {
    Value::Object members = {{"trace", Value::words(trace.trace)}};
    if (trace.failure.empty()) {
      members.push_back({"with", errors_value(trace.with)});
      members.push_back({"without", errors_value(trace.without)});
      members.push_back({"moved", Value::flag(trace.differs)});
    } else {
      members.push_back({"failure", Value::words(trace.failure)});
    }
    traces.push_back(Value::object(std::move(members)));
  }
  return Value::object({{"rule", Value::words(rule.rule)},
                        {"doc", Value::words(rule.doc)},
                        {"moved", Value::count(rule.differing())},
                        {"traces", Value::list(std::move(traces))}});
}

Table rules_table(const std::vector<AblatedRule>& rules) {
  Table table{
      .name = "rules",
      .title = "without",
      .columns = {{"rule"},
                  {"moved", "differ"},
                  {"span", "span"},
                  {"worst_step", "worst step"},
                  {"device_x0", "device x0"},
                  {"host_x0", "host x0"},
                  {"unexplained", "unexplained"},
                  {"most_moved", "most in", Show::details},
                  {.key = "doc", .title = "finds", .show = Show::details, .is_prose = true}}};
  const auto add = [&](const AblatedRule& rule, GraphErrors AblatedTrace::*of,
                       std::vector<Value> ends) {
    const auto cell = [&](double GraphErrors::*error) {
      return Value::share(rule.mean(of, error))
          .as(fmt::format("{:.2f} %", 100 * rule.mean(of, error)));
    };
    table.add({std::move(ends[0]), std::move(ends[1]), cell(&GraphErrors::span),
               cell(&GraphErrors::worst_step), cell(&GraphErrors::device_x0),
               cell(&GraphErrors::host_x0), cell(&GraphErrors::unexplained), std::move(ends[2]),
               std::move(ends[3])});
  };
  if (!rules.empty()) {
    add(rules.front(), &AblatedTrace::with,
        {Value::words("(no rule)"), Value::none(""), Value::words(""), Value::words("")});
  }
  for (const AblatedRule& rule : rules) {
    const AblatedTrace* const most = rule.most_moved();
    add(rule, &AblatedTrace::without,
        {Value::words(rule.rule), Value::count(rule.differing()),
         Value::words(most == nullptr ? "" : most->trace), Value::words(rule.doc)});
  }
  return table;
}

/// Of one rule: every replay that differs.
Table traces_table(const AblatedRule& rule) {
  Table table{.name = "traces",
              .title = "trace",
              .columns = {{"trace"},
                          {"span", "error of the span"},
                          {"worst_step", "worst step"},
                          {"device_x0", "device x0"},
                          {"host_x0", "host x0"},
                          {"device_double", "device x2"},
                          {"unexplained", "unexplained"}}};
  for (const AblatedTrace& trace : rule.traces) {
    if (!trace.failure.empty()) {
      table.add({Value::words(trace.trace), Value::words(trace.failure)});
    }
    if (!trace.differs) continue;
    const auto cell = [&](double GraphErrors::*error) {
      return Value::words(
          fmt::format("{:+.2f} -> {:+.2f} %", 100 * trace.with.*error, 100 * trace.without.*error));
    };
    table.add({Value::words(trace.trace), cell(&GraphErrors::span), cell(&GraphErrors::worst_step),
               cell(&GraphErrors::device_x0), cell(&GraphErrors::host_x0),
               cell(&GraphErrors::device_double), cell(&GraphErrors::unexplained)});
  }
  return table;
}

}  // namespace

Sections ablated_rules(const std::vector<AblatedRule>& rules) {
  Value::List list;
  for (const AblatedRule& rule : rules) list.push_back(rule_value(rule));
  Section section{.key = "rules", .headline = rules_headline(rules)};
  section.datum("rules", Value::list(std::move(list)));
  section.tables = {rules.size() == 1 ? traces_table(rules.front()) : rules_table(rules)};
  section.tables.front().name = "rules";
  section.note(
      "with the rule -> without it; shares of the recorded span: simulated minus measured, and, "
      "with a device or host that takes no time, simulated minus the time of the events");
  return {std::move(section)};
}

}  // namespace foretrace::report::sections
