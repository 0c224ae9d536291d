#include "trace/io/text.h"

#include <cstdint>
#include <iterator>
#include <optional>

#include <simdjson.h>

#include "sim/core/hidden_text.h"

namespace foretrace::trace {
namespace {

void append_code_point(std::string& out, std::uint32_t code) {
  const auto byte = [&](std::uint32_t value) { out += static_cast<char>(value); };
  if (code < 0x80) {
    byte(code);
  } else if (code < 0x800) {
    byte(0xC0U | (code >> 6U));
    byte(0x80U | (code & 0x3FU));
  } else if (code < 0x10000) {
    byte(0xE0U | (code >> 12U));
    byte(0x80U | ((code >> 6U) & 0x3FU));
    byte(0x80U | (code & 0x3FU));
  } else {
    byte(0xF0U | (code >> 18U));
    byte(0x80U | ((code >> 12U) & 0x3FU));
    byte(0x80U | ((code >> 6U) & 0x3FU));
    byte(0x80U | (code & 0x3FU));
  }
}

// The four hex digits of "\uXXXX" that starts at `at`.
std::optional<std::uint32_t> unicode_escape(std::string_view raw, std::size_t at) {
  if (at + 6 > raw.size() || raw[at] != '\\' || raw[at + 1] != 'u') return std::nullopt;
  std::uint32_t code = 0;
  for (std::size_t i = at + 2; i < at + 6; ++i) {
    const char c = raw[i];
    const char folded = static_cast<char>(c | 0x20);
    if (c >= '0' && c <= '9') {
      code = code * 16 + static_cast<std::uint32_t>(c - '0');
    } else if (folded >= 'a' && folded <= 'f') {
      code = code * 16 + static_cast<std::uint32_t>(folded - 'a' + 10);
    } else {
      return std::nullopt;
    }
  }
  return code;
}

// Appends what "\uXXXX" (or a pair of them) means; returns how many bytes that were.
std::size_t append_unicode(std::string& out, std::string_view raw, std::size_t at) {
  const auto first = unicode_escape(raw, at);
  if (!first) {
    out += "\\u";
    return 2;
  }
  if (*first >= 0xD800 && *first <= 0xDBFF) {
    const auto second = unicode_escape(raw, at + 6);
    if (second && *second >= 0xDC00 && *second <= 0xDFFF) {
      append_code_point(out, 0x10000 + ((*first - 0xD800) << 10U) + (*second - 0xDC00));
      return 12;
    }
  }
  if (*first >= 0xD800 && *first <= 0xDFFF) {
    out += utf8_replacement;
  } else {
    append_code_point(out, *first);
  }
  return 6;
}

char simple_escape(char c) {
  switch (c) {
    case 'b': return '\b';
    case 'f': return '\f';
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    case '"':
    case '\\':
    case '/': return c;
    default: return '\0';
  }
}

}  // namespace

bool is_valid_utf8(std::string_view text) {
  return simdjson::validate_utf8(text.data(), text.size());
}

std::string unescaped(std::string_view raw) {
  std::string out;
  out.reserve(raw.size());
  std::size_t at = 0;
  while (at < raw.size()) {
    if (raw[at] != '\\' || at + 1 == raw.size()) {
      out += raw[at++];
      continue;
    }
    const char c = raw[at + 1];
    if (c == 'u') {
      at += append_unicode(out, raw, at);
      continue;
    }
    const char meaning = simple_escape(c);
    if (meaning == '\0') {
      out += '\\';
    }
    out += meaning == '\0' ? c : meaning;
    at += 2;
  }
  return out;
}

std::string shortened(std::string_view text, std::size_t limit) {
  // Runs of white space become one space, so that four times the limit is enough to look at.
  std::string line;
  const std::string_view start = text.substr(0, limit * 4);
  for (std::size_t i = 0; i < start.size(); ++i) {
    const char c = start[i];
    const std::size_t control = hidden_length(start.substr(i));
    const bool blank = static_cast<unsigned char>(c) <= 0x20 || control > 0;
    i += control > 0 ? control - 1 : 0;
    if (blank && (line.empty() || line.back() == ' ')) continue;
    line += blank ? ' ' : c;
  }
  line = with_valid_utf8(line);
  const bool whole = text.size() <= limit * 4 && line.size() <= limit;
  if (whole) return line;
  std::size_t cut = std::min(line.size(), limit > 3 ? limit - 3 : 0);
  while (cut > 0 && cut < line.size() && is_utf8_continuation(line[cut])) {
    --cut;
  }
  return line.substr(0, cut) + "...";
}

}  // namespace foretrace::trace
