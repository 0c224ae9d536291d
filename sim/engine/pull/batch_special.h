// Batched pull: tasks that the ring and three slots do not serve, all variants side by side.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sim/engine/pull/batch_pass.h"
#include "sim/engine/pull/variant_pack.h"
#include "sim/engine/release/release.h"

namespace foretrace::engine {

/// The row of a point of an earlier task, in the ring or kept beside it.
FORETRACE_ALWAYS_INLINE const VariantRow& any_row(const Pass& pass, std::size_t task,
                                                  Point source) {
  if (pass.window->is_near(task, source)) {
    return pass.ring[index(source) & (pass.window->ring_points - 1)];
  }
  return pass.far[pass.window->far_index(source)];
}

/// As any_row; `empty` stands for no source.
FORETRACE_ALWAYS_INLINE const VariantRow& any_row_or(const Pass& pass, std::size_t task,
                                                     Point source, const VariantRow& empty) {
  return source == no_point ? empty : any_row(pass, task, source);
}

template <std::size_t N>
FORETRACE_ALWAYS_INLINE void add_overflow_lag(const Pass& pass, std::size_t position,
                                              VariantValues<N>& time) {
  const auto& lags = pass.overflow_lag_ns;
  if (lags.shared) {
    return time.add(lags.of[0][position]);
  }
  VariantRow row;
  for (std::size_t v = 0; v < variants_per_pass; ++v) {
    row.variant[v] = lags.of[v][position];
  }
  VariantValues<N> lag;
  lag.load(row);
  time.add(lag);
}

template <std::size_t N>
FORETRACE_ALWAYS_INLINE void add_share(const Pass& pass, const OverflowDependency& dependency,
                                       VariantValues<N>& time) {
  const std::size_t source = index(task_of(dependency.source));
  const auto& durations = pass.duration_ns;
  if (durations.shared) {
    return time.add(share_of(dependency.fraction, durations.of[0][source]));
  }
  VariantRow row;
  for (std::size_t v = 0; v < variants_per_pass; ++v) {
    row.variant[v] = share_of(dependency.fraction, durations.of[v][source]);
  }
  VariantValues<N> share;
  share.load(row);
  time.add(share);
}

/// Raises `start` by the overflow dependencies from `next` on that belong to `task`, as
/// overflow_release() of the single engine.
template <std::size_t N>
FORETRACE_ALWAYS_INLINE void raise_by_overflow(const Pass& pass, std::size_t task,
                                               std::size_t& next, VariantValues<N>& start) {
  const auto& overflow = pass.topology->overflow;
  for (; next < overflow.size() && index(overflow[next].task) == task; ++next) {
    const OverflowDependency& dependency = overflow[next];
    if (dependency.source == no_point) {
      continue;
    }
    VariantValues<N> source;
    source.load(any_row(pass, task, dependency.source));
    VariantValues<N> release = source;
    add_overflow_lag(pass, next, release);
    if (dependency.fraction != 0.0F) {
      add_share(pass, dependency, release);
    }
    if (dependency.late_after != no_point) {
      VariantValues<N> after;
      after.load(any_row(pass, task, dependency.late_after));
      release.keep_where_later(source, after, never_ns);
    }
    start.raise_to(release);
  }
}

/// Keeps the points of a task that are read after they leave the ring.
FORETRACE_ALWAYS_INLINE void keep_far(const Pass& pass, std::size_t task, std::size_t& next_far) {
  const auto& far_points = pass.window->far_points;
  const std::size_t mask = pass.window->ring_points - 1;
  for (; next_far < far_points.size() && index(task_of(far_points[next_far])) == task; ++next_far) {
    pass.far[next_far] = pass.ring[index(far_points[next_far]) & mask];
  }
}

}  // namespace foretrace::engine
