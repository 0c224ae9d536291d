#include "apps/report/svg/memory_picture.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "apps/report/svg/canvas.h"
#include "apps/report/svg/scale.h"
#include "apps/report/text.h"

namespace foretrace::svg {
namespace {

constexpr double plot_left = 86;
constexpr std::size_t plot_pixels = 960;
constexpr double plot_width = plot_left + static_cast<double>(plot_pixels) + 30;
constexpr double plot_height = 260;

using Bytes = std::array<std::int64_t, tensor_category_count>;

// From what stays to what comes and goes.
constexpr std::array<TensorCategory, tensor_category_count> stacking = {
    TensorCategory::weight,
    TensorCategory::optimizer_state,
    TensorCategory::kv_cache,
    TensorCategory::gradient,
    TensorCategory::input,
    TensorCategory::activation,
    TensorCategory::activation_gradient,
    TensorCategory::communication,
    TensorCategory::workspace,
    TensorCategory::temporary,
    TensorCategory::unknown};
constexpr std::array<std::string_view, tensor_category_count> category_names = {
    "not known",
    "weights",
    "gradients",
    "optimizer states",
    "activations",
    "temporary",
    "communication",
    "KV cache",
    "input",
    "workspaces",
    "gradients of activations"};

std::int64_t sum_of(const Bytes& bytes) {
  return std::accumulate(bytes.begin(), bytes.end(), std::int64_t{0});
}

/// What is live before the first point: the peak, or the end, taken back point by point.
Bytes live_at_start(const MemoryPanel& panel) {
  Bytes live = panel.curve.at_peak;
  const std::vector<MemoryPoint>& points = panel.curve.points;
  std::size_t i = panel.curve.peak_point == no_memory_point ? 0 : panel.curve.peak_point + 1;
  while (i > 0) {
    const MemoryPoint& point = points[--i];
    const Tensor& tensor = panel.graph.context().tensors[index(point.tensor)];
    live[static_cast<std::size_t>(tensor.category)] +=
        point.allocates ? -tensor.bytes : tensor.bytes;
  }
  return live;
}

/// Per pixel the composition of the moment with most bytes.
std::vector<Bytes> columns_of(const MemoryPanel& panel, std::int64_t span_ns) {
  std::vector<Bytes> columns(plot_pixels);
  Bytes live = live_at_start(panel);
  std::size_t filled = 0;
  const auto fill_to = [&](std::size_t pixel) {
    for (; filled <= std::min(pixel, plot_pixels - 1); ++filled) {
      columns[filled] = live;
    }
  };
  const double scale = static_cast<double>(plot_pixels) / static_cast<double>(span_ns);
  for (const MemoryPoint& point : panel.curve.points) {
    const auto pixel = std::min(
        plot_pixels - 1,
        static_cast<std::size_t>(std::max(0.0, static_cast<double>(point.time_ns) * scale)));
    fill_to(pixel);
    const Tensor& tensor = panel.graph.context().tensors[index(point.tensor)];
    live[static_cast<std::size_t>(tensor.category)] +=
        point.allocates ? tensor.bytes : -tensor.bytes;
    if (sum_of(live) > sum_of(columns[pixel])) {
      columns[pixel] = live;
    }
  }
  const double end = std::min(static_cast<double>(panel.span_ns) * scale, 1.0 * plot_pixels);
  if (end >= 1) {
    fill_to(static_cast<std::size_t>(end) - 1);
  }
  return columns;
}

class MemoryDrawing {
 public:
  std::string draw(std::span<const MemoryPanel> panels) {
    std::string title = "device memory over time";
    std::string description;
    for (const MemoryPanel& one : panels) {  // the same scales in all, so that they compare
      span_ns_ = std::max(span_ns_, one.span_ns);
      peak_bytes_ = std::max(peak_bytes_, one.curve.peak_bytes);
    }
    for (const MemoryPanel& one : panels) {
      panel(one);
      description += (description.empty() ? "" : "; ") + one.title + ": peak " +
                     report::bytes_text(one.curve.peak_bytes);
    }
    if (panels.size() == 1) {
      title = panels.front().title;
    }
    return canvas_.finish(plot_width, y_, title, description);
  }

