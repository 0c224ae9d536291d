// Tells XLA's JSON traces from other Chrome traces, for the readers of both.
#pragma once

#include <string_view>

#include "sim/core/text.h"

namespace foretrace::trace::formats {

/// True if the text starts with what only XLA writes before the events.
[[nodiscard]] inline bool is_xla_trace(std::string_view prefix) {
  constexpr std::size_t start = 256;
  const std::string_view head = prefix.substr(0, start);
  const std::size_t first = head.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && head[first] == '{' &&
         contains(head, "\"highres-ticks\"");
}

}  // namespace foretrace::trace::formats
