#include "sim/engine/pull/point_window.h"

#include <algorithm>
#include <array>
#include <bit>

#include "sim/core/result.h"

namespace foretrace::engine {
namespace {

/// Tasks looked at to choose a ring: enough to see 1 % well.
constexpr std::size_t sample_size = 4096;
/// Tasks between two looks at whether any reaches too far.
constexpr std::size_t piece = 256;
/// A far point is searched for and kept; one such task in 128 is lost in the noise.
constexpr std::size_t special_divisor = 128;

/// Points from the farthest slot source of a task to the task, 0 without one. An empty slot holds
/// no_point, which is above all others.
[[nodiscard]] std::size_t reach(const Topology& topology, std::size_t task) {
  const std::array<Point, 3>& source = topology.sources[task];
  const Point farthest = std::min(std::min(source[0], source[1]), source[2]);
  return farthest == no_point ? 0 : 2 * task - index(farthest);
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
  // A reach of b bits is below 2^b and fits a ring of 2^b points (all but 2^b - 1 do, and that one
  // is far); 512 points fill a first-level cache with eight variants.
  std::size_t ring = std::bit_ceil(std::max<std::size_t>(2 * block_tasks, 512));
  const auto left_out = [&by_width](std::size_t points) {
    std::size_t count = 0;
    for (auto bits = static_cast<std::size_t>(std::bit_width(points)); bits < by_width.size();
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
    if (source == no_point || window.is_near(task, source)) return false;
    window.far_points.push_back(source);
    return true;
  };
  // A ring of all points serves every slot; a smaller one nearly all: whole pieces are looked
  // through without a branch per task.
  const std::size_t tasks =
      window.ring_points < 2 * topology.task_count() ? topology.task_count() : 0;
  for (std::size_t first = 0; first < tasks; first += piece) {
    const std::size_t last = std::min(first + piece, tasks);
    std::size_t farthest = 0;
    for (std::size_t task = first; task < last; ++task) {
      farthest = std::max(farthest, reach(topology, task));
    }
    for (std::size_t task = first; farthest > window.ring_points - 2 && task < last; ++task) {
      if (reach(topology, task) <= window.ring_points - 2) continue;
      for (const Point source : topology.sources[task]) {
        note(task, source);
      }
      window.special.push_back(static_cast<std::uint32_t>(task));
    }
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
