// The foretrace program: the table of its commands, one catch.
#include <csignal>
#include <exception>
#include <filesystem>
#include <new>
#include <string>
#include <system_error>

#include <fmt/format.h>

#include "apps/cli/command.h"
#include "apps/cli/command_line.h"
#include "apps/cli/console.h"
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

}  // namespace
}  // namespace foretrace::app

int main(int argc, char** argv) {
  using namespace foretrace::app;
  // A closed pipe is reported by the write that meets it.
  static_cast<void>(std::signal(SIGPIPE, SIG_IGN));
  try {
    find_configs();
    return run_command_line(argc, argv,
                            {.version = FORETRACE_VERSION, .commands = foretrace::commands::all()});
  } catch (const std::bad_alloc&) {
    clear_progress();
    fmt::print(stderr, "foretrace: out of memory\n");
    return exit_bad_input;
  } catch (const std::exception& error) {
    clear_progress();
    fmt::print(stderr, "foretrace: internal error: {}\n", error.what());
    return exit_internal;
  }
}
