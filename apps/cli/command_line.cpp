#include "apps/cli/command_line.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "apps/cli/arguments/defaults.h"
#include "apps/cli/arguments/help.h"
#include "apps/cli/output/answers.h"
#include "apps/cli/output/console.h"

namespace foretrace::app {
namespace {

/// Tells the error; the command may have a code of its own for it.
int failed(const Error& error, const CommandInfo* command) {
  const int code = failure(error);
  return command != nullptr && code == exit_bad_input ? command->bad_input_code : code;
}

}  // namespace

int run_command_line(int argc, char** argv, const Program& program) {
  CLI::App root(
      "Predicts what a change or another accelerator would do to a deep learning run, from a trace "
      "of it.",
      "foretrace");
  use_help_page(root);
  root.allow_extras();
  root.require_subcommand(0, 1);
  root.set_version_flag("--version", "foretrace " + std::string(program.version),
                        "print the version and exit");
  root.get_help_ptr()->description("print this page and exit");
  bool ignored = false;  // taken out of the words before they are parsed
  root.add_flag("--no-config", ignored,
                "with any command: ignore the defaults in $XDG_CONFIG_HOME/foretrace/config.json");
  constexpr Example examples[] = {
      {"foretrace whatif trace.json.gz", "what would help most"},
      {"foretrace simulate trace.json.gz",
       "replays a trace: how close the simulation is, and where the time goes"},
      {"foretrace serve --docs", "tutorial, recipes and studies, in a browser"}};
  add_examples(root, examples);

  struct Command {
    const CommandInfo* info = nullptr;
    std::function<Exit()> run;
  };
  std::map<const CLI::App*, Command> commands;
  std::deque<Arguments> arguments;  // actions may refer to theirs
  for (const CommandInfo* const command : program.commands) {
    CLI::App* const sub =
        root.add_subcommand(std::string(command->name), std::string(command->summary));
    sub->group(std::string(groups[static_cast<std::size_t>(command->group)].title));
    sub->allow_extras();
    sub->get_help_ptr()->description("print this page and exit");
    commands[sub] = {command, command->setup(arguments.emplace_back(*sub))};
  }
  std::vector<std::string> words(argv + 1, argv + std::max(argc, 1));
  const bool no_config = take_no_config(words);
  std::reverse(words.begin(), words.end());  // CLI11 takes them from the back
  try {
    root.parse(std::move(words));
  } catch (const CLI::CallForHelp&) {
    const auto parsed = root.get_subcommands();
    return answer(help_page(parsed.empty() ? root : *parsed.front(), text_style()));
  } catch (const CLI::CallForVersion& version) {
    return answer(std::string(version.what()) + "\n");
  } catch (const CLI::ParseError& error) {
    const auto parsed = root.get_subcommands();
    return failed(usage_error(root, error),
                  parsed.empty() ? nullptr : commands.at(parsed.front()).info);
  }
  const auto chosen = root.get_subcommands();
  const Command command = chosen.empty() ? Command{} : commands.at(chosen.front());
  if (const Status status = check_leftovers(root); !status.ok()) {
    return failed(status.error(), command.info);
  }
  if (chosen.empty()) return answer(help_page(root, text_style()));
  if (!no_config) {
    if (const Status status = apply_defaults(root, *chosen.front(), defaults_path());
        !status.ok()) {
      return failed(status.error(), command.info);
    }
  }
  if (const Status status = check_formats(*chosen.front()); !status.ok()) {
    return failed(status.error(), command.info);
  }
  const Exit ended = command.run();
  return ended.ok() ? *ended : failed(ended.error(), command.info);
}

}  // namespace foretrace::app
