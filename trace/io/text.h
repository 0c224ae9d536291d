// Text of a trace: unescaping, invalid UTF-8, examples short enough for a message.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "sim/core/utf8.h"

namespace foretrace::trace {

[[nodiscard]] bool is_valid_utf8(std::string_view text);
/// The text between the quotes of a JSON string with its escapes resolved. Escapes that JSON does
/// not know stay as they are; half a surrogate pair becomes U+FFFD.
[[nodiscard]] std::string unescaped(std::string_view raw);
/// One printable line of at most `limit` bytes; "..." marks a cut.
[[nodiscard]] std::string shortened(std::string_view text, std::size_t limit = 160);

}  // namespace foretrace::trace
