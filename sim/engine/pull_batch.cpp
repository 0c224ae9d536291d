// Batched pull: eight variants of one topology per pass, one per SIMD lane, dispatched at run time.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

#include "sim/core/result.h"
#include "sim/engine/pull.h"
#include "sim/engine/release.h"

#define FORETRACE_ALWAYS_INLINE inline __attribute__((always_inline))

namespace foretrace {
namespace {

constexpr std::size_t width = 8;   ///< variants per pass
constexpr std::size_t block = 64;  ///< tasks whose varying weights are interleaved at a time

/// One point or weight of all variants of a pass: a cache line.
struct alignas(64) Row {
  std::array<std::int64_t, width> variant;
};

/// One weight column of a pass: either the same for all variants, or one pointer per variant.
template <typename T>
struct BatchColumn {
  std::array<const T*, width> of{};
  bool shared = true;
};

struct Pass {
  const Topology* topology = nullptr;
  BatchColumn<std::int64_t> duration_ns;
  BatchColumn<std::int64_t> segment_ns;
  BatchColumn<std::array<std::int32_t, 2>> lag_ns;
  BatchColumn<std::int64_t> overflow_lag_ns;
  Row* points = nullptr;  ///< 2 per task, then the two sentinels
  Row* span_ns = nullptr;
};

/// N variants in one SIMD register; N is what the instruction set holds.
template <std::size_t N>
struct Pack;
template <>
struct Pack<8> {
  using Signed = std::int64_t __attribute__((vector_size(64)));
  using Unsigned = std::uint64_t __attribute__((vector_size(64)));
};
template <>
struct Pack<4> {
  using Signed = std::int64_t __attribute__((vector_size(32)));
  using Unsigned = std::uint64_t __attribute__((vector_size(32)));
};
template <>
struct Pack<2> {
  using Signed = std::int64_t __attribute__((vector_size(16)));
  using Unsigned = std::uint64_t __attribute__((vector_size(16)));
};

/// All variants of one value. Values travel by reference: no vector ever crosses a call's ABI.
template <std::size_t N>
struct Values {
  typename Pack<N>::Signed part[width / N];  // NOLINT(modernize-avoid-c-arrays): of vectors

