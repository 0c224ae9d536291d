// Whether a text is one valid JSON value: what is kept of a trace as JSON must stay JSON.
#pragma once

#include <string_view>

namespace foretrace::trace::detail {

/// True for one complete value of valid UTF-8, nested at most 64 deep.
[[nodiscard]] bool is_valid_json(std::string_view text);

}  // namespace foretrace::trace::detail
