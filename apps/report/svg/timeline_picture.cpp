#include "apps/report/svg/timeline_picture.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "apps/report/svg/canvas.h"
#include "apps/report/svg/scale.h"
#include "apps/report/svg/slices.h"
#include "apps/report/svg/strip.h"
#include "apps/report/text.h"

namespace foretrace::svg {
namespace {

constexpr double rows_left = 168;
constexpr std::size_t rows_pixels = 1000;
constexpr double rows_right = rows_left + static_cast<double>(rows_pixels);
constexpr double picture_width = rows_right + 24;
constexpr double row_height = 22;
constexpr double row_gap = 5;
constexpr double memory_height = 44;

constexpr std::array<std::string_view, fill_count> fill_kinds = {
    "forward",  "backward", "update", "loading", "communication",
    "movement", "other",    "host",   "call",    "wait"};
constexpr std::array<std::string_view, fill_count> fill_names = {"forward",
                                                                 "backward",
                                                                 "optimizer",
                                                                 "data loading",
                                                                 "communication",
                                                                 "device copies",
                                                                 "device, phase not known",
                                                                 "host",
                                                                 "launch calls",
                                                                 "host waits"};
constexpr std::array<std::string_view, 5> fill_strengths = {"", " s1", " s2", " s3", ""};

/// The stretch of a run that is shown.
struct Shown {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::size_t steps = 0;  ///< 0: all of it
};

Shown shown_of(const TimelineView& view, std::size_t steps) {
  std::vector<std::pair<std::int64_t, std::int64_t>> all;
  for (const Step& step : view.graph.context().steps) {
    if (step.rank == view.graph.context().steps.front().rank) {
      all.emplace_back(view.timeline.start_ns(step.begin), view.timeline.start_ns(step.end));
    }
  }
  if (all.empty() || steps == 0) {
    return {0, view.timeline.span_ns, 0};
  }
  const std::size_t first = all.size() > steps ? 1 : 0;  // the first one often differs
  const std::size_t last = std::min(all.size(), first + steps) - 1;
  return {all[first].first, all[last].second, last + 1 - first};
}

class TimelineDrawing {
 public:
  TimelineDrawing(const TimelinePicture& picture, std::span<const TimelineView> views)
      : picture_(picture), views_(views) {
    for (const TimelineView& view : views) {
      shown_.push_back(shown_of(view, picture.steps));
      length_ns_ = std::max(length_ns_, shown_.back().end_ns - shown_.back().begin_ns);
    }
    length_ns_ = std::max<std::int64_t>(1, length_ns_);
  }

  std::string draw() {
    canvas_.heading(16, 30, fitted(picture_.title, 900), "title", fitted(picture_.subtitle, 300));
    y_ = 48;
    legend_at_ = y_;
    y_ += 24;
    const double top = y_;
    Canvas panels;
    std::swap(panels, canvas_);  // what is drawn first lies below
    for (std::size_t i = 0; i < views_.size(); ++i) {
      panel(i);
    }
    const double bottom = y_;
    std::swap(panels, canvas_);
    axis(top, bottom);
    canvas_.append(panels);
    legend();
    return canvas_.finish(picture_width, bottom + 34, picture_.title, description());
  }

 private:
  [[nodiscard]] double x_of(std::size_t view, std::int64_t time_ns) const {
    const double at =
        static_cast<double>(time_ns - shown_[view].begin_ns) / static_cast<double>(length_ns_);
    return rows_left + std::clamp(at, 0.0, 1.0) * static_cast<double>(rows_pixels);
  }

  void panel(std::size_t i) {
    const TimelineView& view = views_[i];
    canvas_.heading(16, y_ + 14, fitted(view.label, 500), "strong", fitted(view.note, 500));
    y_ += 22;
    const double top = y_;
    steps(i);
    std::vector<LaneRow> rows = lane_rows(
        view.graph, view.timeline,
        {shown_[i].begin_ns, shown_[i].begin_ns + length_ns_, shown_[i].end_ns, rows_pixels});
    const std::size_t kept = std::min(rows.size(), picture_.most_rows);
    const double first_lane = y_;
    for (std::size_t row = 0; row < kept; ++row) {
      lane(rows[row]);
    }
    gap(longest_gap(rows, rows_pixels), first_lane);
    if (kept < rows.size()) {
      canvas_.text(16, y_ + 12, fmt::format("{} more rows with less work", rows.size() - kept),
                   "label");
      y_ += 18;
    }
    memory(i);
    saved(i, top);
    measured(i, top);
    y_ += 12;
  }

