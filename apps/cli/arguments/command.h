// What a file in apps/cli/commands/ exports: one subcommand of the foretrace program.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "apps/cli/arguments/arguments.h"
#include "sim/core/result.h"

namespace foretrace::app {

/// Exit codes of the program.
enum ExitCode : int {
  exit_done = 0,
  exit_answer_is_no = 1,
  exit_bad_input = 2,
  exit_internal = 3,
  exit_collect_failed = 125  ///< of `collect` itself: every other code is that of its program
};
/// What a command ends with: its exit code, or what went wrong, which the program tells.
using Exit = Result<int>;

/// What commands are for, in the order of the top help.
enum class Group : std::uint8_t { ask, look, plan, record, judge, names };
struct GroupInfo {
  std::string_view title;
  std::string_view first;  ///< the command to begin with; the others follow by name
};
inline constexpr std::array<GroupInfo, 6> groups = {
    {{"ask what a change would do", "whatif"},
     {"look at a run", "inspect"},
     {"plan what was never run", "plan"},
     {"record, convert and export", "collect"},
     {"see how right it is, and make it right", "validate"},
     {"look up names and words", "list"}}};

struct CommandInfo {
  std::string_view name;
  Group group;
  std::string_view summary;  ///< one line of the top help
  /// Adds options to the subcommand and returns what runs when it was chosen.
  std::function<Exit()> (*setup)(Arguments& arguments);
  int bad_input_code = exit_bad_input;  ///< where it fails, or its line cannot be understood
};

}  // namespace foretrace::app

namespace foretrace::commands {
using foretrace::app::CommandInfo;
/// Every subcommand, sorted by name (generated from the files of apps/cli/commands).
[[nodiscard]] std::span<const CommandInfo* const> all();
}  // namespace foretrace::commands
