// foretrace help: the pages of --help, and the manual page.
#include "apps/cli/arguments/help.h"

#include <memory>
#include <string>

#include "apps/cli/arguments/command.h"
#include "apps/cli/arguments/man_page.h"
#include "apps/cli/output/answers.h"
#include "apps/cli/output/console.h"

namespace foretrace::commands::help_parts {
namespace {

struct Options {
  std::string command;
  bool man = false;
};

app::Exit run(const CLI::App& root, const Options& options) {
  if (options.man) return app::answer(app::man_page(root, FORETRACE_VERSION));
  if (options.command.empty()) return app::answer(app::help_page(root, app::text_style()));
  const Result<std::string> page = app::help_page_of(root, options.command, app::text_style());
  FORETRACE_TRY(page);
  return app::answer(*page);
}

std::function<app::Exit()> setup(app::Arguments& cli) {
  const auto options = std::make_shared<Options>();
  cli.add_option("COMMAND", options->command, "the command to explain; all of them if left out");
  cli.add_flag("--man", options->man, "print the manual page of the whole program");
  cli.add_examples({{"foretrace help simulate", "what foretrace simulate --help prints"},
                    {"foretrace help --man | man -l -", "the manual page"}});
  return [options, &cli] { return run(cli.program(), *options); };
}

}  // namespace

extern constexpr CommandInfo info = {"help", app::Group::names,
                                     "show how a command is used, or the manual page", setup};

}  // namespace foretrace::commands::help_parts
