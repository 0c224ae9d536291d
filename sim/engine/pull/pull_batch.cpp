// Batched pull: eight variants of one topology per pass, one per SIMD lane, dispatched at run time.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "sim/core/result.h"
#include "sim/engine/pull/batch_pass.h"
#include "sim/engine/pull/batch_special.h"
#include "sim/engine/pull/point_window.h"
#include "sim/engine/pull/pull.h"
#include "sim/engine/pull/variant_pack.h"
#include "sim/engine/release/release.h"

namespace foretrace {
namespace {

using engine::BatchColumn;
using engine::Lags;
using engine::Pass;
using engine::PointWindow;
using engine::VariantRow;
using engine::VariantValues;

constexpr std::size_t width = engine::variants_per_pass;
constexpr std::size_t block = 64;  // tasks whose varying weights are interleaved at a time

/// Varying weights of one block of tasks, interleaved by variant. Shared ones are read in place.
struct Block {
  std::array<VariantRow, block> duration_ns;
  std::array<VariantRow, block> segment_ns;
  std::array<VariantRow, block> lag_ns;  ///< cause in the low, extra in the high half
};

/// What a run of plain tasks reads: plain pointers, so that no store makes the loop reload them.
struct PlainColumns {
  explicit PlainColumns(const Pass& pass)
      : sources(pass.topology->sources.data()),
        duration_ns(pass.duration_ns.of[0]),
        segment_ns(pass.segment_ns.of[0]),
        lag_ns(pass.lag_ns.of[0]),
        ring(pass.ring),
        mask(pass.window->ring_points - 1) {}

