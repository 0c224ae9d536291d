// Runs a program with this one's input, output and signals.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sim/core/result.h"

namespace foretrace::app {

/// How a program ended.
struct ProgramEnd {
  int code = 0;    ///< its exit code, if no signal ended it
  int signal = 0;  ///< 0: none
};

/// Makes a write to a closed pipe and one beyond the limit for files fail instead of ending this
/// program. Programs that it runs get what this one was started with.
void ignore_write_signals();

/// Runs `command` (looked up in PATH) with `variables` added to the environment and waits for it.
/// Signals sent to this program go to that one instead; those of the terminal's keys reach it by
/// themselves. Errors: it cannot be started.
[[nodiscard]] Result<ProgramEnd> run_program(
    const std::vector<std::string>& command,
    const std::vector<std::pair<std::string, std::string>>& variables);

/// Ends this program as that one ended: by the same signal, or returns the same code.
[[nodiscard]] int end_like(const ProgramEnd& end);

}  // namespace foretrace::app
