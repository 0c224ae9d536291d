// Batched pull: tasks that the SIMD kernel leaves out, one variant after the other.
#include <algorithm>

#include "sim/engine/pull/batch_pass.h"
#include "sim/engine/release/release.h"

namespace foretrace::engine {
namespace {

[[nodiscard]] const VariantRow& any_row(const Pass& pass, std::size_t task, Point source) {
  if (pass.window->is_near(task, source)) {
    return pass.ring[index(source) & (pass.window->ring_points - 1)];
  }
  return pass.far[pass.window->far_index(source)];
}

/// Raises `start` by the overflow dependencies from `next` on that belong to `task`.
void apply_overflow(const Pass& pass, std::size_t task, std::size_t& next, VariantRow& start) {
  const auto& overflow = pass.topology->overflow;
  for (; next < overflow.size() && index(overflow[next].task) == task; ++next) {
    const OverflowDependency& dependency = overflow[next];
    if (dependency.source == no_point) {
      continue;
    }
    const bool conditional = dependency.late_after != no_point;
    const VariantRow& source = any_row(pass, task, dependency.source);
    const VariantRow& after = conditional ? any_row(pass, task, dependency.late_after) : source;
    const std::size_t source_task = index(task_of(dependency.source));
    for (std::size_t v = 0; v < variants_per_pass; ++v) {
      if (conditional && source.variant[v] <= after.variant[v]) {
        continue;
      }
      const std::int64_t share = share_of(dependency.fraction, pass.duration_ns.of[v][source_task]);
      const std::int64_t lag = pass.overflow_lag_ns.of[v][next];
      start.variant[v] = std::max(start.variant[v], add_ns(add_ns(source.variant[v], lag), share));
    }
  }
}

}  // namespace

void run_special(const Pass& pass, std::size_t task, std::size_t& next_overflow) {
  const std::array<Point, 3>& source = pass.topology->sources[task];
  VariantRow start{};
  for (std::size_t v = 0; v < variants_per_pass; ++v) {
    const Lags lag = pass.lag_ns.of[v][task];
    const std::array<std::int64_t, 3> weight{pass.segment_ns.of[v][task], lag[0], lag[1]};
    for (std::size_t slot = 0; slot < source.size(); ++slot) {
      std::int64_t time = slot == lane_slot ? 0 : never_ns;
      if (source[slot] != no_point) {
        time = any_row(pass, task, source[slot]).variant[v];
      }
      start.variant[v] = std::max(start.variant[v], add_ns(time, weight[slot]));
    }
  }
  apply_overflow(pass, task, next_overflow, start);
  const std::size_t mask = pass.window->ring_points - 1;
  VariantRow& end = pass.ring[(2 * task + 1) & mask];
  for (std::size_t v = 0; v < variants_per_pass; ++v) {
    end.variant[v] = add_ns(start.variant[v], pass.duration_ns.of[v][task]);
    pass.span_ns->variant[v] = std::max(pass.span_ns->variant[v], end.variant[v]);
  }
  pass.ring[(2 * task) & mask] = start;
}

void keep_far(const Pass& pass, std::size_t task, std::size_t& next_far) {
  const auto& far_points = pass.window->far_points;
  const std::size_t mask = pass.window->ring_points - 1;
  for (; next_far < far_points.size() && index(task_of(far_points[next_far])) == task; ++next_far) {
    pass.far[next_far] = pass.ring[index(far_points[next_far]) & mask];
  }
}

}  // namespace foretrace::engine
