#include "sim/core/utf8.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "sim/core/hidden_text.h"

namespace foretrace {

CodePoint first_code_point(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (text.empty()) return {};
  const std::uint32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return {};
  std::uint32_t code = lead & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if (!is_utf8_continuation(text[i])) return {};
    code = (code << 6U) | (byte(i) & 0x3FU);
  }
  const bool is_overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  const bool is_surrogate = code >= 0xD800 && code <= 0xDFFF;
  return is_overlong || is_surrogate || code > 0x10FFFF ? CodePoint{} : CodePoint{code, length};
}

std::size_t utf8_characters(std::string_view text) {
  return text.size() -
         static_cast<std::size_t>(std::count_if(text.begin(), text.end(), is_utf8_continuation));
}

std::string with_valid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = first_code_point(text).bytes;
    out += length == 0 ? utf8_replacement : text.substr(0, length);
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

std::string on_one_line(std::string_view text) {
  std::string line;
  line.reserve(text.size());
  while (!text.empty()) {
    const CodePoint first = first_code_point(text);
    if (first.bytes == 0 || first.code < 0x20 || first.code == 0x7f) {
      fmt::format_to(std::back_inserter(line), "\\x{:02x}",
                     static_cast<unsigned char>(text.front()));
    } else {
      line += text.substr(0, first.bytes);
    }
    text.remove_prefix(std::max<std::size_t>(first.bytes, 1));
  }
  return line;
}

std::string json_escaped(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return with_hidden_escaped(out);
}

std::string json_string(std::string_view text) {
  return '"' + json_escaped(with_valid_utf8(text)) + '"';
}

}  // namespace foretrace
