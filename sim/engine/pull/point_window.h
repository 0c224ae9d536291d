// Which points a pass can forget: a ring of recent ones, and the few that are read again later.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/graph/task_graph.h"

namespace foretrace::engine {

/// Tasks read points of tasks shortly before them, so a ring that fits the cache holds nearly all
/// that a pass over the graph reads. A task is special if the ring alone does not serve it.
struct PointWindow {
  std::size_t ring_points = 0;    ///< a power of two, at least 2 per task of a block
  std::vector<Point> far_points;  ///< read after they left the ring; sorted, unique
  std::vector<std::uint32_t>
      special;  ///< tasks with overflow or far sources, or far points; sorted
  /// Position in far_points; the point must be there.
  [[nodiscard]] std::size_t far_index(Point point) const;
  /// True if `task` finds `source` in the ring.
  [[nodiscard]] bool is_near(std::size_t task, Point source) const {
    return 2 * task - index(source) <= ring_points - 2;
  }
};

/// The smallest ring of at least `block_tasks` that leaves few tasks special.
[[nodiscard]] PointWindow point_window(const Topology& topology, std::size_t block_tasks);

}  // namespace foretrace::engine
