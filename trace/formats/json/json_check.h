// Whether a text is one valid JSON value: what is kept of a trace as JSON must stay JSON.
#pragma once

#include <string>
#include <string_view>

namespace foretrace::trace::formats {

/// True for one complete value of valid UTF-8, nested at most 64 deep.
[[nodiscard]] bool is_valid_json(std::string_view text);
/// The same value with one blank behind every comma and colon and no others, so that equal values
/// of different writers are equal texts.
[[nodiscard]] std::string with_plain_blanks(std::string_view json);

}  // namespace foretrace::trace::formats
