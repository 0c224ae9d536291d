#include "apps/explorer/sweep_page.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apps/explorer/document.h"
#include "apps/explorer/page_pieces.h"
#include "apps/report/text.h"
#include "apps/report/writers.h"
#include "sim/core/hidden_text.h"
#include "sim/core/text.h"
#include "sim/core/whole.h"

namespace foretrace::explorer {
namespace {

using nlohmann::json;
using report::html_text;
using sweeping::Axis;
using sweeping::MetricUnit;
using sweeping::SelectedPoint;
using sweeping::Space;
using sweeping::Sweep;

std::string_view unit_text(MetricUnit unit) {
  switch (unit) {
    case MetricUnit::time: return "ns";
    case MetricUnit::bytes: return "bytes";
    case MetricUnit::flag: return "flag";
    case MetricUnit::factor: return "factor";
    case MetricUnit::share: return "share";
    case MetricUnit::plain: break;
  }
  return "";
}

std::string figure_text(double value, MetricUnit unit) {
  switch (unit) {
    case MetricUnit::time: return report::time_text(to_whole(value));
    case MetricUnit::bytes: return report::bytes_text(to_whole(value));
    case MetricUnit::share: return report::percent_text(value);
    default: return fmt::format("{:.4g}", value);
  }
}

MetricUnit unit_of(const Sweep& sweep, std::size_t objective) {
  for (const sweeping::MetricInfo& metric : sweep.metrics) {
    if (metric.name == sweep.objectives[objective].value.text()) return metric.unit;
  }
  return MetricUnit::plain;
}

/// What documents call the figure of an objective; empty: it is an expression over several.
std::string key_of(const Sweep& sweep, std::size_t objective) {
  const std::string& text = sweep.objectives[objective].value.text();
  const bool is_metric = std::ranges::any_of(
      sweep.metrics, [&](const sweeping::MetricInfo& metric) { return metric.name == text; });
  return is_metric ? text : std::string();
}

/// All feasible points, or of too many the best and every so manieth.
class Points {
 public:
  explicit Points(const SweepInput& input) : input_(input) {}

  Result<sweeping::SweepCounts> read() {
    const sweeping::StoredSweep& stored = input_.stored;
    sweeping::PointQuestion question;
    question.top = 1;
    auto best = sweeping::select_points(stored, question, [&](const SelectedPoint& point) {
      best_ = point;
      return ok_status();
    });
    FORETRACE_TRY(best);
    if (best->feasible == 0) {
      return Error{ErrorCode::no_match, "report: no point of the sweep is feasible"};
    }
    const std::uint64_t each = 1 + best->feasible / std::max<std::size_t>(1, input_.most_points);
    question.top = 0;
    std::uint64_t seen = 0;
    return sweeping::select_points(stored, question, [&](const SelectedPoint& point) {
      if (!point.is_feasible) return ok_status();
      if (seen++ % each == 0 || point.result.point == best_.result.point) points_.push_back(point);
      return ok_status();
    });
  }

  [[nodiscard]] const std::vector<SelectedPoint>& all() const { return points_; }
  [[nodiscard]] const SelectedPoint& best() const { return best_; }

