// A Gantt chart of one run of the scheduling simulator.
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "apps/report/schedule/schedule_lanes.h"
#include "apps/report/schedule/schedule_report.h"
#include "apps/report/svg/canvas.h"
#include "apps/report/svg/scale.h"

namespace foretrace::app {
namespace {

using scheduling::Bar;
using scheduling::KindId;
using scheduling::Outcome;
using scheduling::Schedule;
using scheduling::ScheduleRun;

constexpr double label_width = 190;
constexpr double chart_width = 980;
constexpr double top = 56;
constexpr double margin = 20;
// More accelerators than this are shown as one area per kind.
constexpr std::size_t most_rows = 160;
constexpr std::size_t colours = 11;

struct Span {
  std::int64_t begin_ns = 0;
  std::int64_t length_ns = 1;
  [[nodiscard]] double x(std::int64_t ns) const {
    return label_width +
           chart_width * static_cast<double>(ns - begin_ns) / static_cast<double>(length_ns);
  }
};

Span span_of(const Outcome& outcome) {
  return {.begin_ns = outcome.begin_ns,
          .length_ns = std::max<std::int64_t>(1, outcome.end_ns - outcome.begin_ns)};
}

// Days, hours, minutes or seconds: what gives few digits.
void draw_axis(svg::Canvas& canvas, const Span& span, double bottom) {
  struct Unit {
    std::string_view name;
    double ns;
  };
  constexpr Unit units[] = {{"d", 86400e9}, {"h", 3600e9}, {"min", 60e9}, {"s", 1e9}};
  Unit unit = units[3];
  for (const Unit& candidate : units) {
    if (static_cast<double>(span.length_ns) < 3 * candidate.ns) continue;
    unit = candidate;
    break;
  }
  const double length = static_cast<double>(span.length_ns) / unit.ns;
  for (const svg::Tick& tick : svg::number_ticks(0, length, 9)) {
    const double x = label_width + chart_width * tick.value / length;
    canvas.line(x, top, x, bottom, "grid");
    canvas.text(x, bottom + 16, tick.value > 0 ? fmt::format("{} {}", tick.label, unit.name) : "0",
                "axis middle");
  }
}

double draw_lanes(svg::Canvas& canvas, const Schedule& schedule, const Outcome& outcome) {
  const std::vector<ScheduleLane> lanes = lanes_of(schedule.cluster);
  const auto placed = lanes_of_bars(schedule.cluster, outcome);
  const double height = lanes.size() > 40 ? 8 : 16;
  const Span span = span_of(outcome);
  const double bottom = top + height * static_cast<double>(lanes.size());
  draw_axis(canvas, span, bottom);
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    if (lanes[i].gpu == 0) {
      canvas.text(
          label_width - 8, top + height * static_cast<double>(i) + 12,
          svg::fitted(
              fmt::format("node {}, {}", index(lanes[i].node),
                          schedule.cluster.kinds[schedule.cluster.nodes[lanes[i].node].kind].name),
              label_width - 20),
          "end");
    }
  }
  for (std::size_t b = 0; b < outcome.bars.size(); ++b) {
    const Bar& bar = outcome.bars[b];
    const double x = span.x(bar.begin_ns);
    const double width = std::max(0.5, span.x(bar.end_ns) - x);
    const std::string colour = fmt::format("c{}", index(bar.job) % colours);
    for (const std::size_t lane : placed[b]) {
      canvas.rect({.x = x,
                   .y = top + height * static_cast<double>(lane),
                   .width = width,
                   .height = height - 1},
                  colour, schedule.workload.jobs[bar.job].name);
    }
  }
  return bottom;
}

// Accelerators in use over time, one area per kind.
double draw_kinds(svg::Canvas& canvas, const Schedule& schedule, const Outcome& outcome) {
  constexpr double height = 90;
  constexpr double gap = 24;
  const Span span = span_of(outcome);
  const auto kinds = schedule.cluster.kinds.size();
  const double bottom = top + (height + gap) * static_cast<double>(kinds);
  draw_axis(canvas, span, bottom);
  for (std::size_t k = 0; k < kinds; ++k) {
    const auto kind = make_id<KindId>(k);
    const double capacity = std::max(1, schedule.cluster.gpus_of(kind));
    const double base = top + (height + gap) * static_cast<double>(k) + height;
    std::vector<double> held(static_cast<std::size_t>(chart_width), 0.0);
    const double pixel_ns = static_cast<double>(span.length_ns) / chart_width;
    for (const Bar& bar : outcome.bars) {
      if (bar.kind != kind) continue;
      const double from = static_cast<double>(bar.begin_ns - span.begin_ns) / pixel_ns;
      const double to = static_cast<double>(bar.end_ns - span.begin_ns) / pixel_ns;
      for (auto p = static_cast<std::size_t>(std::max(0.0, from)); p < held.size(); ++p) {
        const auto left = static_cast<double>(p);
        if (left >= to) break;
        held[p] += bar.gpus * (std::min(to, left + 1) - std::max(from, left));
      }
    }
    std::vector<std::pair<double, double>> points = {{label_width, base}};
    for (std::size_t p = 0; p < held.size(); ++p) {
      points.emplace_back(label_width + static_cast<double>(p),
                          base - height * std::min(1.0, held[p] / capacity));
    }
    points.emplace_back(label_width + chart_width, base);
    canvas.path(points, true, fmt::format("c{}", 1 + k % (colours - 1)));
    canvas.line(label_width, base, label_width + chart_width, base, "rule");
    canvas.text(label_width - 8, base - 4,
                svg::fitted(schedule.cluster.kinds[kind].name, label_width - 20), "end");
    canvas.text(label_width - 8, base - height + 12,
                fmt::format("{}", schedule.cluster.gpus_of(kind)), "axis end");
  }
  return bottom;
}

}  // namespace

std::string schedule_picture(const Schedule& schedule, const ScheduleRun& run) {
  svg::Canvas canvas;
  const double width = label_width + chart_width + margin;
  svg::Canvas chart;
  const bool few = static_cast<std::size_t>(schedule.cluster.gpus()) <= most_rows;
  const double bottom =
      few ? draw_lanes(chart, schedule, run.outcome) : draw_kinds(chart, schedule, run.outcome);
  const double height = bottom + 30;
  canvas.rect({.x = 0, .y = 0, .width = width, .height = height}, "back");
  const std::string title =
      fmt::format("{} jobs under {}", schedule.workload.jobs.size(), run.policy.name);
  canvas.heading(margin, 28, title, "title",
                 few ? "  each colour is a job" : "  accelerators in use");
  canvas.append(chart);
  return canvas.finish(width, height, title, "jobs on accelerators over time");
}

}  // namespace foretrace::app
