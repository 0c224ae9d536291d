#include "apps/report/sweep/picture.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "apps/report/svg/canvas.h"
#include "apps/report/svg/scale.h"
#include "apps/report/text.h"
#include "sim/core/whole.h"

namespace foretrace::report {
namespace {

using sweeping::Axis;
using sweeping::MetricUnit;
using sweeping::SelectedPoint;
using sweeping::Space;
using sweeping::Sweep;

constexpr double picture_width = 1080;
constexpr double margin = 86;
constexpr double cloud_height = 320;
constexpr double panel_height = 130;
constexpr double panel_step = 540;  // two panels side by side
constexpr std::size_t most_panels = 12;
constexpr std::size_t range_bins = 24;  // of an axis whose values are drawn from a range
// Points nearer than this look like one.
constexpr double point_pixels = 3;

/// Best and mean of the first objective at one value of an axis.
struct AtValue {
  double best = std::numeric_limits<double>::quiet_NaN();
  double sum = 0;
  std::uint64_t points = 0;

  void see(double value, bool is_maximized) {
    if (points == 0 || (is_maximized ? value > best : value < best)) best = value;
    sum += value;
    ++points;
  }
  [[nodiscard]] double mean() const { return sum / static_cast<double>(points); }
};

struct AxisView {
  std::size_t axis = 0;
  std::vector<AtValue> values;

  /// How much the best changes from the best value to the worst, of the best.
  [[nodiscard]] double effect() const {
    double low = std::numeric_limits<double>::infinity();
    double high = -low;
    for (const AtValue& at : values) {
      if (at.points == 0) continue;
      low = std::min(low, at.best);
      high = std::max(high, at.best);
    }
    return high > low ? (high - low) / std::max(std::abs(low), 1e-300) : 0;
  }
};

/// A figure of points on an axis of the picture.
struct Measure {
  std::string name;
  MetricUnit unit = MetricUnit::plain;
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void see(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  /// Times and bytes begin at 0, and so does everything that comes near to it.
  [[nodiscard]] double from() const {
    return unit == MetricUnit::time || unit == MetricUnit::bytes || (low >= 0 && low < high / 2)
               ? std::min(0.0, low)
               : low;
  }
  [[nodiscard]] double to() const { return high > from() ? high : from() + 1; }
  [[nodiscard]] std::vector<svg::Tick> ticks(std::size_t most) const {
    if (unit == MetricUnit::time && low >= 0) return svg::time_ticks(to_whole(to()), most);
    if (unit == MetricUnit::bytes && low >= 0) return svg::byte_ticks(to_whole(to()), most);
    return svg::number_ticks(from(), to(), most);
  }
  [[nodiscard]] std::string text_of(double value) const {
    if (unit == MetricUnit::time) return time_text(to_whole(value));
    if (unit == MetricUnit::bytes) return bytes_text(to_whole(value));
    return fmt::format("{:.4g}", value);
  }
  [[nodiscard]] double share(double value) const { return (value - from()) / (to() - from()); }
};

Measure measure_of(const Sweep& sweep, std::size_t objective) {
  Measure measure{.name = sweep.objectives[objective].value.text()};
  for (const sweeping::MetricInfo& metric : sweep.metrics) {
    if (metric.name == measure.name) measure.unit = metric.unit;
  }
  return measure;
}

/// What is read from the store, once.
class Gathered {
 public:
  explicit Gathered(const Sweep& sweep) : sweep_(sweep) {
    for (std::size_t i = 0; i < std::min<std::size_t>(2, sweep.objectives.size()); ++i) {
      measures.push_back(measure_of(sweep, i));
    }
    for (std::size_t axis = 0; axis < sweep.axes().size(); ++axis) {
      const Axis& one = sweep.axes()[axis];
      axes.push_back(
          {axis, std::vector<AtValue>(one.is_listed() ? one.values.size() : range_bins)});
    }
  }