  const std::array<Point, 3>* sources;
  const std::int64_t* duration_ns;
  const std::int64_t* segment_ns;
  const Lags* lag_ns;
  VariantRow* ring;
  std::size_t mask;
};

/// The row of a source. no_point has all bits set, so it lands on the last row of the ring: the
/// sentinels (lane: 0, others: never) stand one and two rows behind it.
FORETRACE_ALWAYS_INLINE const VariantRow& near_row(const PlainColumns& columns, Point source,
                                                   std::size_t sentinel) {
  const std::size_t empty = source == no_point ? 1 : 0;
  return columns.ring[(index(source) & columns.mask) + empty * sentinel];
}

/// What the three sources of a task allow.
struct SourceRows {
  const VariantRow& lane;
  const VariantRow& cause;
  const VariantRow& extra;
};

FORETRACE_ALWAYS_INLINE SourceRows near_rows(const PlainColumns& columns, std::size_t task) {
  const std::array<Point, 3>& source = columns.sources[task];
  return {near_row(columns, source[lane_slot], 1), near_row(columns, source[cause_slot], 2),
          near_row(columns, source[extra_slot], 2)};
}

FORETRACE_ALWAYS_INLINE SourceRows any_rows(const Pass& pass, std::size_t task) {
  const std::array<Point, 3>& source = pass.topology->sources[task];
  const VariantRow* const sentinels = pass.ring + pass.window->ring_points;
  return {engine::any_row_or(pass, task, source[lane_slot], sentinels[0]),
          engine::any_row_or(pass, task, source[cause_slot], sentinels[1]),
          engine::any_row_or(pass, task, source[extra_slot], sentinels[1])};
}

/// Start of a task as far as its slots say, as slot_start() of the single engine.
template <std::size_t N, bool SharedSegment, bool SharedLag>
FORETRACE_ALWAYS_INLINE void slot_start(const PlainColumns& columns, const Block& weights,
                                        const SourceRows& rows, std::size_t first, std::size_t i,
                                        VariantValues<N>& start) {
  VariantValues<N> cause;
  VariantValues<N> extra;
  cause.load(rows.cause);
  extra.load(rows.extra);
  if constexpr (SharedLag) {
    cause.add(columns.lag_ns[first + i][0]);
    extra.add(columns.lag_ns[first + i][1]);
  } else {
    VariantValues<N> lag;
    lag.load(weights.lag_ns[i]);
    lag.keep_low();
    cause.add(lag);
    lag.load(weights.lag_ns[i]);
    lag.keep_high();
    extra.add(lag);
  }
  cause.raise_to(extra);
  cause.raise_to(VariantValues<N>{});
  start.load(rows.lane);
  if constexpr (SharedSegment) {
    start.add(columns.segment_ns[first + i]);
  } else {
    VariantValues<N> segment;
    segment.load(weights.segment_ns[i]);
    start.add(segment);
  }
  start.raise_to(cause);
}

/// Row i of a block asks for the line of the next block that interleaving it will read.
template <typename T>
FORETRACE_ALWAYS_INLINE void prefetch_next(const std::array<const T*, width>& of, std::size_t i,
                                           std::size_t first, std::size_t tasks) {
  static_assert(block == width * 64 / sizeof(T), "as many rows as lines");
  const std::size_t next = first + block + i / width * width;
  __builtin_prefetch(of[i % width] + std::min(next, tasks - 1));
}

/// Stores the start of a task and what follows from it.
template <std::size_t N, bool SharedDuration>
FORETRACE_ALWAYS_INLINE void store_points(const PlainColumns& columns, const Block& weights,
                                          std::size_t first, std::size_t i, VariantValues<N>& point,
                                          VariantValues<N>& span) {
  const std::size_t at = (2 * (first + i)) & columns.mask;
  point.store(columns.ring[at]);
  if constexpr (SharedDuration) {
    point.add(columns.duration_ns[first + i]);
  } else {
    VariantValues<N> duration;
    duration.load(weights.duration_ns[i]);
    point.add(duration);
  }
  point.store(columns.ring[at + 1]);
  span.raise_to(point);
}

template <std::size_t N, bool SharedDuration, bool SharedSegment, bool SharedLag>
FORETRACE_ALWAYS_INLINE void run_pass(const Pass& pass) {
  const std::size_t tasks = pass.topology->task_count();
  const auto& special = pass.window->special;
  const PlainColumns columns(pass);
  const auto durations = pass.duration_ns.of;
  const auto segments = pass.segment_ns.of;
  const auto lags = pass.lag_ns.of;
  Block weights;
  VariantValues<N> span{};
  std::size_t next_special = 0;
  std::size_t next_overflow = 0;
  std::size_t next_far = 0;
  for (std::size_t first = 0; first < tasks; first += block) {
    const std::size_t count = std::min(block, tasks - first);
    if constexpr (!SharedDuration) {
      engine::interleave<N>(pass.duration_ns.of, first, count, weights.duration_ns.data());
    }
    if constexpr (!SharedSegment) {
      engine::interleave<N>(pass.segment_ns.of, first, count, weights.segment_ns.data());
    }
    if constexpr (!SharedLag) {
      engine::interleave<N>(pass.lag_ns.of, first, count, weights.lag_ns.data());
    }
    for (std::size_t i = 0; i < count;) {
      const std::size_t stop = next_special < special.size()
                                   ? std::min<std::size_t>(count, special[next_special] - first)
                                   : count;
      for (; i < stop; ++i) {
        if constexpr (!SharedDuration) {
          prefetch_next(durations, i, first, tasks);
        }
        if constexpr (!SharedSegment) {
          prefetch_next(segments, i, first, tasks);
        }
        if constexpr (!SharedLag) {
          prefetch_next(lags, i, first, tasks);
        }
        VariantValues<N> point;
        slot_start<N, SharedSegment, SharedLag>(columns, weights, near_rows(columns, first + i),
                                                first, i, point);
        store_points<N, SharedDuration>(columns, weights, first, i, point, span);
      }
      if (i == count) break;
      VariantValues<N> point;
      slot_start<N, SharedSegment, SharedLag>(columns, weights, any_rows(pass, first + i), first, i,
                                              point);
      engine::raise_by_overflow<N>(pass, first + i, next_overflow, point);
      store_points<N, SharedDuration>(columns, weights, first, i, point, span);
      engine::keep_far(pass, first + i, next_far);
      ++next_special;
      ++i;
    }
    if (pass.out[0] != nullptr) {
      const std::size_t at = (2 * first) & (pass.window->ring_points - 1);
      engine::separate<N>(pass.ring + at, 2 * count, pass.out, 2 * first);
    }
  }
  span.store(*pass.span_ns);
}

template <std::size_t N>
FORETRACE_ALWAYS_INLINE void run_any(const Pass& pass) {
  const bool duration = pass.duration_ns.shared;
  if (pass.segment_ns.shared && pass.lag_ns.shared) {
    duration ? run_pass<N, true, true, true>(pass) : run_pass<N, false, true, true>(pass);
  } else if (pass.lag_ns.shared) {
    duration ? run_pass<N, true, false, true>(pass) : run_pass<N, false, false, true>(pass);
  } else if (pass.segment_ns.shared) {
    duration ? run_pass<N, true, true, false>(pass) : run_pass<N, false, true, false>(pass);
  } else {
    duration ? run_pass<N, true, false, false>(pass) : run_pass<N, false, false, false>(pass);
  }
}

using Kernel = void (*)(const Pass&);

#if defined(__x86_64__)
__attribute__((target("avx512f,avx512vl,avx512dq"))) void run_avx512(const Pass& pass) {
  run_any<8>(pass);
}
__attribute__((target("avx2"))) void run_avx2(const Pass& pass) { run_any<4>(pass); }
#endif
void run_portable(const Pass& pass) { run_any<2>(pass); }

[[nodiscard]] Kernel kernel_of(engine::Simd simd) {
#if defined(__x86_64__)
  if (simd == engine::Simd::avx512) return &run_avx512;
  if (simd == engine::Simd::avx2) return &run_avx2;
#endif
  (void)simd;
  return &run_portable;
}

template <typename T>
void set_column(BatchColumn<T>& column, std::size_t v, const SharedColumn<T>& from,
                std::size_t size) {
  FORETRACE_CHECK(size == 0 || (from != nullptr && from->size() == size));
  column.of[v] = size == 0 ? nullptr : from->data();
  column.shared = column.shared && column.of[v] == column.of[0];
}

/// Runs passes of eight; a last pass with fewer repeats its last variant.
class Batch {
 public:
  Batch(const Topology& topology, engine::Simd simd)
      : topology_(topology),
        window_(engine::point_window(topology, block)),
        ring_(std::make_unique_for_overwrite<VariantRow[]>(window_.ring_points + 2)),
        far_(std::make_unique_for_overwrite<VariantRow[]>(window_.far_points.size())),
        kernel_(kernel_of(simd)) {
    ring_[window_.ring_points].variant.fill(0);
    ring_[window_.ring_points + 1].variant.fill(engine::never_ns);
  }