  /// Why the streams wait, where that is long enough to be read.
  void gap(const DeviceGap& gap, double y) {
    const auto ns =
        static_cast<std::int64_t>(static_cast<double>(length_ns_) * static_cast<double>(gap.count) /
                                  static_cast<double>(rows_pixels));
    const std::string text = fmt::format("GPU waits {} for {}", report::time_text(ns, length_ns_),
                                         gap.for_data ? "data" : "the CPU");
    const auto width = static_cast<double>(gap.count);
    if (text_width(text) + 12 >= width) return;
    canvas_.text(rows_left + static_cast<double>(gap.first) + width / 2, y + 15, text, "saved");
  }

  /// Where the run would end if its steps took what was measured.
  void measured(std::size_t i, double top) {
    const auto steps = static_cast<std::int64_t>(std::max<std::size_t>(1, shown_[i].steps));
    if (picture_.measured_step_ns <= 0 || i + 1 < views_.size() ||
        picture_.measured_step_ns > length_ns_ / steps) {
      return;
    }
    const double x = x_of(i, shown_[i].begin_ns + steps * picture_.measured_step_ns);
    canvas_.line(x, top, x, y_, "measured");
    const std::string text =
        "measured: " + report::time_text(picture_.measured_step_ns, length_ns_) + " per step";
    const bool is_right = x + text_width(text) + 8 < rows_right;
    canvas_.text(is_right ? x + 6 : x - 6, y_ - 8, text, is_right ? "strong" : "strong end");
  }

  void lane(const LaneRow& row) {
    canvas_.text(rows_left - 10, y_ + 15, fitted(row.label, rows_left - 26), "end");
    for (const Run& run : row.runs) {
      used_[static_cast<std::size_t>(run.fill)] = true;
      canvas_.rect({rows_left + static_cast<double>(run.first), y_, static_cast<double>(run.count),
                    row_height},
                   fmt::format("{}{}", fill_kinds[static_cast<std::size_t>(run.fill)],
                               fill_strengths[static_cast<std::size_t>(run.strength)]));
    }
    y_ += row_height + row_gap;
  }

  void steps(std::size_t i) {
    const TimelineView& view = views_[i];
    bool any = false;
    for (const Step& step : view.graph.context().steps) {
      const std::int64_t begin = view.timeline.start_ns(step.begin);
      const std::int64_t end = view.timeline.start_ns(step.end);
      const bool inside = begin >= shown_[i].begin_ns && end <= shown_[i].end_ns && end > begin &&
                          step.rank == view.graph.context().steps.front().rank;
      if (!inside) {
        continue;
      }
      any = true;
      const Box box{x_of(i, begin), y_, x_of(i, end) - x_of(i, begin), 18};
      canvas_.rect(box, "step");
      const std::string text =
          fmt::format("step {}: {}", step.number, report::time_text(end - begin));
      if (text_width(text) + 8 < box.width) {
        canvas_.text(box.x + 6, y_ + 13, text, "label");
      }
    }
    y_ += any ? 18 + row_gap : 0;
  }

  void memory(std::size_t i) {
    for (const MemoryCurve& curve : views_[i].memory) {
      const std::int64_t top = peak_of_all();
      if (curve.points.empty() || top <= 0) {
        continue;
      }
      canvas_.text(rows_left - 10, y_ + 16, "live memory", "end");
      canvas_.text(rows_left - 10, y_ + 32, "peak " + report::bytes_text(curve.peak_bytes), "end");
      memory_area(i, curve, top);
      y_ += memory_height + row_gap;
      break;  // the first device; the page of inspect --memory shows all
    }
  }

  [[nodiscard]] std::int64_t peak_of_all() const {
    std::int64_t peak = 0;
    for (const TimelineView& view : views_) {
      peak = view.memory.empty() ? peak : std::max(peak, view.memory.front().peak_bytes);
    }
    return peak;
  }

