// MemoryTimeline: device memory over time by category, as profilers and allocators export it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace foretrace::trace {

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

  [[nodiscard]] std::size_t size() const { return time_ns.size(); }
  /// All categories of a sample together.
  [[nodiscard]] std::int64_t total(std::size_t sample) const;
  /// The first sample with the most bytes; 0 if there are no samples.
  [[nodiscard]] std::size_t peak() const;
};

}  // namespace foretrace::trace
