#include "sim/engine/pull/point_window.h"

#include <algorithm>
#include <array>
#include <bit>

#include "sim/core/result.h"

namespace foretrace::engine {
namespace {

/// Tasks looked at to choose a ring: enough to see 1 % well.
constexpr std::size_t sample_size = 4096;
/// A special task costs about as much as 20 others; one in 128 of them is lost in the noise.
constexpr std::size_t special_divisor = 128;

/// Points from the farthest slot source of a task to the task, 0 without one.
[[nodiscard]] std::size_t reach(const Topology& topology, std::size_t task) {
  std::size_t farthest = 0;
  for (const Point source : topology.sources[task]) {
    if (source != no_point) {
      farthest = std::max(farthest, 2 * task - index(source));
    }
  }
  return farthest;
}

[[nodiscard]] std::size_t choose_ring(const Topology& topology, std::size_t block_tasks) {
  const std::size_t tasks = topology.task_count();
  const std::size_t stride = std::max<std::size_t>(1, tasks / sample_size);
  std::array<std::size_t, 65> by_width{};  // how many reaches need this many bits
  std::size_t sampled = 0;
  for (std::size_t task = 0; task < tasks; task += stride) {
    ++by_width[static_cast<std::size_t>(std::bit_width(reach(topology, task)))];
    ++sampled;
  }
  // A reach of b bits is below 2^b and fits a ring of 2^(b+1) points; 512 points fill a first-level
  // cache with eight variants.
  std::size_t ring = std::bit_ceil(std::max<std::size_t>(2 * block_tasks, 512));
  const auto left_out = [&by_width](std::size_t points) {
    std::size_t count = 0;
    for (auto bits = static_cast<std::size_t>(std::bit_width(points)) - 1; bits < by_width.size();
         ++bits) {
      count += by_width[bits];
    }
    return count;
  };
  while (ring < 2 * tasks && left_out(ring) * special_divisor > sampled) {
    ring *= 2;
  }
  return ring;
}

}  // namespace

std::size_t PointWindow::far_index(Point point) const {
  const auto at = std::lower_bound(far_points.begin(), far_points.end(), point);
  FORETRACE_CHECK(at != far_points.end() && *at == point);
  return static_cast<std::size_t>(at - far_points.begin());
}

PointWindow point_window(const Topology& topology, std::size_t block_tasks) {
  PointWindow window;
  window.ring_points = choose_ring(topology, block_tasks);
  const auto note = [&window](std::size_t task, Point source) {
    if (source == no_point || window.is_near(task, source)) {
      return false;
    }
    window.far_points.push_back(source);
    return true;
  };
  for (std::size_t task = 0; task < topology.task_count(); ++task) {
    if (reach(topology, task) <= window.ring_points - 2) {
      continue;
    }
    for (const Point source : topology.sources[task]) {
      note(task, source);
    }
    window.special.push_back(static_cast<std::uint32_t>(task));
  }
  for (const OverflowDependency& overflow : topology.overflow) {
    note(index(overflow.task), overflow.source);
    note(index(overflow.task), overflow.late_after);
    window.special.push_back(static_cast<std::uint32_t>(overflow.task));
  }
  for (const Point point : window.far_points) {
    window.special.push_back(static_cast<std::uint32_t>(task_of(point)));
  }
  const auto sort_unique = [](auto& values) {
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
  };
  sort_unique(window.far_points);
  sort_unique(window.special);
  return window;
}

}  // namespace foretrace::engine
