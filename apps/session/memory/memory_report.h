// Device memory of a run: peak, who holds it, what the allocator reserves, where it would fit.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "apps/session/memory/memory_fits.h"
#include "apps/session/memory/reserved_range.h"
#include "sim/engine/memory/memory_tracker.h"
#include "sim/graph/task_graph.h"
#include "sim/result/timeline.h"

namespace foretrace {

/// Bytes and tensors that share a name.
struct MemoryShare {
  std::string name;
  std::int64_t bytes = 0;
  std::size_t tensors = 0;
};

struct MemoryReport {
  MemoryCurve curve;
  ReservedRange reserved;
  std::int64_t older_freed_bytes = 0;  ///< there before the window, freed in it
  std::int64_t assumed_bytes = 0;      ///< of what was there before, estimated from shapes
  std::string peak_operator;           ///< whose request reaches the peak; empty: none
  std::string peak_layer;
  Phase peak_phase = Phase::unknown;
  std::vector<MemoryShare> categories;  ///< at the peak, largest first; so are the next two
  std::vector<MemoryShare> layers;
  std::vector<MemoryShare> operators;
  std::vector<MemoryShare> largest;  ///< single tensors at the peak: "aten::conv2d, activation"
  /// The peak if tensors of one category were gone: the most that moving, recomputing or shrinking
  /// them could free.
  std::array<std::int64_t, tensor_category_count> peak_without{};
  std::int64_t no_reuse_bytes = -1;  ///< every tensor at its own place; -1: not planned
  std::int64_t planned_bytes = -1;   ///< a static plan with proven reuse
  std::vector<MemoryFit> fits;       ///< by capacity
};

/// One report per device that holds tensors.
[[nodiscard]] std::vector<MemoryReport> memory_reports(const MemoryInputs& inputs,
                                                       const Timeline& timeline);

}  // namespace foretrace
