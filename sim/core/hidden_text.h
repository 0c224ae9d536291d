// Characters that a reader does not see and that change what is seen: names come from files that
// anybody may have made.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace foretrace {

/// Bytes of the hidden character that the text starts with; 0 if it starts with another one. Hidden
/// are DEL and the control characters beyond ASCII (U+009B begins an escape sequence), what turns
/// the direction of text or begins a line, and what takes no room: zero-width spaces and joiners,
/// soft hyphens, byte order marks, tags. Control characters below 0x20 are not: callers know which
/// of them they mean.
[[nodiscard]] std::size_t hidden_length(std::string_view at);

/// A JSON document whose hidden characters are escapes, such as \u202e: it says the same.
[[nodiscard]] std::string with_hidden_escaped(std::string_view json);

}  // namespace foretrace
