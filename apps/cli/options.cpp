// Options that commands share.
#include "apps/cli/options.h"

#include <array>
#include <string_view>
#include <vector>

#include "apps/cli/arguments/help.h"
#include "apps/cli/names/configs.h"
#include "apps/report/text.h"
#include "apps/session/load_run.h"
#include "apps/session/recording/unprofiled_step.h"
#include "sim/core/params.h"
#include "sim/core/text.h"

namespace foretrace::app {

namespace {

void add_node_costs(Arguments& arguments, TraceOptions& options) {
  const auto rate = [&](const char* name, std::string& value, const char* what) {
    arguments.add_option(name, value, what).type_name("RATE");
  };
  rate("--compute-rate", options.compute_rate,
       "compute rate for nodes without a duration, such as '312 TFLOP/s'");
  rate("--memory-bandwidth", options.memory_bandwidth,
       "memory bandwidth for nodes without a duration, such as '2 TB/s'");
  rate("--network-bandwidth", options.network_bandwidth,
       "network bandwidth for communication without a duration, such as '50 GB/s'");
}

Result<Session> replayed(Result<Recording> recording, const RunOptions& options) {
  clear_progress();
  FORETRACE_TRY(recording);
  log_warnings(recording->report, recording->built.warnings);
  return Session::of(*std::move(recording), options);
}

}  // namespace

void add_common(Arguments& arguments, CommonOptions& options) {
  arguments.add_flag("--json", options.json, "print one JSON document instead of text");
  arguments.add_flag("-q,--quiet", options.quiet, "print the first line only, log errors only");
  constexpr std::array<std::string_view, 5> levels = {"debug", "info", "warning", "error", "off"};
  arguments
      .add_option("--log-level", options.log_level,
                  "what to log on stderr: debug, info, warning (default), error, off")
      .type_name("LEVEL")
      .one_of(levels);
}

void add_page(Arguments& arguments, CommonOptions& options) {
  arguments.add_flag("--details", options.details,
                     "print everything, not only what fits on a screen");
  arguments.add_flag("--csv", options.csv, "print the main table as CSV, figures as in --json");
  arguments.add_option("--table", options.table, "with --csv: which table; a wrong name lists them")
      .type_name("NAME");
}

void add_trace(Arguments& arguments, TraceOptions& options, bool is_required) {
  const Option trace = arguments.add_option(
      "TRACE", options.paths,
      "a recorded trace (- is standard input); the ranks of a job: several traces, "
      "a folder, a .tar or .zip, a run.ftr.json; or a scenario of a model");
  if (is_required) trace.required();
  arguments.add_flag("--strict", options.strict, "fail if any event of a trace must be dropped");
  arguments.add_flag("--no-recorded-latency", options.no_recorded_latency,
                     "replace each recorded launch latency and gap by the median of the trace");
  arguments.add_flag("--without-one-off", options.without_one_off,
                     "cut out long pauses that do not repeat: compilation, first use");
  arguments
      .add_option("--unprofiled-step", options.unprofiled_step,
                  "step time measured without the profiler, such as '6.09 ms': removes profiler "
                  "overhead from CPU times")
      .type_name("TIME");
  add_node_costs(arguments, options);
}

void add_run(Arguments& arguments, TraceOptions& options) {
  arguments
      .add_option("--step", options.step,
                  "which step to report: its number, median (default) or all")
      .type_name("STEP");
  constexpr std::array<std::string_view, 2> engines = {"pull", "event"};
  arguments
      .add_option("--engine", options.engine,
                  "pull (default): one pass in a fixed order; event: an event queue, in which the "
                  "order can change")
      .type_name("ENGINE")
      .one_of(engines);
}

void add_budget(Arguments& arguments, BudgetOptions& options) {
  arguments
      .add_option("--memory-budget", options.size,
                  "limit memory per device: '6 GiB', or '70 %' of what the run needs")
      .type_name("SIZE");
  arguments
      .add_option("--when-full", options.when_full,
                  "when an allocation does not fit: fail (default), block, or a policy "
                  "NAME[:key=value,...]; see foretrace list policies")
      .type_name("POLICY");
}

Result<std::optional<BudgetQuestion>> budget_question(const BudgetOptions& options) {
  if (options.size.empty()) {
    if (options.when_full.empty()) {
      return std::optional<BudgetQuestion>{};
    }
    return Error{ErrorCode::bad_usage, "--when-full needs a limit: add --memory-budget SIZE"};
  }
  FORETRACE_TRY(const BudgetSize size, parse_budget_size(options.size));
  FORETRACE_TRY(WhenFullChoice choice,
                parse_when_full(options.when_full.empty() ? "fail" : options.when_full));
  return std::optional(BudgetQuestion{size, std::move(choice)});
}

Result<RunOptions> run_options(const TraceOptions& options) {
  FORETRACE_TRY(const StepChoice step, parse_step_choice(options.step));
  RunOptions run{.engine = options.engine == "event" ? Engine::event : Engine::pull, .step = step};
  if (options.check_graph) run.checks = Checks::all;
  return run;
}

std::function<void(std::uint64_t, std::uint64_t)> reading_progress(const std::string& path,
                                                                   const CommonOptions& common) {
  return progress_bar(common, "reading " + report::shorten(std::string(file_name_of(path)), 40));
}

Result<LoadOptions> load_options(const std::string& path, const TraceOptions& trace,
                                 const CommonOptions& common) {
  FORETRACE_TRY(CataloguePtr known, catalogue());
  LoadOptions options;
  options.catalogue = std::move(known);
  options.bounded_memory = true;
  options.strict = trace.strict;
  options.build.constant_latency = trace.no_recorded_latency;
  options.without_one_off = trace.without_one_off;
  FORETRACE_TRY(options.unprofiled_step_ns, parse_unprofiled_step(trace.unprofiled_step));
  options.progress = reading_progress(path, common);
  return options;
}

Result<trace::NodeCosts> node_costs(const TraceOptions& options) {
  struct Rate {
    const char* name;
    const std::string& text;
    ParamType type;
    double& value;
  };
  trace::NodeCosts costs;
  for (const Rate& rate :
       {Rate{"--compute-rate", options.compute_rate, ParamType::flops, costs.operations_per_second},
        Rate{"--memory-bandwidth", options.memory_bandwidth, ParamType::bandwidth,
             costs.memory_bytes_per_second},
        Rate{"--network-bandwidth", options.network_bandwidth, ParamType::bandwidth,
             costs.network_bytes_per_second}}) {
    if (rate.text.empty()) continue;
    FORETRACE_TRY(rate.value, parse_quantity(rate.text, rate.type).with_context(rate.name));
  }
  return costs;
}

Result<Session> open_session(const TraceOptions& trace, const CommonOptions& common) {
  FORETRACE_TRY(const RunOptions run, run_options(trace));
  FORETRACE_TRY(const trace::NodeCosts costs, node_costs(trace));
  const std::string title =
      trace.paths.size() == 1 ? trace.paths.front() : report::plural(trace.paths.size(), "trace");
  FORETRACE_TRY(LoadOptions options, load_options(title, trace, common));
  options.build.node_costs = costs;
  options.memory_graph = trace.memory_graph;
  return replayed(load_run(trace.paths, options), run);
}

Result<Session> open_job(std::span<const std::string> paths, const TraceOptions& trace,
                         const CommonOptions& common) {
  FORETRACE_TRY(const LoadOptions options,
                load_options(report::plural(paths.size(), "trace"), trace, common));
  return replayed(load_job(paths, options), {});
}

void log_warnings(const trace::ImportReport& report, const std::vector<std::string>& warnings) {
  for (const std::string& warning : report.warnings) {
    warn_with_answer(warning);
  }
  for (const std::string& warning : warnings) {
    warn_with_answer(warning);
  }
}

}  // namespace foretrace::app