  void see(const SelectedPoint& point) {
    if (!point.is_feasible) return;
    for (std::size_t i = 0; i < measures.size(); ++i) {
      if (!std::isfinite(point.objectives[i])) return;
    }
    ++points;
    for (std::size_t i = 0; i < measures.size(); ++i) measures[i].see(point.objectives[i]);
    for (AxisView& view : axes) {
      view.values[place_of(sweep_.axes()[view.axis], point.result.where[view.axis])].see(
          point.objectives[0], sweep_.objectives[0].is_maximized);
    }
    if (measures.size() > 1) cloud.emplace_back(point.objectives[0], point.objectives[1]);
  }

  std::uint64_t points = 0;
  std::vector<Measure> measures;
  std::vector<AxisView> axes;
  std::vector<std::pair<double, double>> cloud;

 private:
  static std::size_t place_of(const Axis& axis, double where) {
    if (axis.is_listed()) return static_cast<std::size_t>(where);
    double share = axis.is_logarithmic ? std::log(where / axis.from) / std::log(axis.to / axis.from)
                                       : (where - axis.from) / (axis.to - axis.from);
    if (!(share >= 0)) share = 0;
    return std::min(range_bins - 1, static_cast<std::size_t>(share * range_bins));
  }
  const Sweep& sweep_;
};

class SweepDrawing {
 public:
  SweepDrawing(const Sweep& sweep, Gathered& gathered) : sweep_(sweep), gathered_(gathered) {}

  std::string draw() {
    const std::string title =
        fmt::format("{} by {}", plural(gathered_.points, "point"), gathered_.measures[0].name);
    canvas_.text(margin - 60, 30, title, "title");
    y_ = 54;
    if (gathered_.measures.size() > 1) draw_cloud();
    draw_panels();
    return canvas_.finish(picture_width, y_ + 10, title, "results of a sweep, see the title");
  }

 private:
  [[nodiscard]] bool is_better(double a, double b, std::size_t objective) const {
    return sweep_.objectives[objective].is_maximized ? a > b : a < b;
  }

  void draw_cloud() {
    const double width = picture_width - margin - 40;
    Measure& across = gathered_.measures[0];
    Measure& up = gathered_.measures[1];
    canvas_.text(margin, y_ + 4, fmt::format("{} against {}", up.name, across.name), "strong");
    y_ += 18;
    const double bottom = y_ + cloud_height;
    const auto x_of = [&](double value) { return margin + width * across.share(value); };
    const auto y_of = [&](double value) { return bottom - cloud_height * up.share(value); };
    for (const svg::Tick& tick : up.ticks(6)) {
      canvas_.line(margin, y_of(tick.value), margin + width, y_of(tick.value), "grid");
      canvas_.text(margin - 8, y_of(tick.value) + 4, tick.label, "end");
    }
    for (const svg::Tick& tick : across.ticks(8)) {
      canvas_.line(x_of(tick.value), y_, x_of(tick.value), bottom, "grid");
      canvas_.text(x_of(tick.value), bottom + 16, tick.label, "middle");
    }
    auto& cloud = gathered_.cloud;
    std::set<std::pair<long, long>> drawn;
    for (const auto& [a, b] : cloud) {
      const std::pair<long, long> pixel = {to_whole(x_of(a) / point_pixels),
                                           to_whole(y_of(b) / point_pixels)};
      if (drawn.insert(pixel).second) canvas_.circle(x_of(a), y_of(b), 1.6, "other");
    }
    std::sort(cloud.begin(), cloud.end(), [&](const auto& a, const auto& b) {
      return a.first != b.first ? is_better(a.first, b.first, 0) : is_better(a.second, b.second, 1);
    });
    std::vector<std::pair<double, double>> front;
    std::vector<std::pair<double, double>> points;  // the line has corners between them
    const std::pair<double, double>* last = nullptr;
    for (const auto& one : cloud) {
      if (last != nullptr && !is_better(one.second, last->second, 1)) continue;
      if (last != nullptr) front.emplace_back(x_of(one.first), y_of(last->second));
      front.emplace_back(x_of(one.first), y_of(one.second));
      points.push_back(front.back());
      last = &one;
    }
    canvas_.path(front, false, "step curve");
    for (const auto& [x, y] : points) canvas_.circle(x, y, 3, "forward");
    canvas_.text(margin, bottom + 36, "line: what no other point is better than in both", "label");
    y_ = bottom + 64;
  }

