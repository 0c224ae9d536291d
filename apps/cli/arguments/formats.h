// Options that say in which format an answer is printed.
#pragma once

#include <string_view>

#include "sim/core/result.h"

namespace CLI {
class App;
}

namespace foretrace::app {

/// True of "json", without the dashes.
[[nodiscard]] bool is_format(std::string_view option);

/// True if the command was given one.
[[nodiscard]] bool has_format(const CLI::App& command);

/// Of two formats one would be left out without a word. --csv may name its --table.
[[nodiscard]] Status check_formats(const CLI::App& command);

}  // namespace foretrace::app
