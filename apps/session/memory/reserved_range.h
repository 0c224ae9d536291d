// What the caching allocator holds of a device during a run.
#pragma once

#include <cstddef>
#include <cstdint>

#include "models/hardware/catalogue/catalogue.h"
#include "models/hardware/memories/allocator_replay.h"
#include "sim/engine/memory/memory_tracker.h"
#include "sim/graph/task_graph.h"
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

}  // namespace foretrace