  void draw_panels() {
    std::vector<AxisView>& axes = gathered_.axes;
    std::erase_if(axes, [](const AxisView& view) { return view.values.size() < 2; });
    std::stable_sort(axes.begin(), axes.end(),
                     [](const AxisView& a, const AxisView& b) { return a.effect() > b.effect(); });
    const std::size_t left_out = axes.size() - std::min(axes.size(), most_panels);
    axes.resize(axes.size() - left_out);
    for (std::size_t i = 0; i < axes.size(); ++i) {
      draw_panel(axes[i], static_cast<double>(i % 2) * panel_step);
      if (i % 2 == 1 || i + 1 == axes.size()) y_ += panel_height + 66;
    }
    std::string legend = "line: the best at each value; dashes: the mean";
    if (left_out > 0) legend += fmt::format("; {} more decide less", plural(left_out, "axis"));
    if (!axes.empty()) canvas_.text(margin, y_, legend, "label");
    y_ += 16;
  }

  [[nodiscard]] static std::string label_of(const Axis& axis, std::size_t place) {
    if (axis.is_listed()) return Space::text_of(axis, static_cast<double>(place));
    const double share = (static_cast<double>(place) + 0.5) / range_bins;
    return fmt::format("{:.3g}", sweeping::at_share(axis, share));
  }

  void draw_panel(const AxisView& view, double left) {
    const Axis& axis = sweep_.axes()[view.axis];
    Measure measure = measure_of(sweep_, 0);
    for (const AtValue& at : view.values) {
      if (at.points == 0) continue;
      measure.see(at.best);
      measure.see(at.mean());
    }
    const double x0 = left + margin;
    const double width = panel_step - margin - 30;
    const double bottom = y_ + 18 + panel_height;
    const auto y_of = [&](double value) { return bottom - panel_height * measure.share(value); };
    canvas_.heading(x0, y_ + 6, axis.name, "strong",
                    fmt::format("moves the best by {}", percent_text(view.effect())));
    for (const svg::Tick& tick : measure.ticks(4)) {
      canvas_.line(x0, y_of(tick.value), x0 + width, y_of(tick.value), "grid");
      canvas_.text(x0 - 8, y_of(tick.value) + 4, tick.label, "end");
    }
    const double step = width / static_cast<double>(view.values.size());
    double labels_end = 0;
    std::vector<std::pair<double, double>> best;
    std::vector<std::pair<double, double>> mean;
    for (std::size_t i = 0; i < view.values.size(); ++i) {
      const double x = x0 + step * (static_cast<double>(i) + 0.5);
      const std::string label = svg::fitted(label_of(axis, i), std::max(step - 10, 56.0));
      if (x - svg::text_width(label) / 2 >= labels_end) {
        canvas_.text(x, bottom + 16, label, "middle");
        labels_end = x + svg::text_width(label) / 2 + 8;
      }
      const AtValue& at = view.values[i];
      if (at.points == 0) continue;
      best.emplace_back(x, y_of(at.best));
      mean.emplace_back(x, y_of(at.mean()));
    }
    for (std::size_t i = 1; i < mean.size(); ++i) {
      canvas_.line(mean[i - 1].first, mean[i - 1].second, mean[i].first, mean[i].second, "dash");
    }
    canvas_.path(best, false, "step curve");
    for (const auto& [x, y] : best) canvas_.circle(x, y, 3, "forward");
  }

  const Sweep& sweep_;
  Gathered& gathered_;
  svg::Canvas canvas_;
  double y_ = 0;
};

}  // namespace

Result<std::string> sweep_picture(const sweeping::StoredSweep& stored,
                                  const sweeping::PointQuestion& question) {
  Gathered gathered(stored.sweep);
  sweeping::PointQuestion all;
  all.where = question.where;
  const auto counts = sweeping::select_points(stored, all, [&](const SelectedPoint& point) {
    gathered.see(point);
    return ok_status();
  });
  FORETRACE_TRY(counts);
  if (gathered.points == 0) {
    return Error{ErrorCode::no_match,
                 "picture of points: no point is feasible, expected one to draw"};
  }
  return SweepDrawing(stored.sweep, gathered).draw();
}

}  // namespace foretrace::report
