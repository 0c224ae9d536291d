// The foretrace program: the table of its commands, one parse, one catch.
#include <algorithm>
#include <exception>
#include <filesystem>
#include <functional>
#include <map>
#include <new>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "apps/cli/answers.h"
#include "apps/cli/command.h"
#include "apps/cli/console.h"
#include "apps/cli/defaults.h"
#include "apps/cli/help.h"
#include "apps/cli/run_program.h"
#include "models/catalogue/accelerator.h"

namespace foretrace::app {
namespace {

/// Tells the models where configs lie: the environment, the installed share, the source tree.
void find_configs() {
  namespace fs = std::filesystem;
  // NOLINTNEXTLINE(concurrency-mt-unsafe): read once, before any thread
  if (const char* const given = std::getenv("FORETRACE_CONFIGS"); given != nullptr && *given != 0) {
    set_config_directory(given);
    return;
  }
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  const fs::path shared = program.parent_path().parent_path() / "share/foretrace/configs";
  set_config_directory(!error && fs::is_directory(shared, error) ? shared.string()
                                                                 : FORETRACE_SOURCE_CONFIGS);
}

/// What a command line that cannot be understood ends with: the command may have its own code.
int bad_usage_code(const CLI::App& root) {
  const auto chosen = root.get_subcommands();
  for (const CommandInfo* const command : commands::all()) {
    if (!chosen.empty() && chosen.front()->get_name() == command->name) {
      return command->bad_usage_code;
    }
  }
  return exit_bad_input;
}

int run(int argc, char** argv) {
  CLI::App root(
      "Predicts what an optimization or another accelerator would do to a deep learning run, from "
      "a trace of it.",
      "foretrace");
  use_help_page(root);
  root.allow_extras();
  root.require_subcommand(0, 1);
  root.set_version_flag("--version", std::string("foretrace ") + FORETRACE_VERSION,
                        "print the version and exit");
  root.get_help_ptr()->description("print this page and exit");
  bool ignored = false;  // taken out of the arguments before they are parsed
  root.add_flag("--no-config", ignored,
                "with any command: leave out the defaults of "
                "$XDG_CONFIG_HOME/foretrace/config.json");
  constexpr Example examples[] = {
      {"foretrace simulate trace.json.gz", "replays a trace: how close, and where the time goes"},
      {"foretrace whatif trace.json.gz --rank-all", "what would help most"}};
  add_examples(root, examples);

  std::map<const CLI::App*, std::function<int()>> actions;
  for (const CommandInfo* const command : commands::all()) {
    CLI::App* const sub =
        root.add_subcommand(std::string(command->name), std::string(command->summary));
    sub->allow_extras();
    sub->get_help_ptr()->description("print this page and exit");
    actions[sub] = command->setup(*sub);
  }
  std::vector<std::string> arguments(argv + 1, argv + std::max(argc, 1));
  const bool no_config = take_no_config(arguments);
  std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the back
  try {
    root.parse(std::move(arguments));
  } catch (const CLI::CallForHelp&) {
    const auto parsed = root.get_subcommands();
    return answer(help_page(parsed.empty() ? root : *parsed.front(), text_style()));
  } catch (const CLI::CallForVersion& version) {
    return answer(std::string(version.what()) + "\n");
  } catch (const CLI::ParseError& error) {
    static_cast<void>(failure(usage_error(root, error)));
    return bad_usage_code(root);
  }
  if (const Status status = check_leftovers(root); !status.ok()) {
    static_cast<void>(failure(status.error()));
    return bad_usage_code(root);
  }
  const auto chosen = root.get_subcommands();
  if (chosen.empty()) {
    return answer(help_page(root, text_style()));
  }
  if (!no_config) {
    if (const Status status = apply_defaults(root, *chosen.front(), defaults_path());
        !status.ok()) {
      static_cast<void>(failure(status.error()));
      return bad_usage_code(root);
    }
  }
  return actions.at(chosen.front())();
}

}  // namespace
}  // namespace foretrace::app

int main(int argc, char** argv) {
  using namespace foretrace::app;
  hold_standard_streams();
  ignore_write_signals();
  try {
    find_configs();
    return run(argc, argv);
  } catch (const std::bad_alloc&) {
    clear_progress();
    tell("out of memory");
    return exit_bad_input;
  } catch (const std::exception& error) {
    clear_progress();
    tell(std::string("internal error: ") + error.what());
    return exit_internal;
  } catch (...) {
    clear_progress();
    tell("internal error");
    return exit_internal;
  }
}
