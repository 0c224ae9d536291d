// What a run needs of a device's memory, what there is, and on which accelerators it has room.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/session/memory/reserved_range.h"

namespace foretrace {

/// What the allocator of the fullest device takes.
struct MemoryNeed {
  std::int32_t rank = 0;
  std::int32_t device = 0;
  std::int64_t live_bytes = 0;  ///< peak of allocated blocks
  ReservedRange reserved{};
  bool is_least = false;  ///< tensors follow from shapes: what those do not tell comes on top
  double coverage = 1;    ///< see memory_coverage()

  /// What a fresh process reserves, or less where the recorded one did with less. What a process
  /// caches beyond is given back before it runs out of memory.
  [[nodiscard]] std::int64_t reserved_bytes() const;
};

/// Memory that a run has to fit in.
struct MemoryTarget {
  std::string name{};  ///< of an accelerator; empty: a size
  std::int64_t capacity_bytes = 0;
  std::int64_t context_low_bytes = 0;  ///< of it taken by the driver, outside the allocator
  std::int64_t context_high_bytes = 0;
  std::int64_t held_bytes = 0;  ///< reserved by the recorded run if this is its device: it had room

  /// Compared with the capacity: reserved bytes and the largest context.
  [[nodiscard]] std::int64_t needed_bytes(const MemoryNeed& need) const {
    return need.reserved_bytes() + context_high_bytes;
  }
  /// Live blocks and the smallest context: nothing takes less.
  [[nodiscard]] std::int64_t low_bytes(const MemoryNeed& need) const {
    return need.live_bytes + context_low_bytes;
  }
  /// With all that the recorded process had cached without a cause in the trace.
  [[nodiscard]] std::int64_t high_bytes(const MemoryNeed& need) const {
    return need.reserved.high_bytes + context_high_bytes;
  }
  /// The most that needed_bytes() may be.
  [[nodiscard]] std::int64_t most_bytes() const {
    return std::max(capacity_bytes, held_bytes + context_high_bytes);
  }
  [[nodiscard]] bool fits(const MemoryNeed& need) const {
    return needed_bytes(need) <= most_bytes();
  }
  /// With its whole range, and nothing unknown on top.
  [[nodiscard]] bool surely_fits(const MemoryNeed& need) const {
    return high_bytes(need) <= capacity_bytes && !need.is_least;
  }
};

/// The memory of an accelerator, less a usual context where it has no memory profile.
[[nodiscard]] MemoryTarget target_of(const Accelerator& accelerator);
/// So much memory of an accelerator, or of one that is not known.
[[nodiscard]] MemoryTarget target_of_size(std::int64_t bytes,
                                          const std::optional<Accelerator>& accelerator);

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

/// Every accelerator of the catalogue of the inputs, by capacity: the allocator is run with what
/// the device leaves to it. Workspaces of libraries are those of the recording.
[[nodiscard]] std::vector<MemoryFit> memory_fits(const MemoryInputs& inputs,
                                                 const MemoryCurve& curve,
                                                 const ReservedRange& reserved);

}  // namespace foretrace
