// JSON text of a Chrome trace.
#include "sim/result/export/chrome_text.h"

#include <array>

#include "sim/core/hidden_text.h"

namespace foretrace {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";  // U+FFFD

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

/// Bytes of the UTF-8 sequence at the front; 0 if it is not one (RFC 3629: no overlong forms, no
/// surrogates, nothing above U+10FFFF).
std::size_t sequence_length(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const std::size_t length = first < 0xC2U ? 0 : first < 0xE0U ? 2 : first < 0xF0U ? 3 : 4;
  if (length == 0 || first > 0xF4U || text.size() < length) {
    return 0;
  }
  for (std::size_t i = 1; i < length; ++i) {
    if (!is_continuation(text[i])) {
      return 0;
    }
  }
  const auto second = static_cast<unsigned char>(text[1]);
  const bool wrong = (first == 0xE0U && second < 0xA0U) || (first == 0xEDU && second > 0x9FU) ||
                     (first == 0xF0U && second < 0x90U) || (first == 0xF4U && second > 0x8FU);
  return wrong ? 0 : length;
}

void append_ascii(std::string& out, char c) {
  constexpr std::array<std::string_view, 2> quoted = {"\\\"", "\\\\"};
  if (c == '"' || c == '\\') {
    out += quoted[c == '"' ? 0 : 1];
  } else if (static_cast<unsigned char>(c) < 0x20U) {
    out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
  } else {
    out += c;
  }
}

}  // namespace

std::string json_string(std::string_view text) {
  std::string out;
  out.reserve(text.size() + 2);
  out += '"';
  while (!text.empty()) {
    if (static_cast<unsigned char>(text[0]) < 0x80U) {
      append_ascii(out, text[0]);
      text.remove_prefix(1);
      continue;
    }
    const std::size_t length = sequence_length(text);
    out += length == 0 ? replacement : text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  out += '"';
  return with_hidden_escaped(out);
}

}  // namespace foretrace