  // Per pixel the largest value in it, so that no peak is lost.
  void memory_area(std::size_t i, const MemoryCurve& curve, std::int64_t top) {
    std::vector<std::int64_t> highest(rows_pixels, -1);
    std::int64_t live = curve.base_bytes;
    const double scale = static_cast<double>(rows_pixels) / static_cast<double>(length_ns_);
    std::size_t filled = 0;
    const auto fill_to = [&](std::size_t pixel) {
      for (; filled < std::min(pixel + 1, rows_pixels); ++filled) {
        highest[filled] = live;
      }
    };
    for (const MemoryPoint& point : curve.points) {
      const double at = static_cast<double>(point.time_ns - shown_[i].begin_ns) * scale;
      if (at >= static_cast<double>(rows_pixels)) {
        break;
      }
      if (at >= 0) {
        const auto pixel = static_cast<std::size_t>(at);
        fill_to(pixel);
        highest[pixel] = std::max(highest[pixel], point.live_bytes);
      }
      live = point.live_bytes;
    }
    const auto ends = static_cast<std::size_t>(
        std::clamp(static_cast<double>(shown_[i].end_ns - shown_[i].begin_ns) * scale, 1.0,
                   static_cast<double>(rows_pixels)));
    fill_to(ends - 1);
    std::vector<std::pair<double, double>> points;
    for (std::size_t pixel = 0; pixel < ends; ++pixel) {
      const double height =
          memory_height * static_cast<double>(highest[pixel]) / static_cast<double>(top);
      points.emplace_back(rows_left + static_cast<double>(pixel), y_ + memory_height - height);
    }
    canvas_.path(points, false, "curve");
    points.emplace_back(rows_left + static_cast<double>(ends), y_ + memory_height);
    points.emplace_back(rows_left, y_ + memory_height);
    canvas_.path(points, true, "area");
  }

  // What a shorter run leaves over.
  void saved(std::size_t i, double top) {
    const std::int64_t rest = length_ns_ - (shown_[i].end_ns - shown_[i].begin_ns);
    const double x = x_of(i, shown_[i].end_ns);
    if (views_.size() < 2 || rows_right - x < 2) {
      return;
    }
    canvas_.rect({x, top, rows_right - x, y_ - top - row_gap}, "hatch");
    const std::string text =
        fmt::format("-{} in {}", report::time_text(rest),
                    shown_[i].steps == 0 ? "all" : report::plural(shown_[i].steps, "step"));
    if (text_width(text) + 12 < rows_right - x) {
      canvas_.text((x + rows_right) / 2, (top + y_) / 2, text, "saved");
    }
  }

  void axis(double top, double bottom) {
    for (const Tick& tick : time_ticks(length_ns_, 10)) {
      const double x = rows_left + tick.value / static_cast<double>(length_ns_) *
                                       static_cast<double>(rows_pixels);
      canvas_.line(x, top, x, bottom, "grid");
      canvas_.text(x, bottom + 16, tick.label, "middle");
    }
  }

  void legend() {
    double x = 16;
    for (std::size_t i = 0; i < fill_count; ++i) {
      if (!used_[i]) {
        continue;
      }
      canvas_.rect({x, legend_at_, 12, 12}, fill_kinds[i]);
      canvas_.text(x + 17, legend_at_ + 11, fill_names[i], "label");
      x += 36 + text_width(fill_names[i]);
    }
  }

  [[nodiscard]] std::string description() const {
    std::string text;
    for (const TimelineView& view : views_) {
      text += (text.empty() ? "" : "; ") + view.label + ": " + view.note;
    }
    return text;
  }

  const TimelinePicture& picture_;
  std::span<const TimelineView> views_;
  std::vector<Shown> shown_;
  std::int64_t length_ns_ = 0;
  Canvas canvas_;
  double y_ = 0;
  double legend_at_ = 0;
  std::array<bool, fill_count> used_{};
};

}  // namespace

std::string timeline_picture(const TimelinePicture& picture, std::span<const TimelineView> views) {
  return TimelineDrawing(picture, views).draw();
}

}  // namespace foretrace::svg
