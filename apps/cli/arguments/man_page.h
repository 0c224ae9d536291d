// The manual page, made from the commands that there are.
#pragma once

#include <string>
#include <string_view>

namespace CLI {
class App;
}

namespace foretrace::app {

/// foretrace(1) in the man macros.
[[nodiscard]] std::string man_page(const CLI::App& root, std::string_view version);

}  // namespace foretrace::app
