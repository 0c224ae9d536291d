// foretrace report: one self-contained page that simulates its graph where it is opened.
#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "apps/cli/arguments/command.h"
#include "apps/cli/arguments/help.h"
#include "apps/cli/options.h"
#include "apps/cli/other_pages.h"
#include "apps/cli/output/console.h"
#include "apps/cli/output/outputs.h"
#include "apps/cli/page_answers.h"
#include "apps/explorer/page.h"
#include "apps/sweep/store/store.h"

namespace foretrace::commands::report_parts {
namespace {

struct Options {
  app::CommonOptions common;
  app::TraceOptions trace;
  app::PageOptions page;
  std::string output;
  std::string scenario;
  std::string sweep;
};

app::Exit write(const Options& options, const Result<explorer::Page>& page, std::string_view what) {
  FORETRACE_TRY(page);
  FORETRACE_TRY(app::write_file(options.output, page->html));
  for (const std::string& reason : page->left_out) app::tell("not in the page: " + reason);
  return app::answer(fmt::format("{}: {:.2f} MB{}\n", options.output,
                                 static_cast<double>(page->html.size()) / 1e6, what));
}

app::Exit write_run(const Options& options) {
  FORETRACE_TRY(auto input, app::page_of_run(options.page, options.trace, options.common));
  input.version = FORETRACE_VERSION;
  const Result<explorer::Page> page = explorer::make_page(input);
  const std::size_t carried = page.ok() ? page->carried : 0;
  return write(options, page, fmt::format(", {} what-ifs to try in it", carried));
}

/// A folder that a sweep wrote may stand where a trace does.
Options with_sweep(const Options& given) {
  Options options = given;
  if (options.trace.paths.size() != 1 || !options.sweep.empty() || !options.scenario.empty()) {
    return options;
  }
  std::error_code none;
  if (std::filesystem::exists(sweeping::store_file(options.trace.paths.front()), none)) {
    options.sweep = options.trace.paths.front();
    options.trace.paths.clear();
  }
  return options;
}

/// One thing is shown; what is about recordings goes with traces.
Status check(const Options& options) {
  const int asked = (options.trace.paths.empty() ? 0 : 1) + (options.scenario.empty() ? 0 : 1) +
                    (options.sweep.empty() ? 0 : 1);
  if (asked != 1) {
    return Error{ErrorCode::bad_usage,
                 asked == 0 ? "report: expected a trace, --scenario FILE or --sweep FOLDER"
                            : "report: expected one of a trace, --scenario and --sweep"};
  }
  if (!options.sweep.empty() && !options.page.apply.empty()) {
    return Error{ErrorCode::bad_usage,
                 "report: --apply changes a run; expected a trace or --scenario"};
  }
  return ok_status();
}

app::Exit run(const Options& given) {
  const Options options = with_sweep(given);
  FORETRACE_TRY(check(options));
  std::vector<std::string> inputs = app::files_of_what_ifs(options.page.apply);
  inputs.insert(inputs.end(), options.trace.paths.begin(), options.trace.paths.end());
  if (!options.scenario.empty()) inputs.push_back(options.scenario);
  if (!options.sweep.empty()) inputs.push_back(sweeping::store_file(options.sweep));
  FORETRACE_TRY(app::check_outputs(std::array{options.output}, inputs));
  if (!options.scenario.empty() && !options.page.apply.empty()) {
    Options run = options;
    run.trace.paths = {options.scenario};
    return write_run(run);
  }
  if (!options.scenario.empty()) {
    return write(options, app::scenario_page(options.scenario, FORETRACE_VERSION, options.common),
                 "");
  }
  if (!options.sweep.empty()) {
    return write(options, app::sweep_page(options.sweep, FORETRACE_VERSION), "");
  }
  return write_run(options);
}

void declare(app::Arguments& cli, Options& options) {
  app::add_trace(cli, options.trace, false);
  cli.add_option("-o,--output", options.output, "the page to write: one self-contained HTML file")
      .type_name("FILE")
      .required();
  app::add_page_options(cli, options.page);
  cli.add_option("--scenario", options.scenario,
                 "a scenario instead of a trace: its pipeline schedule, memory and time; with "
                 "--apply, or as TRACE, its step operator by operator")
      .type_name("FILE");
  cli.add_option("--sweep", options.sweep,
                 "the results of a sweep instead: a folder that sweep -o wrote")
      .type_name("FOLDER");
  app::add_run(cli, options.trace);
  app::add_common(cli, options.common);
  cli.add_examples(
      {{"foretrace report trace.json.gz -o run.html",
        "a page to send, look at and experiment with"},
       {"foretrace report trace.json.gz --apply mixed_precision --apply fused_optimizer -o "
        "run.html",
        "the page opens with both applied"},
       {"foretrace report --sweep results -o sweep.html", "every point of a sweep, to explore"},
       {"foretrace report --scenario plan.json -o plan.html", "the pipeline schedule of a plan"}});
}

}  // namespace

extern constexpr CommandInfo info = {"report", app::Group::look,
                                     "write a web page that shows a run and simulates what-ifs",
                                     app::set_up<Options, declare, run>};

}  // namespace foretrace::commands::report_parts