 private:
  void panel(const MemoryPanel& panel) {
    canvas_.heading(16, y_ + 28, fitted(panel.title, 640), "title",
                    fmt::format("peak {} at {}", report::bytes_text(panel.curve.peak_bytes),
                                report::time_text(panel.curve.peak_at_ns)));
    y_ += 40;
    const std::vector<Bytes> columns = columns_of(panel, span_ns_);
    legend(columns);
    axes();
    areas(columns);
    peak(panel);
    y_ += plot_height + 30;
    if (!panel.note.empty()) {
      canvas_.text(plot_left, y_ + 8, fitted(panel.note, static_cast<double>(plot_pixels)),
                   "label");
      y_ += 22;
    }
    y_ += 8;
  }

  void axes() {
    const auto top = static_cast<double>(peak_bytes_);
    for (const Tick& tick : byte_ticks(peak_bytes_, 5)) {
      const double y = y_ + plot_height * (1 - tick.value / top);
      canvas_.line(plot_left, y, plot_left + static_cast<double>(plot_pixels), y, "grid");
      canvas_.text(plot_left - 8, y + 4, tick.label, "end");
    }
    for (const Tick& tick : time_ticks(span_ns_, 10)) {
      const double x =
          plot_left + static_cast<double>(plot_pixels) * tick.value / static_cast<double>(span_ns_);
      canvas_.line(x, y_, x, y_ + plot_height, "grid");
      canvas_.text(x, y_ + plot_height + 16, tick.label, "middle");
    }
  }

  void areas(const std::vector<Bytes>& columns) {
    const double scale = plot_height / static_cast<double>(peak_bytes_);
    std::vector<double> below(plot_pixels, 0);
    for (const TensorCategory category : stacking) {
      std::vector<std::pair<double, double>> upper;
      std::vector<std::pair<double, double>> lower;
      bool any = false;
      for (std::size_t i = 0; i < plot_pixels; ++i) {
        const auto bytes =
            static_cast<double>(columns[i][static_cast<std::size_t>(category)]) * scale;
        any = any || bytes > 0.05;
        step(upper, i, y_ + plot_height - below[i] - bytes);
        step(lower, i, y_ + plot_height - below[i]);
        below[i] += bytes;
      }
      if (any) {
        upper.insert(upper.end(), lower.rbegin(), lower.rend());
        canvas_.path(upper, true, fmt::format("c{}", static_cast<int>(category)));
      }
    }
  }

  // Corners of a staircase; none where the plot_height stays.
  static void step(std::vector<std::pair<double, double>>& line, std::size_t pixel, double y) {
    const double x = plot_left + static_cast<double>(pixel);
    if (line.size() >= 2 && std::abs(line.back().second - y) < 0.05) {
      line.back().first = x + 1;
      return;
    }
    line.emplace_back(x, y);
    line.emplace_back(x + 1, y);
  }

  void peak(const MemoryPanel& panel) {
    const double x = plot_left + static_cast<double>(plot_pixels) *
                                     static_cast<double>(panel.curve.peak_at_ns) /
                                     static_cast<double>(span_ns_);
    const double y = y_ + plot_height * (1 - static_cast<double>(panel.curve.peak_bytes) /
                                                 static_cast<double>(peak_bytes_));
    canvas_.circle(std::min(x, plot_left + static_cast<double>(plot_pixels)), y, 4.5, "peak");
  }

  void legend(const std::vector<Bytes>& columns) {
    double x = plot_left;
    for (const TensorCategory category : stacking) {
      const auto i = static_cast<std::size_t>(category);
      if (std::none_of(columns.begin(), columns.end(),
                       [i](const Bytes& bytes) { return bytes[i] > 0; })) {
        continue;
      }
      const double needed = 36 + text_width(category_names[i]);
      if (x > plot_left && x + needed > plot_width) {
        x = plot_left;
        y_ += 20;
      }
      canvas_.rect({x, y_, 12, 12}, fmt::format("c{}", i));
      canvas_.text(x + 17, y_ + 11, category_names[i], "label");
      x += needed;
    }
    y_ += 30;
  }

  Canvas canvas_;
  std::int64_t span_ns_ = 1;
  std::int64_t peak_bytes_ = 1;
  double y_ = 0;
};

}  // namespace

std::string memory_picture(std::span<const MemoryPanel> panels) {
  return MemoryDrawing().draw(panels);
}

}  // namespace foretrace::svg
