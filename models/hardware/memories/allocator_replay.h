// What a device's tensors ask of an allocator, run through the model of the caching allocator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "models/hardware/memories/caching_allocator.h"
#include "sim/engine/memory/memory_tracker.h"
#include "sim/graph/task_graph.h"

namespace foretrace {

/// One request or free of a program.
struct AllocatorEvent {
  std::uint32_t tensor = 0;
  bool allocates = false;
};

/// Requests and frees of one device in the order of its host.
struct AllocatorProgram {
  std::vector<std::int64_t> bytes;    ///< per tensor: what it asks for
  std::vector<std::uint32_t> stream;  ///< per tensor: whose pool, from 0
  std::vector<std::uint32_t> older;   ///< tensors that come before the window and go in it
  std::int64_t persistent_bytes = 0;  ///< there before the window and after it
  std::vector<AllocatorEvent> events;
};
/// Of a simulated run. Streams count from the first one that allocates; tensors whose stream is not
/// known belong to it.
[[nodiscard]] AllocatorProgram allocator_program(const TaskGraph& graph, const MemoryCurve& curve);

struct ReplayOptions {
  AllocatorSettings settings{};
  /// Blocks that stay, in the order in which the process asked for them: weights, workspaces,
  /// states. What they leave of persistent_bytes is one more block.
  std::span<const std::int64_t> seeds{};
  std::size_t most_passes = 4;  ///< over the window, until reserved memory grows no more
  bool keep_curve = false;
};

struct AllocatorReplay {
  AllocatorUse use;             ///< at the end of the last pass
  Fragmentation fragmentation;  ///< where the last pass holds most
  std::size_t passes = 0;
  std::uint32_t out_of_memory_at = 0;  ///< tensor of the first request that failed
  std::vector<std::int64_t> reserved;  ///< per event of the first pass, if asked for
};
/// Starts with nothing, allocates what was there before the window, then repeats the window.
[[nodiscard]] AllocatorReplay replay_allocator(const AllocatorProgram& program,
                                               const ReplayOptions& options = {});

}  // namespace foretrace
