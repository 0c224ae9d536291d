// One pass of the batched pull engine: eight variants of one topology, and where their points lie.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/engine/pull/point_window.h"
#include "sim/engine/pull/variant_pack.h"
#include "sim/graph/task_graph.h"

namespace foretrace::engine {

using Lags = std::array<std::int32_t, 2>;

/// One weight column of a pass: either the same for all variants, or one pointer per variant.
template <typename T>
struct BatchColumn {
  std::array<const T*, variants_per_pass> of{};
  bool shared = true;
};

struct Pass {
  const Topology* topology = nullptr;
  const PointWindow* window = nullptr;
  BatchColumn<std::int64_t> duration_ns;
  BatchColumn<std::int64_t> segment_ns;
  BatchColumn<Lags> lag_ns;
  BatchColumn<std::int64_t> overflow_lag_ns;
  VariantRow* ring = nullptr;  ///< window->ring_points rows, then the two sentinels
  VariantRow* far = nullptr;   ///< one row per window->far_points
  VariantRow* span_ns = nullptr;
  /// Where the points of each variant go; null: only the spans are wanted.
  std::array<std::int64_t*, variants_per_pass> out{};
};

/// Instruction sets that a pass is compiled for.
enum class Simd : std::uint8_t { portable, avx2, avx512 };
/// Those that this machine has, the best one last.
[[nodiscard]] std::vector<Simd> supported_simd();
/// simulate_batch_spans() with one of them.
[[nodiscard]] std::vector<std::int64_t> batch_spans(const Topology& topology,
                                                    std::span<const Weights> variants, Simd simd);

}  // namespace foretrace::engine
