// From the words of a command line to the command that runs.
#pragma once

#include <span>
#include <string_view>

#include "apps/cli/arguments/command.h"

namespace foretrace::app {

struct Program {
  std::string_view version;
  std::span<const CommandInfo* const> commands;
};
/// Parses the command line and runs the chosen command, or prints the help or the version asked
/// for. Gives the code that the program ends with; what is wrong is logged.
[[nodiscard]] int run_command_line(int argc, char** argv, const Program& program);

}  // namespace foretrace::app
