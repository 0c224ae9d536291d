// Help pages and messages about the command line itself.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/cli/arguments/arguments.h"
#include "apps/report/text.h"
#include "sim/core/result.h"

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace foretrace::app {

/// Layout of every --help page: usage, what it does, options, examples.
[[nodiscard]] std::string help_page(const CLI::App& app, const report::TextStyle& style);
/// The page of the command that is called so; the error names the nearest one.
[[nodiscard]] Result<std::string> help_page_of(const CLI::App& root, std::string_view command,
                                               const report::TextStyle& style);
/// What the option of that name (without dashes) does, and in which commands; empty if none has it.
[[nodiscard]] std::string option_page(const CLI::App& root, std::string_view name,
                                      const report::TextStyle& style);
/// "foretrace simulate [options] TRACE...".
[[nodiscard]] std::string usage_of(const CLI::App& app);
/// Options that a page shows, the arguments without a name or the others.
[[nodiscard]] std::vector<const CLI::Option*> shown_options(const CLI::App& app, bool positional);
/// "-a, --apply WHATIF".
[[nodiscard]] std::string option_name(const CLI::Option& option);
/// Makes help_page the layout of this app and its later subcommands.
void use_help_page(CLI::App& app);

void add_examples(CLI::App& app, std::span<const Example> examples);

/// What a parse error means to the user, in one line with the nearest valid name.
[[nodiscard]] Error usage_error(const CLI::App& root, const CLI::ParseError& error);
/// The first argument that no command or option took, as an error; ok if there is none.
[[nodiscard]] Status check_leftovers(const CLI::App& root);

}  // namespace foretrace::app
