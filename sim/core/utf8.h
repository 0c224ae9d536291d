// Characters of UTF-8, and text as JSON writes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace foretrace {

/// What stands for bytes that are no UTF-8: U+FFFD.
inline constexpr std::string_view utf8_replacement = "\xEF\xBF\xBD";

/// True for every byte of a character but the first.
[[nodiscard]] constexpr bool is_utf8_continuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

/// One code point and the bytes it takes; 0 bytes: the text begins with no UTF-8.
struct CodePoint {
  std::uint32_t code = 0;
  std::size_t bytes = 0;
};

/// What the text begins with (RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF).
[[nodiscard]] CodePoint first_code_point(std::string_view text);
/// Characters, as far as one code point is one.
[[nodiscard]] std::size_t utf8_characters(std::string_view text);
/// Every byte that is not part of UTF-8 becomes U+FFFD.
[[nodiscard]] std::string with_valid_utf8(std::string_view text);

/// For messages, which quote what files hold: control characters, and bytes that are no UTF-8,
/// become \\x0a and the like.
[[nodiscard]] std::string on_one_line(std::string_view text);

/// Text between the quotes of a JSON string: quotes, backslashes and control characters are
/// escapes, and so are hidden ones (hidden_text.h). Bytes that are no UTF-8 stay.
[[nodiscard]] std::string json_escaped(std::string_view text);
/// A JSON string with its quotes; bytes that are no UTF-8 become U+FFFD.
[[nodiscard]] std::string json_string(std::string_view text);

}  // namespace foretrace
