// foretrace completion: a script that teaches the shell our names.
#include "apps/cli/names/completion.h"

#include <array>
#include <memory>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "apps/cli/arguments/command.h"
#include "apps/cli/arguments/help.h"
#include "apps/cli/options.h"
#include "apps/cli/output/console.h"

namespace foretrace::commands::completion_parts {
namespace {

struct Options {
  app::CommonOptions common;
  std::string shell;
};

app::Exit run(const CLI::App& root, const Options& options) {
  const app::Shell shell = options.shell == "zsh"    ? app::Shell::zsh
                           : options.shell == "fish" ? app::Shell::fish
                                                     : app::Shell::bash;
  const std::string script = app::completion_script(root, shell);
  if (options.common.json) {
    const nlohmann::ordered_json document = {{"shell", options.shell}, {"script", script}};
    return app::answer(document.dump(2) + "\n");
  }
  return app::answer(script);
}

std::function<app::Exit()> setup(app::Arguments& cli) {
  const auto options = std::make_shared<Options>();
  constexpr std::array<std::string_view, 3> shells = {"bash", "zsh", "fish"};
  cli.add_option("SHELL", options->shell, "bash, zsh or fish").required().one_of(shells);
  app::add_common(cli, options->common);
  cli.add_examples({{"source <(foretrace completion bash)",
                     "completes commands, options and what-ifs in this shell"},
                    {"foretrace completion fish > ~/.config/fish/completions/foretrace.fish",
                     "the same in every future fish shell"}});
  return [options, &cli] { return run(cli.program(), *options); };
}

}  // namespace

extern constexpr CommandInfo info = {"completion", app::Group::names,
                                     "print a script that completes names in bash, zsh or fish",
                                     setup};

}  // namespace foretrace::commands::completion_parts
