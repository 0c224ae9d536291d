// The foretrace program: the table of its commands, one catch.
#include <array>
#include <cstdio>
#include <exception>
#include <new>
#include <string>

#include <unistd.h>

#include "apps/cli/arguments/command.h"
#include "apps/cli/command_line.h"
#include "apps/cli/names/configs.h"
#include "apps/cli/output/console.h"
#include "apps/cli/run_program.h"

namespace foretrace::app {
namespace {

/// "run.json.gz: out of memory": what was worked on is the first file among the words. Takes no
/// memory.
void tell_out_of_memory(int argc, char** argv) {
  std::array<char, 512> line{};
  const char* file = nullptr;
  for (int i = 2; i < argc && file == nullptr; ++i) {
    file = ::access(argv[i], F_OK) == 0 ? argv[i] : nullptr;
  }
  const auto length = std::snprintf(line.data(), line.size(), "%.400s%sout of memory",
                                    file == nullptr ? "" : file, file == nullptr ? "" : ": ");
  tell({line.data(), length > 0 ? static_cast<std::size_t>(length) : 0});
}

}  // namespace
}  // namespace foretrace::app

int main(int argc, char** argv) {
  using namespace foretrace::app;
  hold_standard_streams();
  ignore_write_signals();
  try {
    find_configs(FORETRACE_SOURCE_CONFIGS);
    return run_command_line(
        argc, argv,
        {.version = FORETRACE_VERSION FORETRACE_LACKS, .commands = foretrace::commands::all()});
  } catch (const std::bad_alloc&) {
    clear_progress();
    tell_out_of_memory(argc, argv);
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
