// Settings of PyTorch's caching allocator, as PYTORCH_CUDA_ALLOC_CONF spells them.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string_view>

#include "sim/core/result.h"

namespace foretrace {

inline constexpr std::int64_t mebibyte = std::int64_t{1} << 20;
inline constexpr std::int64_t no_memory_limit = std::numeric_limits<std::int64_t>::max();

struct AllocatorSettings {
  std::int64_t capacity_bytes = no_memory_limit;   ///< what the driver will hand out in all
  std::int64_t max_split_bytes = no_memory_limit;  ///< larger blocks are never split
  /// How much larger than a request beyond max_split_bytes its block may be.
  std::int64_t max_non_split_rounding_bytes = 20LL << 20;
  std::int64_t large_segment_bytes = 20LL << 20;  ///< segment for requests from 1 to 10 MiB
  /// Share of the capacity from which on unused segments are given back; 0: never.
  double garbage_collection_threshold = 0;
  bool expandable_segments = false;
  /// Per power of two from 1 MiB up: into how many steps it is divided; 0 or 1: round to 512 bytes.
  std::array<std::uint32_t, 16> roundup_power2_divisions{};
  friend bool operator==(const AllocatorSettings&, const AllocatorSettings&) = default;
};

/// "expandable_segments:True,max_split_size_mb:128,roundup_power2_divisions:[256:1,512:2,>:4]".
/// Settings that do not change where blocks lie (backend, release_lock_on_cudamalloc, ...) are
/// accepted. Errors name the key, what was got and what is expected.
[[nodiscard]] Result<AllocatorSettings> parse_allocator_settings(std::string_view text);

}  // namespace foretrace
