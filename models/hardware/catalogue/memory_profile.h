// What libraries and drivers take of a device's memory: read from configs/memories.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/core/result.h"

namespace foretrace {

/// Scratch space that a library takes for calls of these operators.
struct LibraryWorkspace {
  std::string library{};
  std::int64_t bytes = 0;
  std::vector<std::string> operators{};

  [[nodiscard]] bool serves(std::string_view operator_name) const;
};

struct MemoryProfile {
  std::string name;  ///< file stem; empty: nothing is known
  std::vector<std::string> accelerators;
  std::int64_t context_low_bytes = 0;  ///< taken by the driver, outside the allocator
  std::int64_t context_high_bytes = 0;
  std::vector<LibraryWorkspace> persistent;  ///< once per host thread and stream, from first use
  std::vector<LibraryWorkspace> per_call;    ///< taken and given back within every call
  std::vector<std::pair<std::string, std::string>> sources;

  /// Bytes per call of an operator; 0 if it takes none.
  [[nodiscard]] std::int64_t per_call_bytes(std::string_view operator_name) const;
};

/// Errors name file, JSON pointer, what was got and what is expected.
[[nodiscard]] Result<MemoryProfile> parse_memory_profile(std::string_view text,
                                                         const std::string& where);
[[nodiscard]] Result<MemoryProfile> read_memory_profile(const std::string& path);

}  // namespace foretrace
