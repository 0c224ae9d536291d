// foretrace compare: two recordings side by side, and what explains the difference.
#include "apps/report/pages/compare.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "apps/cli/arguments/command.h"
#include "apps/cli/arguments/help.h"
#include "apps/cli/options.h"
#include "apps/cli/other_pages.h"
#include "apps/cli/output/answers.h"
#include "apps/cli/output/console.h"
#include "apps/cli/output/outputs.h"
#include "apps/explorer/comparison_page.h"
#include "apps/questions/compare/gate.h"
#include "apps/report/writers.h"
#include "apps/session/predict.h"
#include "apps/session/recording/load.h"

namespace foretrace::commands::compare_parts {
namespace {

struct Options {
  app::CommonOptions common;
  app::TraceOptions trace;
  std::vector<std::string> with;
  std::string output;
  std::string gate;
  bool markdown = false;
};

Result<Session> open_side(const Options& options, std::vector<std::string> paths) {
  app::TraceOptions trace = options.trace;
  trace.paths = std::move(paths);
  trace.memory_graph = true;
  return app::open_session(trace, options.common);
}

/// The two inputs, or with --with the ranks of either.
Status split(const Options& options, std::vector<std::string>& before,
             std::vector<std::string>& after) {
  before = options.trace.paths;
  after = options.with;
  if (!after.empty()) return ok_status();
  if (before.size() != 2) {
    return Error{
        ErrorCode::bad_usage,
        "compare: expected two traces, or --with before each trace of the second run, got " +
            std::to_string(before.size())};
  }
  after.push_back(std::move(before.back()));
  before.pop_back();
  return ok_status();
}

std::vector<Doubt> doubts_of(const Session& before, const Session& after) {
  std::vector<Doubt> doubts = before.replay().doubts;
  std::ranges::copy(after.replay().doubts, std::back_inserter(doubts));
  return doubts;
}

bool all_hold(const std::vector<GateCheck>& gates) {
  return std::ranges::all_of(gates, [](const GateCheck& check) { return check.holds(); });
}

/// Both runs on one page.
app::Exit write(const Options& options, const explorer::ComparisonInput& input,
                app::ExitCode code) {
  FORETRACE_TRY(const explorer::Page page, explorer::make_comparison(input));
  FORETRACE_TRY(app::write_file(options.output, page.html));
  return app::answer(
      fmt::format("{}: {:.2f} MB\n", options.output, static_cast<double>(page.html.size()) / 1e6),
      code);
}

/// The answer in the form that was asked for.
app::Exit show(const Options& options, const report::CompareAnswer& asked) {
  const report::Page page = report::compare_page(asked);
  const app::ExitCode code = all_hold(asked.gates) ? app::exit_done : app::exit_answer_is_no;
  if (!options.output.empty()) {
    return write(options,
                 {asked.before, asked.after, asked.comparison, asked.doubts, report::html_of(page),
                  report::json_of(page), FORETRACE_VERSION},
                 code);
  }
  if (options.markdown && !options.common.json) return app::answer(report::markdown_of(page), code);
  return app::answer(page, options.common, code);
}

app::Exit run(const Options& options) {
  std::vector<std::string> inputs = options.trace.paths;
  inputs.insert(inputs.end(), options.with.begin(), options.with.end());
  FORETRACE_TRY(app::check_outputs(std::array{options.output}, inputs));
  std::vector<Gate> gates;
  if (!options.gate.empty()) {
    FORETRACE_TRY(auto parsed, parse_gates(options.gate));
    gates = std::move(parsed);
  }
  std::vector<std::string> first;
  std::vector<std::string> second;
  FORETRACE_TRY(split(options, first, second));
  FORETRACE_TRY(const Session before, open_side(options, std::move(first)));
  FORETRACE_TRY(const Session after, open_side(options, std::move(second)));
  const ComparedRun runs[] = {compared_run(before), compared_run(after)};
  FORETRACE_TRY(const Comparison comparison, compare_runs(runs[0], runs[1]));
  FORETRACE_TRY(const auto checks, check_gates(comparison, gates));
  return show(options, {runs[0], runs[1], comparison, doubts_of(before, after), checks});
}

void declare(app::Arguments& cli, Options& options) {
  app::add_trace(cli, options.trace);
  cli.add_option("--with", options.with,
                 "a rank of the second run, where TRACE... are the ranks of the first; may be "
                 "repeated")
      .type_name("TRACE");
  cli.add_option("-o,--output", options.output,
                 "write a web page instead: both runs on one clock, and why they differ")
      .type_name("FILE.html");
  cli.add_option("--gate", options.gate,
                 "exit with 1 if the second run is worse by more than this: step=+3%,memory=+5%")
      .type_name("FIGURE=SHARE,...");
  app::add_run(cli, options.trace);
  app::add_page(cli, options.common);
  cli.add_flag("--markdown", options.markdown, "print Markdown, for a pull request");
  app::add_common(cli, options.common);
  cli.add_examples(
      {{"foretrace compare before.json.gz after.json.gz",
        "why the second run takes longer or shorter, in parts that add up"},
       {"foretrace compare before.json.gz after.json.gz --csv --table kernels",
        "every kernel of both, matched by layer, operator, name and shapes"},
       {"foretrace compare before.json.gz after.json.gz -o difference.html",
        "a page to send, with both timelines"},
       {"foretrace compare before.json.gz after.json.gz --gate step=+3%,memory=+5% --markdown",
        "a gate in front of a merge: why it is slower, and exit 1 if it is slower by more"},
       {"foretrace compare a0.json a1.json --with b0.json --with b1.json",
        "two jobs of two ranks"}});
}

}  // namespace

extern constexpr CommandInfo info = {"compare", app::Group::ask,
                                     "compare two recordings and explain the difference",
                                     app::set_up<Options, declare, run>};

}  // namespace foretrace::commands::compare_parts
