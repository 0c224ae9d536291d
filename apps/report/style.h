// Bold and colour for a terminal that wants them (NO_COLOR and TERM=dumb do not).
#pragma once

#include <string>
#include <string_view>

namespace foretrace::app {

/// Bold where stdout is a terminal that wants colours, plain elsewhere.
[[nodiscard]] std::string strong(std::string_view text);
/// Red or yellow for what deserves a second look; plain where strong() is.
[[nodiscard]] std::string warning_colour(std::string_view text);

}  // namespace foretrace::app