  FORETRACE_ALWAYS_INLINE void load(const Row& row) { std::memcpy(&part[0], &row, sizeof row); }
  FORETRACE_ALWAYS_INLINE void store(Row& row) const { std::memcpy(&row, &part[0], sizeof row); }
  /// Wraps like detail::add_ns.
  FORETRACE_ALWAYS_INLINE void add(const Values& other) {
    using Unsigned = typename Pack<N>::Unsigned;
    for (std::size_t i = 0; i < width / N; ++i) {
      part[i] = reinterpret_cast<typename Pack<N>::Signed>(
          reinterpret_cast<Unsigned>(part[i]) + reinterpret_cast<Unsigned>(other.part[i]));
    }
  }
  FORETRACE_ALWAYS_INLINE void add(std::int64_t same) {
    using Unsigned = typename Pack<N>::Unsigned;
    for (auto& p : part) {
      p = reinterpret_cast<typename Pack<N>::Signed>(reinterpret_cast<Unsigned>(p) +
                                                     static_cast<std::uint64_t>(same));
    }
  }
  FORETRACE_ALWAYS_INLINE void raise_to(const Values& other) {
    for (std::size_t i = 0; i < width / N; ++i) {
      part[i] = part[i] > other.part[i] ? part[i] : other.part[i];
    }
  }
};

/// Weights of one block of tasks, interleaved by variant. Shared columns are read in place.
struct Block {
  std::array<Row, block> duration_ns;
  std::array<Row, block> segment_ns;
  std::array<Row, block> cause_lag_ns;
  std::array<Row, block> extra_lag_ns;
};

FORETRACE_ALWAYS_INLINE void interleave(const BatchColumn<std::int64_t>& column, std::size_t first,
                                        std::size_t count, Row* rows) {
  if (column.shared) {
    return;
  }
  for (std::size_t v = 0; v < width; ++v) {
    const std::int64_t* from = column.of[v] + first;
    for (std::size_t i = 0; i < count; ++i) {
      rows[i].variant[v] = from[i];
    }
  }
}

FORETRACE_ALWAYS_INLINE void interleave(const BatchColumn<std::array<std::int32_t, 2>>& column,
                                        std::size_t first, std::size_t count, Block& out) {
  if (column.shared) {
    return;
  }
  for (std::size_t v = 0; v < width; ++v) {
    const std::array<std::int32_t, 2>* from = column.of[v] + first;
    for (std::size_t i = 0; i < count; ++i) {
      out.cause_lag_ns[i].variant[v] = from[i][0];
      out.extra_lag_ns[i].variant[v] = from[i][1];
    }
  }
}

template <std::size_t N, bool Shared>
FORETRACE_ALWAYS_INLINE void add_weight(Values<N>& value, std::int64_t shared, const Row& row) {
  if constexpr (Shared) {
    value.add(shared);
  } else {
    Values<N> weight;
    weight.load(row);
    value.add(weight);
  }
}

FORETRACE_ALWAYS_INLINE const Row& row_at(const Pass& pass, Point point, std::uint32_t sentinel) {
  return pass.points[std::min(static_cast<std::uint32_t>(point), sentinel)];
}

/// Start by the three slots, as slot_start() of the single engine.
template <std::size_t N, bool SharedSegment, bool SharedLag>
FORETRACE_ALWAYS_INLINE void slot_start(const Pass& pass, const Block& weights, std::size_t first,
                                        std::size_t i, Values<N>& start) {
  const std::size_t task = first + i;
  const auto& source = pass.topology->sources[task];
  const auto origin = static_cast<std::uint32_t>(2 * pass.topology->sources.size());
  const std::array<std::int32_t, 2> lag =
      SharedLag ? pass.lag_ns.of[0][task] : std::array<std::int32_t, 2>{};
  Values<N> other{};
  start.load(row_at(pass, source[lane_slot], origin));
  add_weight<N, SharedSegment>(start, SharedSegment ? pass.segment_ns.of[0][task] : 0,
                               weights.segment_ns[i]);
  start.raise_to(other);
  other.load(row_at(pass, source[cause_slot], origin + 1));
  add_weight<N, SharedLag>(other, lag[0], weights.cause_lag_ns[i]);
  start.raise_to(other);
  other.load(row_at(pass, source[extra_slot], origin + 1));
  add_weight<N, SharedLag>(other, lag[1], weights.extra_lag_ns[i]);
  start.raise_to(other);
}

/// Raises `start` by the overflow dependencies from `next` on that belong to `task`.
void apply_overflow(const Pass& pass, std::size_t task, std::size_t& next, Row& start) {
  const auto& overflow = pass.topology->overflow;
  for (; next < overflow.size() && index(overflow[next].task) == task; ++next) {
    const OverflowDependency& dependency = overflow[next];
    if (dependency.source == no_point) {
      continue;
    }
    const std::size_t source_task = index(task_of(dependency.source));
    const Row& source = pass.points[index(dependency.source)];
    for (std::size_t v = 0; v < width; ++v) {
      if (dependency.late_after != no_point &&
          source.variant[v] <= pass.points[index(dependency.late_after)].variant[v]) {
        continue;
      }
      const std::int64_t share =
          detail::share_of(dependency.fraction, pass.duration_ns.of[v][source_task]);
      const std::int64_t release = detail::add_ns(
          detail::add_ns(source.variant[v], pass.overflow_lag_ns.of[v][next]), share);
      start.variant[v] = std::max(start.variant[v], release);
    }
  }
}

template <std::size_t N, bool SharedDuration, bool SharedSegment, bool SharedLag>
FORETRACE_ALWAYS_INLINE void run_pass(const Pass& pass) {
  const Topology& topology = *pass.topology;
  const std::size_t tasks = topology.task_count();
  const auto& overflow = topology.overflow;
  Block weights;
  Values<N> span{};
  std::size_t next = 0;
  std::size_t special = overflow.empty() ? tasks : index(overflow[0].task);
  for (std::size_t first = 0; first < tasks; first += block) {
    const std::size_t count = std::min(block, tasks - first);
    interleave(pass.duration_ns, first, count, weights.duration_ns.data());
    interleave(pass.segment_ns, first, count, weights.segment_ns.data());
    interleave(pass.lag_ns, first, count, weights);
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t task = first + i;
      Values<N> start;
      slot_start<N, SharedSegment, SharedLag>(pass, weights, first, i, start);
      Row& start_row = pass.points[2 * task];
      start.store(start_row);
      if (task == special) {
        apply_overflow(pass, task, next, start_row);
        special = next < overflow.size() ? index(overflow[next].task) : tasks;
        start.load(start_row);
      }
      add_weight<N, SharedDuration>(start, SharedDuration ? pass.duration_ns.of[0][task] : 0,
                                    weights.duration_ns[i]);
      start.store(pass.points[2 * task + 1]);
      span.raise_to(start);
    }
  }
  span.store(*pass.span_ns);
}

template <std::size_t N>
FORETRACE_ALWAYS_INLINE void run_any(const Pass& pass) {
  // A sweep of durations is the common case; the rest is told apart by segments and lags.
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

[[nodiscard]] Kernel best_kernel() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512vl") != 0 &&
      __builtin_cpu_supports("avx512dq") != 0) {
    return &run_avx512;
  }
  if (__builtin_cpu_supports("avx2") != 0) {
    return &run_avx2;
  }
#endif
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
  explicit Batch(const Topology& topology)
      : topology_(topology),
        points_(std::make_unique_for_overwrite<Row[]>(2 * topology.task_count() + 2)) {
    points_[2 * topology.task_count()].variant.fill(0);
    points_[2 * topology.task_count() + 1].variant.fill(detail::never_ns);
  }

