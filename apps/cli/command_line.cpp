#include "apps/cli/command_line.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "apps/cli/arguments/defaults.h"
#include "apps/cli/arguments/help.h"
#include "apps/cli/output/answers.h"
#include "apps/cli/output/console.h"

namespace foretrace::app {
namespace {

/// What a command line that cannot be understood ends with: the command may have its own code.
int bad_usage_code(const CLI::App& root, std::span<const CommandInfo* const> commands) {
  const auto chosen = root.get_subcommands();
  for (const CommandInfo* const command : commands) {
    if (!chosen.empty() && chosen.front()->get_name() == command->name) {
      return command->bad_usage_code;
    }
  }
  return exit_bad_input;
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

  std::map<const CLI::App*, std::function<int()>> actions;
  std::deque<Arguments> arguments;  // actions may refer to theirs
  for (const CommandInfo* const command : program.commands) {
    CLI::App* const sub =
        root.add_subcommand(std::string(command->name), std::string(command->summary));
    sub->group(std::string(groups[static_cast<std::size_t>(command->group)].title));
    sub->allow_extras();
    sub->get_help_ptr()->description("print this page and exit");
    actions[sub] = command->setup(arguments.emplace_back(*sub));
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
    static_cast<void>(failure(usage_error(root, error)));
    return bad_usage_code(root, program.commands);
  }
  if (const Status status = check_leftovers(root); !status.ok()) {
    static_cast<void>(failure(status.error()));
    return bad_usage_code(root, program.commands);
  }
  const auto chosen = root.get_subcommands();
  if (chosen.empty()) {
    return answer(help_page(root, text_style()));
  }
  if (!no_config) {
    if (const Status status = apply_defaults(root, *chosen.front(), defaults_path());
        !status.ok()) {
      static_cast<void>(failure(status.error()));
      return bad_usage_code(root, program.commands);
    }
  }
  return actions.at(chosen.front())();
}

}  // namespace foretrace::app
