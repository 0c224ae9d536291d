// How a command talks to its user: answers on stdout, everything else on stderr.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "apps/cli/command.h"
#include "sim/core/result.h"

namespace foretrace::app {

/// Options that every command has.
struct CommonOptions {
  bool json = false;
  bool quiet = false;
  std::string log_level = "warning";
};

/// Sets up logging on stderr; call first in every command.
void start_logging(const CommonOptions& options);

/// Writes the whole answer to stdout and returns `code`; if that fails says so and returns
/// exit_bad_input.
[[nodiscard]] int answer(std::string_view text, ExitCode code = exit_done);
/// One line on stderr; the exit code that belongs to the error.
[[nodiscard]] int failure(const Error& error);

/// A file that is complete or said to be broken: "cannot write 'x': No space left on device".
[[nodiscard]] Status write_file(
    const std::string& path,
    const std::function<Status(const std::function<bool(std::string_view)>& sink)>& fill);

/// What a long load shows: a bar on stderr once it took half a second; empty function if stderr is
/// no terminal or the user wants quiet.
[[nodiscard]] std::function<void(std::uint64_t, std::uint64_t)> progress_bar(
    const CommonOptions& options, std::string title);
/// Removes the bar.
void clear_progress();

}  // namespace foretrace::app
