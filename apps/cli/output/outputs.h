// Files that commands write: refused before the work where they cannot be, or must not be, written.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/result.h"

namespace foretrace::app {

/// Takes pieces of a file until it returns an error or false once nothing more can be kept.
using FillFile = std::function<Status(const std::function<bool(std::string_view)>& sink)>;

/// Writes a file that is there as a whole or not at all: the old one stays until the new one is
/// complete. "cannot write 'x': No space left on device".
[[nodiscard]] Status write_file(const std::string& path, const FillFile& fill);
[[nodiscard]] Status write_file(const std::string& path, std::string_view text);

/// Ask before the work. Errors: the output cannot be written, or is one of the inputs, by whatever
/// name: a link, a file in a folder that is read, a recording of a list that is read, what a
/// document that is read names, the file on standard input ("-"), the options that the user has
/// settled. An empty output is none.
[[nodiscard]] Status check_output(const std::string& output, std::span<const std::string> inputs);

/// The same of several outputs, which may not be one file either.
[[nodiscard]] Status check_outputs(std::span<const std::string> outputs,
                                   std::span<const std::string> inputs);

/// Refuses an output that is the same file as this input, by whatever name.
[[nodiscard]] Status check_not_read(const std::string& output, const std::string& input);

/// The files among what-ifs: "@gains.json" reads gains.json.
[[nodiscard]] std::vector<std::string> files_of_what_ifs(std::span<const std::string> what_ifs);

}  // namespace foretrace::app
