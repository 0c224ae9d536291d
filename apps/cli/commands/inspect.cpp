// foretrace inspect: what is in a trace, and where its time goes.
#include "apps/session/recording/inspect.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "apps/cli/arguments/command.h"
#include "apps/cli/arguments/help.h"
#include "apps/cli/options.h"
#include "apps/cli/output/answers.h"
#include "apps/cli/output/console.h"
#include "apps/report/pages/communication.h"
#include "apps/report/pages/inspect.h"
#include "apps/report/text.h"
#include "trace/inputs/list_files.h"

namespace foretrace::commands::inspect_parts {
namespace {

struct Options {
  app::CommonOptions common;
  app::TraceOptions trace;
  std::vector<std::string> paths;
  bool communication = false;
  bool memory = false;
  bool modules = false;
  std::string allocator;
};

/// All inputs as one job: its collectives, late ranks and stalls.
app::Exit run_communication(const Options& options) {
  FORETRACE_TRY(const auto session, app::open_job(options.paths, options.trace, options.common));
  const Communication communication = communication_of(session);
  return app::answer(report::communication_page({session, communication}), options.common);
}

Result<std::vector<Inspection>> inspect_all(const Options& options) {
  FORETRACE_TRY(const std::vector<std::string>& files, trace::list_files(options.paths));
  FORETRACE_TRY(const AllocatorSettings settings, parse_allocator_settings(options.allocator));
  const MemoryQuestion memory{options.memory, settings};
  FORETRACE_TRY(LoadOptions load, app::load_options(files.front(), options.trace, options.common));
  if (files.size() == 2) {  // they may complete each other
    auto pair = inspect_two(files[0], files[1], load, memory);
    app::clear_progress();
    return pair;
  }
  std::vector<Inspection> traces;
  for (const std::string& file : files) {
    load.progress = app::reading_progress(file, options.common);
    Result<std::vector<Inspection>> found = inspect(file, load, memory);
    app::clear_progress();
    FORETRACE_TRY(found);
    std::move(found->begin(), found->end(), std::back_inserter(traces));
  }
  return traces;
}

app::Exit run(const Options& options) {
  if (options.communication) return run_communication(options);
  FORETRACE_TRY(std::vector<Inspection> inspected, inspect_all(options));
  const std::vector<Inspection>& traces = inspected;
  for (const Inspection& found : traces) {
    app::log_warnings(found.report,
                      found.graph ? found.graph->warnings : std::vector<std::string>{});
  }
  report::InspectQuestion question{options.memory, options.modules};
  if (!options.memory && !options.modules && traces.size() > 1) {
    FORETRACE_TRY(const LoadOptions load, app::load_options(report::plural(traces.size(), "rank"),
                                                            options.trace, options.common));
    question.late = late_rank_of(options.paths, traces, load);
    app::clear_progress();
  }
  return app::answer(report::inspect_page(traces, question), options.common);
}

void declare(app::Arguments& cli, Options& options) {
  cli.add_option("TRACE", options.paths,
                 "recorded traces, plain, .gz, .zst, .xz or .bz2 (- is standard input), a folder, "
                 "a .tar or .zip of them, a run.ftr.json")
      .required();
  cli.add_flag("--strict", options.trace.strict, "fail if any event of a trace must be dropped");
  cli.add_flag("--communication", options.communication,
               "treat the traces as the ranks of one job: bytes, bandwidth, waiting, late ranks");
  cli.add_flag(
      "--modules", options.modules,
      "time of each stage of a step and of the modules below it; repeated modules share a line");
  const app::Option memory = cli.add_flag(
      "--memory", options.memory,
      "what occupies device memory at the peak, what the allocator reserves, where it fits");
  cli.add_option("--allocator", options.allocator,
                 "with --memory: allocator settings, as in PYTORCH_CUDA_ALLOC_CONF")
      .needs(memory);
  app::add_page(cli, options.common);
  app::add_common(cli, options.common);
  cli.add_examples(
      {{"foretrace inspect trace.json.gz",
        "steps, devices, damage, and where the device time goes"},
       {"foretrace inspect trace.json.gz --modules",
        "where a step goes: forward, backward, update, layer by layer"},
       {"foretrace inspect trace.json.gz --memory",
        "the peak of device memory and what occupies it"},
       {"foretrace inspect capture.json exec.json",
        "links two traces that complete each other: graph capture and execution, ET and Kineto"},
       {"foretrace inspect rank*.json.gz --quiet", "one line per trace"},
       {"foretrace inspect traces/ --communication",
        "the ranks in a folder as one job: which rank waits for which, and bandwidths"}});
}

}  // namespace

extern constexpr CommandInfo info = {"inspect", app::Group::look,
                                     "show what is in a trace, and where its device time goes",
                                     app::set_up<Options, declare, run>};

}  // namespace foretrace::commands::inspect_parts
