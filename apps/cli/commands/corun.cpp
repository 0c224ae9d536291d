// foretrace corun: two recorded runs on one device.
#include "apps/report/pages/corun.h"

#include <string>
#include <vector>

#include <fmt/format.h>

#include "apps/cli/arguments/command.h"
#include "apps/cli/arguments/help.h"
#include "apps/cli/names/configs.h"
#include "apps/cli/names/names.h"
#include "apps/cli/options.h"
#include "apps/cli/output/answers.h"
#include "apps/cli/output/busy.h"
#include "apps/cli/output/console.h"
#include "apps/questions/sharing/shared_device.h"

namespace foretrace::commands::corun_parts {
namespace {

struct Options {
  app::CommonOptions common;
  std::vector<std::string> traces;
  std::string accelerator;
  std::string step = "median";
};

app::Exit run(const Options& options) {
  if (options.traces.size() != 2) {
    return Error{ErrorCode::bad_usage,
                 fmt::format("corun: expected two traces, got {}", options.traces.size())};
  }
  FORETRACE_TRY(const CataloguePtr known, app::catalogue());
  FORETRACE_TRY(const std::string accelerator, app::accelerator_option(options.accelerator));
  FORETRACE_TRY(const auto answer, app::while_busy(options.common, "running both", [&] {
                  return shared_device({options.traces[0], options.traces[1]}, accelerator,
                                       {.catalogue = known, .step = options.step});
                }));
  const int code = app::answer(report::corun_page(answer), options.common);
  return code != 0 || answer.fits() ? code : 1;
}

void declare(app::Arguments& cli, Options& options) {
  cli.add_option("TRACE", options.traces, "the two runs: a trace each").required();
  cli.add_option("--accelerator", options.accelerator,
                 "a device other than the one that both were recorded on")
      .type_name("NAME");
  cli.add_option("--step", options.step, "which step to predict: median, or its number")
      .type_name("N");
  app::add_page(cli, options.common);
  app::add_common(cli, options.common);
  cli.add_examples({{"foretrace corun training.json.gz inference.json.gz",
                     "how fast both run on one device with time slices, MPS and MIG"},
                    {"foretrace corun a.json.gz b.json.gz --accelerator h200_sxm",
                     "the same two runs on another accelerator"}});
}

}  // namespace

extern constexpr CommandInfo info = {"corun", app::Group::ask,
                                     "predict two recorded runs that share one device",
                                     app::set_up<Options, declare, run>};

}  // namespace foretrace::commands::corun_parts