 private:
  const SweepInput& input_;
  std::vector<SelectedPoint> points_;
  SelectedPoint best_;
};

json number(double value) { return std::isfinite(value) ? json(value) : json(nullptr); }

json axis_facts(const Axis& axis, std::size_t at, const std::vector<SelectedPoint>& points) {
  json values = json::array();
  json where = json::array();
  if (axis.is_listed()) {
    for (std::size_t i = 0; i < axis.values.size(); ++i) {
      values.push_back(Space::text_of(axis, static_cast<double>(i)));
    }
  }
  for (const SelectedPoint& point : points) where.push_back(number(point.result.where[at]));
  return {{"name", axis.name},
          {"values", values},
          {"unit", axis.unit},
          {"logarithmic", axis.is_logarithmic},
          {"where", where}};
}

json facts_of(const SweepInput& input, const Points& points) {
  const Sweep& sweep = input.stored.sweep;
  json axes = json::array();
  for (std::size_t i = 0; i < sweep.axes().size(); ++i) {
    axes.push_back(axis_facts(sweep.axes()[i], i, points.all()));
  }
  json ids = json::array();
  for (const SelectedPoint& point : points.all()) ids.push_back(point.result.point);
  json objectives = json::array();
  for (std::size_t i = 0; i < sweep.objectives.size(); ++i) {
    json values = json::array();
    for (const SelectedPoint& point : points.all()) values.push_back(number(point.objectives[i]));
    objectives.push_back({{"key", key_of(sweep, i)},
                          {"name", report::quantity_in_words(sweep.objectives[i].value.text())},
                          {"unit", unit_text(unit_of(sweep, i))},
                          {"maximized", sweep.objectives[i].is_maximized},
                          {"values", values}});
  }
  json metrics = json::array();
  for (std::size_t i = 0; i < sweep.metrics.size(); ++i) {
    json values = json::array();
    for (const SelectedPoint& point : points.all()) {
      values.push_back(i < point.result.metrics.size() ? number(point.result.metrics[i])
                                                       : json(nullptr));
    }
    metrics.push_back({{"key", sweep.metrics[i].name},
                       {"name", report::quantity_in_words(sweep.metrics[i].name)},
                       {"unit", unit_text(sweep.metrics[i].unit)},
                       {"values", values}});
  }
  return {{"schema", "foretrace.page/1"},
          {"ids", ids},
          {"axes", axes},
          {"objectives", objectives},
          {"metrics", metrics}};
}

/// "The lowest step time is 13.77 s, with micro 4, tensor 8."
std::string sentence_html(const Sweep& sweep, const SelectedPoint& best) {
  constexpr std::size_t most_axes = 4;
  std::string where;
  for (std::size_t i = 0; i < std::min(most_axes, sweep.axes().size()); ++i) {
    where += fmt::format("{}{}\u00a0{}", i == 0 ? "" : ", ", sweep.axes()[i].name,
                         Space::text_of(sweep.axes()[i], best.result.where[i]));
  }
  if (sweep.axes().size() > most_axes) where += ", \u2026";
  const std::string key = key_of(sweep, 0);
  const std::string at = fmt::format("point {}", best.result.point);
  const std::string_view end = sweep.axes().size() > most_axes ? "" : ".";
  return fmt::format("The {} {} is <span class=\"to\">{}</span>, with {}{}",
                     sweep.objectives[0].is_maximized ? "highest" : "lowest",
                     html_text(report::quantity_in_words(sweep.objectives[0].value.text()), 80),
                     figure_html(key.empty() ? at : at + " /" + key,
                                 figure_text(best.objectives[0], unit_of(sweep, 0))),
                     figure_html(at, where, "em"), end);
}

}  // namespace

Result<Page> make_sweep_page(const SweepInput& input) {
  Points points(input);
  FORETRACE_TRY(const sweeping::SweepCounts counts, points.read());
  const json facts = facts_of(input, points);
  FORETRACE_TRY(
      std::string block,
      block_of(with_hidden_escaped(facts.dump(-1, ' ', false, json::error_handler_t::replace))));
  const std::string file = html_text(file_name_of(input.folder), 120);
  const std::string left =
      points.all().size() < counts.feasible
          ? fmt::format("<li>{} of them in this page</li>", report::count_text(points.all().size()))
          : std::string();
  Pieces pieces = {
      {"KIND", "sweep"},
      {"TITLE", file + " - Foretrace"},
      {"FILE", file},
      {"CHIPS",
       figure_html("/rows", report::plural(counts.rows, "point"), "li") +
           figure_html("/feasible", report::count_text(counts.feasible) + " feasible", "li") +
           left},
      {"SENTENCE", sentence_html(input.stored.sweep, points.best())},
      {"STATIC",
       cards_html(std::array{Card{"The best points and the failures, as the command prints them",
                                  input.details, "sweep", true}})}};
  return Page{one_file(std::move(pieces), {{"facts", std::move(block)}}, input.version)};
}

}  // namespace foretrace::explorer
