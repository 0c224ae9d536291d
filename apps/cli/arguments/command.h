// What a file in apps/cli/commands/ exports: one subcommand of the foretrace program.
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "apps/cli/arguments/arguments.h"

namespace foretrace::app {

/// Exit codes of the program.
enum ExitCode : int {
  exit_done = 0,
  exit_answer_is_no = 1,
  exit_bad_input = 2,
  exit_internal = 3,
  exit_collect_failed = 125  ///< of `collect` itself: every other code is that of its program
};

struct CommandInfo {
  std::string_view name;
  std::string_view summary;  ///< one line of the top help
  /// Adds options to the subcommand and returns what runs when it was chosen.
  std::function<int()> (*setup)(Arguments& arguments);
  int bad_usage_code = exit_bad_input;  ///< where the command line cannot be understood
};

}  // namespace foretrace::app

namespace foretrace::commands {
using foretrace::app::CommandInfo;
/// Every subcommand, sorted by name (generated from the files of apps/cli/commands).
[[nodiscard]] std::span<const CommandInfo* const> all();
}  // namespace foretrace::commands