  /// Simulates one to eight variants; writes their points if `timelines` is not empty.
  const VariantRow& run(std::span<const Weights> variants, std::span<Timeline> timelines) {
    spans_.variant.fill(0);
    Pass pass;
    pass.topology = &topology_;
    pass.window = &window_;
    const std::size_t tasks = topology_.task_count();
    for (std::size_t v = 0; v < width; ++v) {
      const std::size_t from = std::min(v, variants.size() - 1);
      const Weights& weights = variants[from];
      set_column(pass.duration_ns, v, weights.duration_ns, tasks);
      set_column(pass.segment_ns, v, weights.segment_ns, tasks);
      set_column(pass.lag_ns, v, weights.lag_ns, tasks);
      set_column(pass.overflow_lag_ns, v, weights.overflow_lag_ns, topology_.overflow.size());
      if (!timelines.empty()) {
        pass.out[v] = timelines[from].points.data();
      }
    }
    pass.ring = ring_.get();
    pass.far = far_.get();
    pass.span_ns = &spans_;
    kernel_(pass);
    return spans_;
  }

 private:
  VariantRow spans_{};
  const Topology& topology_;
  PointWindow window_;
  std::unique_ptr<VariantRow[]> ring_;
  std::unique_ptr<VariantRow[]> far_;
  Kernel kernel_;
};

}  // namespace

std::vector<Timeline> simulate_batch(const Topology& topology, std::span<const Weights> variants) {
  std::vector<Timeline> timelines(variants.size());
  if (topology.task_count() == 0) return timelines;
  Batch batch(topology, engine::supported_simd().back());
  for (Timeline& timeline : timelines) {
    timeline.points.resize(2 * topology.task_count());
  }
  for (std::size_t first = 0; first < variants.size(); first += width) {
    const std::size_t count = std::min(width, variants.size() - first);
    const std::span<Timeline> part = std::span(timelines).subspan(first, count);
    const VariantRow& spans = batch.run(variants.subspan(first, count), part);
    for (std::size_t v = 0; v < count; ++v) {
      part[v].span_ns = spans.variant[v];
    }
  }
  return timelines;
}

std::vector<engine::Simd> engine::supported_simd() {
  std::vector<Simd> result{Simd::portable};
#if defined(__x86_64__)
  if (static_cast<bool>(__builtin_cpu_supports("avx2"))) {
    result.push_back(Simd::avx2);
  }
  if (static_cast<bool>(__builtin_cpu_supports("avx512f")) &&
      static_cast<bool>(__builtin_cpu_supports("avx512vl")) &&
      static_cast<bool>(__builtin_cpu_supports("avx512dq"))) {
    result.push_back(Simd::avx512);
  }
#endif
  return result;
}

std::vector<std::int64_t> engine::batch_spans(const Topology& topology,
                                              std::span<const Weights> variants, Simd simd) {
  std::vector<std::int64_t> spans(variants.size(), 0);
  if (topology.task_count() == 0) return spans;
  Batch batch(topology, simd);
  for (std::size_t first = 0; first < variants.size(); first += width) {
    const std::size_t count = std::min(width, variants.size() - first);
    const VariantRow& row = batch.run(variants.subspan(first, count), {});
    for (std::size_t v = 0; v < count; ++v) {
      spans[first + v] = row.variant[v];
    }
  }
  return spans;
}

std::vector<std::int64_t> simulate_batch_spans(const Topology& topology,
                                               std::span<const Weights> variants) {
  return engine::batch_spans(topology, variants, engine::supported_simd().back());
}

}  // namespace foretrace
