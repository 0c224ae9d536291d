// Completion scripts for bash, zsh and fish, made from the commands and components that there are.
#pragma once

#include <cstdint>
#include <string>

namespace CLI {
class App;
}

namespace foretrace::app {

enum class Shell : std::uint8_t { bash, zsh, fish };

/// A script to be sourced; it completes commands, options, names of what-ifs and their parameters.
[[nodiscard]] std::string completion_script(const CLI::App& root, Shell shell);

}  // namespace foretrace::app
