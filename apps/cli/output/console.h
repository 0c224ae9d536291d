// How a command talks to its user: answers on stdout, everything else on stderr.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "apps/cli/arguments/command.h"
#include "apps/cli/output/outputs.h"
#include "sim/core/result.h"

namespace foretrace::app {

/// Options that every command has.
struct CommonOptions {
  bool json = false;
  bool quiet = false;
  bool details = false;
  bool csv = false;
  std::string table;  ///< of --csv; empty: the main one
  std::string log_level = "warning";
};

/// Keeps files that are opened later off the numbers of stdin, stdout and stderr, where these are
/// closed: writing there still fails. Call first in the program.
void hold_standard_streams();

/// Sets up logging on stderr; call first in every command.
void start_logging(const CommonOptions& options);

/// Writes the whole answer to stdout and returns `code`; if that fails says so and returns
/// exit_bad_input.
[[nodiscard]] int answer(std::string_view text, ExitCode code = exit_done);
/// A warning about what an answer rests on: told right before it. An error stands alone.
void warn_with_answer(std::string warning);
/// One line on stderr, "foretrace: ...", of at most 4 KB, printable whatever it holds. It is lost
/// where stderr cannot be written: that changes no exit code.
void tell(std::string_view message) noexcept;
/// Tells the error; the exit code that belongs to it.
[[nodiscard]] int failure(const Error& error);

/// What a long load shows: a bar on stderr once it took half a second; empty function if stderr is
/// no terminal or the user wants quiet.
[[nodiscard]] std::function<void(std::uint64_t, std::uint64_t)> progress_bar(
    const CommonOptions& options, std::string title);
/// A line on stderr in place of the one before.
void show_progress(std::string_view line);
/// Removes the bar or the line.
void clear_progress();

}  // namespace foretrace::app
