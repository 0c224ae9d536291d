// foretrace critical-path: what the time of a step was spent on, and how much each part could give.
#include "apps/report/pages/critical_path.h"

#include "apps/cli/arguments/command.h"
#include "apps/cli/arguments/help.h"
#include "apps/cli/options.h"
#include "apps/cli/output/answers.h"
#include "apps/cli/output/console.h"

namespace foretrace::commands::critical_path_parts {
namespace {

struct Options {
  app::CommonOptions common;
  app::TraceOptions trace;
  std::size_t top = 10;
};

app::Exit run(const Options& options) {
  FORETRACE_TRY(const Session session, app::open_session(options.trace, options.common));
  const PathReport path = session.path(options.top);
  return app::answer(report::critical_path_page({session, path}), options.common);
}

void declare(app::Arguments& cli, Options& options) {
  app::add_trace(cli, options.trace);
  app::add_run(cli, options.trace);
  cli.add_option("--top", options.top,
                 "list this many parts, and simulate the step without each (10)")
      .type_name("N")
      .in_range(1, 1000);
  app::add_page(cli, options.common);
  app::add_common(cli, options.common);
  cli.add_examples(
      {{"foretrace critical-path trace.json.gz",
        "what bounds the median step, and the maximum saving of each kernel and layer"},
       {"foretrace critical-path trace.json.gz --json", "every piece of the path, in time order"}});
}

}  // namespace

extern constexpr CommandInfo info = {"critical-path", app::Group::look,
                                     "show what bounds a step, and the maximum saving of each part",
                                     app::set_up<Options, declare, run>};

}  // namespace foretrace::commands::critical_path_parts
