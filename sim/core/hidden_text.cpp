#include "sim/core/hidden_text.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>

#include <fmt/format.h>

#include "sim/core/utf8.h"

namespace foretrace {
namespace {

struct CodeRange {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
};

// Unicode 15: Cc beyond ASCII, Cf but for signs that are seen, and the separators of lines.
constexpr std::array<CodeRange, 12> hidden = {{{0x7F, 0x9F},
                                               {0xAD, 0xAD},
                                               {0x61C, 0x61C},
                                               {0x180E, 0x180E},
                                               {0x200B, 0x200F},
                                               {0x2028, 0x202E},
                                               {0x2060, 0x2064},
                                               {0x2066, 0x206F},
                                               {0xFEFF, 0xFEFF},
                                               {0xFFF9, 0xFFFB},
                                               {0x1D173, 0x1D17A},
                                               {0xE0000, 0xE0FFF}}};

// Most text is ASCII.
bool may_begin_hidden(char c) { return static_cast<unsigned char>(c) >= 0xC2 || c == 0x7F; }

void append_escape(std::string& out, std::uint32_t code) {
  auto at = std::back_inserter(out);
  if (code < 0x10000) {
    fmt::format_to(at, "\\u{:04x}", code);
    return;
  }
  const std::uint32_t rest = code - 0x10000;
  fmt::format_to(at, "\\u{:04x}\\u{:04x}", 0xD800 + (rest >> 10U), 0xDC00 + (rest & 0x3FFU));
}

}  // namespace

std::size_t hidden_length(std::string_view at) {
  if (at.empty() || !may_begin_hidden(at.front())) return 0;
  const CodePoint first = first_code_point(at);
  const bool is_hidden = std::any_of(hidden.begin(), hidden.end(), [&](const CodeRange& range) {
    return first.code >= range.first && first.code <= range.last;
  });
  return is_hidden ? first.bytes : 0;
}

std::string with_hidden_escaped(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  while (!json.empty()) {
    const auto* const candidate = std::find_if(json.begin(), json.end(), may_begin_hidden);
    out.append(json.begin(), candidate);
    json.remove_prefix(static_cast<std::size_t>(candidate - json.begin()));
    if (json.empty()) break;
    const std::size_t length = hidden_length(json);
    if (length > 0) {
      append_escape(out, first_code_point(json).code);
    } else {
      out += json.front();
    }
    json.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

}  // namespace foretrace
