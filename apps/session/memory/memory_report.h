// Device memory of a run: peak, who holds it, what the allocator reserves, where it would fit.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "models/hardware/catalogue/catalogue.h"
#include "models/hardware/memories/allocator_replay.h"
#include "sim/core/result.h"
#include "sim/engine/memory/memory_tracker.h"
#include "sim/graph/task_graph.h"
#include "sim/result/timeline.h"
#include "trace/assemble/build_graph.h"

namespace foretrace {

/// Memory that the caching allocator holds of a device at most. What it held in a recording depends
/// on the history of the process; so it is a range, with the reason.
struct ReservedRange {
  std::int64_t expected_bytes = 0;   ///< recorded + what a fresh process needs more or less now
  std::int64_t low_bytes = 0;        ///< blocks in use at the peak: nothing takes less
  std::int64_t high_bytes = 0;       ///< a fresh process, and all that was cached without a cause
  std::int64_t fresh_bytes = 0;      ///< a fresh process that repeats the window
  std::int64_t recorded_bytes = -1;  ///< most during the recording; -1: not recorded
  Fragmentation fragmentation;       ///< of the fresh process at its fullest moment
  std::size_t retries = 0;           ///< requests that made it give back its cache
};

/// A run whose memory is asked for, beside the recorded one.
struct MemoryInputs {
  const trace::BuiltGraph& built;
  const TaskGraph& graph;  ///< may be a changed one
  AllocatorSettings settings{};
  const Catalogue& catalogue = no_catalogue();  ///< of which accelerators it is asked where it fits
};
/// `recorded` and `curve` are of the same device; equal if the graph is the recorded one.
[[nodiscard]] ReservedRange reserved_range(const MemoryInputs& inputs, const MemoryCurve& recorded,
                                           const MemoryCurve& curve);

/// What a fresh process reserves that repeats the window.
[[nodiscard]] std::int64_t fresh_reserved_bytes(const MemoryInputs& inputs,
                                                const MemoryCurve& curve);
/// The same range, where the fresh process of the recorded run is known already.
[[nodiscard]] ReservedRange reserved_range(const MemoryInputs& inputs,
                                           std::int64_t fresh_bytes_before,
                                           const MemoryCurve& curve);

/// Bytes and tensors that share a name.
struct MemoryShare {
  std::string name;
  std::int64_t bytes = 0;
  std::size_t tensors = 0;
};

enum class FitVerdict : std::uint8_t {
  fits,           ///< with everything that was ever cached, and the largest context
  after_retries,  ///< if the allocator gives back its cache in between, which costs time
  no
};
[[nodiscard]] std::string_view to_string(FitVerdict verdict);

struct MemoryFit {
  std::string accelerator{};
  std::int64_t capacity_bytes = 0;  ///< of the device, less its context
  FitVerdict verdict = FitVerdict::no;
  std::size_t retries = 0;
  std::string fails_at{};  ///< operator of the first request that cannot be met
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
