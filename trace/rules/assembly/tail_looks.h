// Where in program order somebody waits for the tail of a stream.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/rules/assembly/assembly.h"

namespace foretrace::trace::rules {

class TailLooks {
 public:
  explicit TailLooks(const Assembly& assembly);

  /// True if a wait at a position in (from, to] is for the tail of the stream.
  [[nodiscard]] bool any(std::uint32_t stream, std::uint32_t from, std::uint32_t to) const;

 private:
  std::vector<std::vector<std::uint32_t>> by_stream_;  // sorted
  std::vector<std::uint32_t> of_all_;                  // sorted: waits for every stream
};

}  // namespace foretrace::trace::rules
