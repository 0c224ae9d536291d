// MemoryTimeline: device memory over time by category, as profilers and allocators export it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace foretrace::trace {

/// Memory that one line of the program asked for.
struct HeldMemory {
  std::string line;  ///< "model.py:54 attention_scores"; empty: not recorded
  std::int64_t bytes = 0;
  std::uint64_t blocks = 0;
};

/// What an allocator held when its history ended.
struct AllocatorState {
  std::int64_t allocated_bytes = 0;
  std::int64_t pending_bytes = 0;  ///< freed by the program, not yet by a stream
  std::int64_t reserved_bytes = 0;
  std::int64_t free_bytes = 0;          ///< inside segments: reserved, held by nobody
  std::int64_t largest_free_bytes = 0;  ///< in one piece: no larger request fits without a new one
  std::uint64_t free_pieces = 0;
  std::uint64_t segments = 0;
  std::vector<HeldMemory> holders{};  ///< of what is allocated, most bytes first
};

/// A request that the allocator could not meet: the program ran out of memory.
struct FailedRequest {
  std::int64_t bytes = 0;
  std::int64_t device_free_bytes = -1;  ///< left on the device; -1: not recorded
  std::int64_t allocated_bytes = 0;     ///< at that time
  std::int64_t reserved_bytes = 0;
  std::string line;  ///< that asked; empty: not recorded
};

/// Samples in order of time; between two samples nothing changes.
struct MemoryTimeline {
  std::vector<std::string> categories;
  std::vector<std::int64_t> time_ns;  ///< from the first sample that has a time
  /// Bytes by sample and category: row * categories.size() + category.
  std::vector<std::int64_t> bytes;
  /// Bytes that the allocator held of the device by sample; empty if that is not recorded.
  std::vector<std::int64_t> reserved;
  std::int32_t device = -1;        ///< -1: not recorded
  std::int64_t first_time_ns = 0;  ///< recorded time of time 0
  std::optional<AllocatorState> at_end{};
  std::vector<FailedRequest> failed{};  ///< in order of time

  [[nodiscard]] std::size_t size() const { return time_ns.size(); }
  /// All categories of a sample together.
  [[nodiscard]] std::int64_t total(std::size_t sample) const;
  /// The first sample with the most bytes; 0 if there are no samples.
  [[nodiscard]] std::size_t peak() const;
};

}  // namespace foretrace::trace
