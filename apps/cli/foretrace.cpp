// The foretrace program: the table of its commands, one catch.
#include <exception>
#include <new>
#include <string>

#include "apps/cli/command.h"
#include "apps/cli/command_line.h"
#include "apps/cli/configs.h"
#include "apps/cli/console.h"
#include "apps/cli/run_program.h"

int main(int argc, char** argv) {
  using namespace foretrace::app;
  hold_standard_streams();
  ignore_write_signals();
  try {
    if (const auto found = find_configs(FORETRACE_SOURCE_CONFIGS); !found.ok()) {
      tell(found.error().message);
      return exit_bad_input;
    }
    return run_command_line(argc, argv,
                            {.version = FORETRACE_VERSION, .commands = foretrace::commands::all()});
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
