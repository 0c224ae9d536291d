// On which accelerators a run would have room.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "apps/session/memory/reserved_range.h"

namespace foretrace {

/// Memory that the driver takes of a device, outside the allocator.
struct ContextBytes {
  std::int64_t low = 0;
  std::int64_t high = 0;
};
/// By its memory profile; a usual context where it has none.
[[nodiscard]] ContextBytes context_bytes_of(const Accelerator& accelerator);
/// A usual one: nothing is known of the accelerator.
[[nodiscard]] ContextBytes usual_context_bytes();

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
