// What a link to another trace, or to a compiled program, adds to the arguments of a kernel: the
// operator that it is of.
#pragma once

#include <string>
#include <string_view>

#include "trace/table/events.h"

namespace foretrace::trace {

/// A descriptor's text with {"captured by": operator, "captured in": layer} in front.
[[nodiscard]] std::string with_captured(std::string_view text, std::string_view operator_name,
                                        std::string_view layer);
/// The operator that with_captured() put in front of a text; empty if there is none.
[[nodiscard]] std::string captured_operator(std::string_view text);
/// The phase of such a text ("forward", "backward", "update"); empty if it says none.
[[nodiscard]] std::string_view captured_phase(std::string_view text);

}  // namespace foretrace::trace
