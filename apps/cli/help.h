// Help pages and messages about the command line itself.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "apps/cli/arguments.h"
#include "sim/core/result.h"

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace foretrace::app {

/// Layout of every --help page: usage, what it does, options, examples.
[[nodiscard]] std::string help_page(const CLI::App& app);
/// Makes help_page the layout of this app and its later subcommands.
void use_help_page(CLI::App& app);

void add_examples(CLI::App& app, std::span<const Example> examples);

/// What a parse error means to the user, in one line with the nearest valid name.
[[nodiscard]] Error usage_error(const CLI::App& root, const CLI::ParseError& error);
/// The first argument that no command or option took, as an error; ok if there is none.
[[nodiscard]] Status check_leftovers(const CLI::App& root);

}  // namespace foretrace::app
