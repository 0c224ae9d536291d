// Timeline: when every task of an executed graph started and ended.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/core/ids.h"

namespace foretrace {

/// Times in ns from the start of the simulated window.
struct Timeline {
  /// Interleaved points: [2 t] start, [2 t + 1] end of task t.
  std::vector<std::int64_t> points;
  std::int64_t span_ns = 0;  ///< largest end

  [[nodiscard]] std::int64_t start_ns(TaskId t) const { return points[2 * index(t)]; }
  [[nodiscard]] std::int64_t end_ns(TaskId t) const { return points[2 * index(t) + 1]; }
  [[nodiscard]] std::size_t size() const { return points.size() / 2; }
};

}  // namespace foretrace