  /// Simulates up to eight variants; spans() and points() hold them until the next call.
  void run(std::span<const Weights> variants) {
    Pass pass;
    pass.topology = &topology_;
    for (std::size_t v = 0; v < width; ++v) {
      const Weights& weights = variants[std::min(v, variants.size() - 1)];
      const std::size_t tasks = topology_.task_count();
      set_column(pass.duration_ns, v, weights.duration_ns, tasks);
      set_column(pass.segment_ns, v, weights.segment_ns, tasks);
      set_column(pass.lag_ns, v, weights.lag_ns, tasks);
      set_column(pass.overflow_lag_ns, v, weights.overflow_lag_ns, topology_.overflow.size());
    }
    pass.points = points_.get();
    pass.span_ns = &spans_;
    kernel_(pass);
  }
  [[nodiscard]] const Row& spans() const { return spans_; }
  [[nodiscard]] const Row* points() const { return points_.get(); }

 private:
  const Topology& topology_;
  std::unique_ptr<Row[]> points_;
  Row spans_{};
  Kernel kernel_ = best_kernel();
};

}  // namespace

std::vector<Timeline> simulate_batch(const Topology& topology, std::span<const Weights> variants) {
  std::vector<Timeline> timelines(variants.size());
  const std::size_t points = 2 * topology.task_count();
  if (points == 0) {
    return timelines;
  }
  Batch batch(topology);
  for (std::size_t first = 0; first < variants.size(); first += width) {
    const std::size_t count = std::min(width, variants.size() - first);
    batch.run(variants.subspan(first, count));
    for (std::size_t v = 0; v < count; ++v) {
      Timeline& timeline = timelines[first + v];
      timeline.span_ns = batch.spans().variant[v];
      timeline.points.resize(points);
    }
    for (std::size_t from = 0; from < points; from += block) {
      const std::size_t to = std::min(points, from + block);
      for (std::size_t v = 0; v < count; ++v) {
        std::int64_t* out = timelines[first + v].points.data();
        for (std::size_t i = from; i < to; ++i) {
          out[i] = batch.points()[i].variant[v];
        }
      }
    }
  }
  return timelines;
}

std::vector<std::int64_t> simulate_batch_spans(const Topology& topology,
                                               std::span<const Weights> variants) {
  std::vector<std::int64_t> spans(variants.size(), 0);
  if (topology.task_count() == 0) {
    return spans;
  }
  Batch batch(topology);
  for (std::size_t first = 0; first < variants.size(); first += width) {
    const std::size_t count = std::min(width, variants.size() - first);
    batch.run(variants.subspan(first, count));
    std::copy_n(batch.spans().variant.begin(), count,
                spans.begin() + static_cast<std::ptrdiff_t>(first));
  }
  return spans;
}

}  // namespace foretrace
