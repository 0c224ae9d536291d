// The points of a sweep: how many, which are best, why others failed.
#include "apps/report/pages/cluster/sweep.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>

#include "apps/report/text.h"
#include "apps/sweep/space/metrics.h"
#include "apps/sweep/space/space.h"
#include "sim/core/whole.h"

namespace foretrace::report::sections {
namespace {

using sweeping::MetricInfo;
using sweeping::MetricUnit;
using sweeping::Objective;
using sweeping::SelectedPoint;
using sweeping::Space;
using sweeping::Sweep;

Value value_of(const MetricInfo& metric, double number) {
  if (std::isnan(number)) return Value::none();
  switch (metric.unit) {
    case MetricUnit::time: return Value::time(to_whole(number));
    case MetricUnit::bytes: return Value::bytes(to_whole(number));
    case MetricUnit::flag: return Value::flag(number != 0);
    case MetricUnit::factor: return Value::factor(number);
    case MetricUnit::share: return Value::share(number);
    case MetricUnit::plain: break;
  }
  if (metric.is_whole) return Value::plain(to_whole(number));
  return Value::plain(number).as(fmt::format("{:.5g}", number));
}

/// "step time 12.3 ms" where the objective is a metric, else "EXPRESSION 0.123".
std::string objective_text(const Sweep& sweep, std::size_t objective, const SelectedPoint& point) {
  const std::string& text = sweep.objectives[objective].value.text();
  for (std::size_t i = 0; i < sweep.metrics.size(); ++i) {
    if (sweep.metrics[i].name != text || i >= point.result.metrics.size()) continue;
    return fmt::format("{} {}", quantity_in_words(text),
                       shown_text(value_of(sweep.metrics[i], point.result.metrics[i])));
  }
  return fmt::format("{} {:.6g}", text, point.objectives[objective]);
}

std::string axes_text(const Sweep& sweep, const SelectedPoint& point) {
  std::string text;
  for (std::size_t i = 0; i < sweep.axes().size(); ++i) {
    const std::string value = Space::text_of(sweep.axes()[i], point.result.where[i]);
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", sweep.axes()[i].name, value);
  }
  return text;
}

std::string sweep_headline(const SweepAnswer& answer) {
  const auto& counts = answer.counts;
  if (counts.rows == 0)
    return "no points: none is computed yet, or constraints exclude all of them\n";
  std::string text =
      fmt::format("{} of {}", count_text(counts.feasible), plural(counts.rows, "point"));
  text += " feasible";
  if (counts.failed > 0) text += fmt::format(", {} failed", count_text(counts.failed));
  if (answer.points.empty()) return text;
  const SelectedPoint& best = answer.points.front();
  if (!best.is_feasible) return text;
  return text + fmt::format("; best {} ({})", objective_text(answer.sweep, 0, best),
                            axes_text(answer.sweep, best));
}

/// What the last run did; not on pages of `--show`.
std::string run_text(const sweeping::SweepRun& run) {
  std::string text = fmt::format("{} computed in {}", plural(run.computed, "point"),
                                 time_text(to_whole(run.seconds * 1e9)));
  if (run.seconds > 0 && run.computed > 0) {
    text += fmt::format(
        " ({} per second)",
        count_text(static_cast<std::uint64_t>(static_cast<double>(run.computed) / run.seconds)));
  }
  if (run.old_rows > 0) {
    text += fmt::format("; the sweep file has changed: {} of {} rows apply and were kept",
                        count_text(run.reused), count_text(run.old_rows));
  } else if (run.found > 0) {
    text += fmt::format("; {} existed already", count_text(run.found));
  }
  if (run.unwanted > 0) {
    text += fmt::format("; {} are excluded by constraints over axes", count_text(run.unwanted));
  }
  return text;
}

/// An axis value as documents have it.
Value axis_value(const sweeping::Axis& axis, double where) {
  const ConfigValue value = Space::value_of(axis, where);
  const std::string text = Space::text_of(axis, where);
  switch (value.kind) {
    case ConfigValue::Kind::null: return Value::none("none");
    case ConfigValue::Kind::boolean: return Value::flag(value.text == "true").as(text);
    case ConfigValue::Kind::number: {
      const double number = std::strtod(value.text.c_str(), nullptr);
      const bool is_whole = value.text.find_first_of(".eE") == std::string::npos;
      return (is_whole ? Value::plain(to_whole(number)) : Value::plain(number)).as(text);
    }
    case ConfigValue::Kind::text:
    case ConfigValue::Kind::list:
    case ConfigValue::Kind::object: break;
  }
  return Value::words(text);
}

/// Axes that stand at one value in all of these points.
std::vector<bool> equal_axes(const SweepAnswer& answer) {
  std::vector<bool> is_equal(answer.sweep.axes().size(), answer.points.size() > 1);
  for (const SelectedPoint& point : answer.points) {
    for (std::size_t i = 0; i < is_equal.size(); ++i) {
      if (point.result.where[i] != answer.points.front().result.where[i]) is_equal[i] = false;
    }
  }
  return is_equal;
}

/// Metrics of the objectives come first; the others follow in detail only, where there are many.
std::vector<std::size_t> metrics_in_order(const Sweep& sweep, std::size_t& asked) {
  std::vector<std::size_t> order;
  const std::size_t first = sweep.axes().size();
  const auto add = [&](std::size_t metric) {
    if (std::find(order.begin(), order.end(), metric) == order.end()) order.push_back(metric);
  };
  for (const Objective& objective : sweep.objectives) {
    for (const std::size_t name : objective.value.uses()) {
      if (name >= first) add(name - first);
    }
  }
  add(0);
  asked = order.size();
  for (std::size_t i = 0; i < sweep.metrics.size(); ++i) add(i);
  return order;
}

Table points_table(const SweepAnswer& answer) {
  const Sweep& sweep = answer.sweep;
  Table table{.key = "points", .name = "points", .title = "point"};
  table.columns.push_back({"id"});
  const std::vector<bool> is_equal = equal_axes(answer);
  std::size_t shown = 0;
  for (std::size_t i = 0; i < sweep.axes().size(); ++i) {
    const std::string& name = sweep.axes()[i].name;
    table.columns.push_back({.key = name,
                             .title = name,
                             .show = is_equal[i] ? Show::details : Show::always,
                             .narrow = Narrow::below});
    shown += is_equal[i] ? 0 : 1;
  }
  std::size_t asked = 0;
  const std::vector<std::size_t> order = metrics_in_order(sweep, asked);
  constexpr std::size_t most_columns = 9;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const MetricInfo& metric = sweep.metrics[order[i]];
    const bool has_room = i < asked || shown + i < most_columns;
    table.columns.push_back({std::string(metric.name), std::string(metric.name),
                             has_room ? Show::always : Show::details});
  }
  const bool has_reasons =
      std::any_of(answer.points.begin(), answer.points.end(),
                  [](const SelectedPoint& point) { return !point.result.reason.empty(); });
  table.columns.push_back({"feasible", "", Show::never});
  table.columns.push_back({"reason", "reason", has_reasons ? Show::always : Show::never});
  for (const SelectedPoint& point : answer.points) {
    std::vector<Value> cells{Value::plain(point.result.point)};
    for (std::size_t i = 0; i < sweep.axes().size(); ++i) {
      cells.push_back(axis_value(sweep.axes()[i], point.result.where[i]));
    }
    for (const std::size_t metric : order) {
      cells.push_back(metric < point.result.metrics.size()
                          ? value_of(sweep.metrics[metric], point.result.metrics[metric])
                          : Value::none());
    }
    cells.push_back(Value::flag(point.is_feasible));
    cells.push_back(Value::known_words(point.result.reason));
    table.add(std::move(cells));
  }
  return table;
}

/// "sequence true, recompute selective" of axes that the table leaves out.
std::string equal_text(const SweepAnswer& answer) {
  const std::vector<bool> is_equal = equal_axes(answer);
  std::string text;
  for (std::size_t i = 0; i < is_equal.size(); ++i) {
    if (!is_equal[i]) continue;
    const auto& axis = answer.sweep.axes()[i];
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", axis.name,
                        Space::text_of(axis, answer.points.front().result.where[i]));
  }
  return text;
}

}  // namespace

