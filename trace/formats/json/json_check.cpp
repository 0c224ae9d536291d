#include "trace/formats/json/json_check.h"

#include <cstddef>

#include "sim/core/text.h"
#include "trace/formats/json/scan.h"
#include "trace/io/text.h"

namespace foretrace::trace::formats {
namespace {

constexpr int deepest = 64;

bool is_hex(char c) {
  const auto folded = static_cast<char>(c | 0x20);
  return is_digit(c) || (folded >= 'a' && folded <= 'f');
}

class Check {
 public:
  explicit Check(std::string_view text) : text_(text) {}

  bool document() {
    blanks();
    if (!value(0)) return false;
    blanks();
    return at_ == text_.size() && (!beyond_ascii_ || is_valid_utf8(text_));
  }

 private:
  [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool take(char c) {
    const bool found = peek() == c;
    at_ += found ? 1 : 0;
    return found;
  }
  void blanks() {
    while (is_blank(peek())) {
      ++at_;
    }
  }

  bool value(int depth) {
    switch (peek()) {
      case '"': return string();
      case '{': return depth < deepest && members(depth);
      case '[': return depth < deepest && elements(depth);
      case 't': return literal("true");
      case 'f': return literal("false");
      case 'n': return literal("null");
      default: return number();
    }
  }

  bool elements(int depth) {
    ++at_;
    blanks();
    if (take(']')) return true;
    while (value(depth + 1)) {
      blanks();
      if (take(']')) return true;
      if (!take(',')) return false;
      blanks();
    }
    return false;
  }

  bool members(int depth) {
    ++at_;
    blanks();
    if (take('}')) return true;
    while (peek() == '"' && string()) {
      blanks();
      if (!take(':')) return false;
      blanks();
      if (!value(depth + 1)) return false;
      blanks();
      if (take('}')) return true;
      if (!take(',')) return false;
      blanks();
    }
    return false;
  }

  bool string() {
    for (++at_; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '"') {
        ++at_;
        return true;
      }
      const auto byte = static_cast<unsigned char>(c);
      beyond_ascii_ = beyond_ascii_ || byte >= 0x80;
      if (byte < 0x20 || (c == '\\' && !escape())) return false;
    }
    return false;
  }

  // At the backslash; leaves `at_` on the last byte of the escape.
  bool escape() {
    ++at_;
    const char c = peek();
    if (c != 'u') {
      return std::string_view("\"\\/bfnrt").find(c) != std::string_view::npos && c != '\0';
    }
    for (int i = 0; i < 4; ++i) {
      ++at_;
      if (!is_hex(peek())) return false;
    }
    return true;
  }

  bool literal(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  bool digits() {
    const std::size_t start = at_;
    while (is_digit(peek())) {
      ++at_;
    }
    return at_ != start;
  }

  bool number() {
    take('-');
    if (!take('0') && !digits()) return false;
    if (take('.') && !digits()) return false;
    if (take('e') || take('E')) {
      if (!take('+')) {
        take('-');
      }
      return digits();
    }
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool beyond_ascii_ = false;
};

}  // namespace

bool is_valid_json(std::string_view text) { return Check(text).document(); }

std::string with_plain_blanks(std::string_view json) {
  std::string out;
  out.reserve(json.size() + json.size() / 8);
  bool in_string = false;
  bool escaped = false;
  for (const char c : json) {
    if (in_string) {
      out += c;
      in_string = escaped || c != '"';
      escaped = !escaped && c == '\\';
      continue;
    }
    if (is_blank(c)) continue;
    out += c;
    in_string = c == '"';
    if (c == ',' || c == ':') {
      out += ' ';
    }
  }
  return out;
}

}  // namespace foretrace::trace::formats
