// Options that a user has settled once and for all: $XDG_CONFIG_HOME/foretrace/config.json.
#pragma once

#include <string>
#include <vector>

#include "sim/core/result.h"

namespace CLI {
class App;
}

namespace foretrace::app {

/// Where the file is looked for; empty if neither XDG_CONFIG_HOME nor HOME is set.
[[nodiscard]] std::string defaults_path();

/// Takes --no-config out of the arguments, up to a "--"; true if it was there.
[[nodiscard]] bool take_no_config(std::vector<std::string>& arguments);

/// Gives the options of a parsed command that the command line left out the values of the file: of
/// "commands" for this command, else of "defaults". No file is no error; errors name the file, the
/// JSON pointer and the nearest valid key.
[[nodiscard]] Status apply_defaults(const CLI::App& root, CLI::App& command,
                                    const std::string& path);

/// Of two formats of output one would be left out without a word. --csv may name its --table.
[[nodiscard]] Status check_formats(const CLI::App& command);

}  // namespace foretrace::app