Sections swept_points(const SweepAnswer& answer) {
  Section section{.key = "points", .headline = sweep_headline(answer)};
  section.datum("sweep", Value::words(answer.sweep.path));
  std::string objectives;
  for (const Objective& objective : answer.sweep.objectives) {
    objectives += fmt::format("{}{} {}", objectives.empty() ? "" : ", ",
                              objective.is_maximized ? "most" : "least", objective.value.text());
  }
  section.fact("objectives", "wanted", Value::words(objectives));
  if (is_search(answer.sweep.method)) {
    section.line("searched", fmt::format("{} of {} by {}", count_text(answer.counts.rows),
                                         plural(answer.counts.points, "point"),
                                         to_string(answer.sweep.method)));
  }
  section.datum("space_points", Value::count(answer.counts.points));
  section.datum("rows", Value::count(answer.counts.rows));
  section.datum("feasible", Value::count(answer.counts.feasible));
  section.datum("failed", Value::count(answer.counts.failed));
  if (answer.run != nullptr) {
    section.line("run", run_text(*answer.run));
    section.datum("computed", Value::count(answer.run->computed));
    section.datum("reused", Value::count(answer.run->reused));
    section.datum("excluded", Value::count(answer.run->unwanted));
    Value::List doubts;
    for (const std::string& doubt : answer.run->doubts) doubts.push_back(Value::words(doubt));
    section.datum("doubt", Value::list(std::move(doubts)));
  }
  section.line("in all shown", equal_text(answer), Show::brief);
  Value::List reasons;
  for (const sweeping::FailureCount& failure : answer.failures) {
    section.note(fmt::format("{} failed: {}", count_text(failure.points), failure.reason));
    reasons.push_back(Value::object(
        {{"reason", Value::words(failure.reason)}, {"points", Value::count(failure.points)}}));
  }
  section.datum("failures", Value::list(std::move(reasons)));
  section.datum("undefined", Value::count(answer.counts.undefined));
  if (answer.counts.undefined > 0) {
    section.note(
        fmt::format("in {} an expression divides by zero: these fail constraints and rank last",
                    plural(answer.counts.undefined, "point")));
  }
  section.tables.push_back(points_table(answer));
  return {section};
}

}  // namespace foretrace::report::sections
