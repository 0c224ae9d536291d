// Tensors of device memory: which allocation belongs to which free.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "trace/table/events.h"

namespace foretrace::trace {

inline constexpr std::uint32_t no_memory_event = 0xFFFFFFFFU;

/// Bytes of the block that PyTorch's caching allocator hands out: multiples of 512, at least one
/// (CUDACachingAllocator: kMinBlockSize).
[[nodiscard]] constexpr std::int64_t block_bytes(std::int64_t requested) {
  constexpr std::int64_t unit = 512;
  return requested <= unit ? unit : (requested + unit - 1) / unit * unit;
}

/// A block from its allocation to its free.
struct TensorLifetime {
  std::uint32_t device = 0;                    ///< index of TensorLifetimes::devices
  std::int64_t bytes = 0;                      ///< of the block
  std::uint32_t allocation = no_memory_event;  ///< row of the memory events; none: before
  std::uint32_t release = no_memory_event;     ///< none: outlives the window
};

/// What the [memory] instants of one device say. Bytes are -1 where they are not recorded.
struct DeviceMemory {
  std::int32_t type = 0;  ///< 1 CUDA, 6 HIP
  std::int32_t id = -1;   ///< as recorded: ROCm counts otherwise than its kernels do
  std::int32_t rank = 0;
  std::int32_t graph_device = 0;       ///< the device of the graph that it belongs to
  std::vector<std::uint32_t> order;    ///< rows of the memory events as they happened
  std::int64_t base_bytes = -1;        ///< allocated before the first event
  std::int64_t persistent_bytes = -1;  ///< of these, never freed in the window
  std::int64_t recorded_peak_bytes = -1;
  std::int64_t first_reserved_bytes = -1;
  std::int64_t peak_reserved_bytes = -1;
  std::size_t tensors = 0;       ///< allocated in the window
  std::size_t freed_older = 0;   ///< allocated before, freed in the window
  std::size_t left_over = 0;     ///< allocated in the window, not freed in it
  std::size_t chain_breaks = 0;  ///< totals that do not follow from the one before: lost events
  std::size_t lost_frees = 0;    ///< an address allocated twice
  bool has_addresses = false;    ///< without, blocks of equal size are paired last in, first out
  /// Nothing was recorded: tensors follow from the shapes of operators. Then how many operators
  /// there are that launch device work, and of how many the results are not known.
  bool is_from_shapes = false;
  std::size_t operators = 0;
  std::size_t unknown_results = 0;
  /// Of the kernels of the trace: those in operators of which it is known what they make. What the
  /// others hold is missing.
  double known_share = 1;
  std::vector<std::string> unknown_names{};  ///< the most frequent of them
};

struct TensorLifetimes {
  std::vector<DeviceMemory> devices;    ///< by (type, id)
  std::vector<TensorLifetime> tensors;  ///< by device, older ones first, then by allocation
};

/// Memory of the host is left out. Events of all threads are merged by time; where equal times of
/// two threads leave the order open, the recorded totals decide.
[[nodiscard]] TensorLifetimes find_lifetimes(std::span<const MemoryEvent> memory);

}  // namespace foretrace::trace
