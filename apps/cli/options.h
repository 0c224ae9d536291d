// Options that commands share, and the trace they all start from.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/cli/arguments/arguments.h"
#include "apps/cli/arguments/command.h"
#include "apps/cli/output/console.h"
#include "apps/questions/memory/memory_budget.h"
#include "apps/session/session.h"
#include "sim/core/result.h"

namespace foretrace::app {

/// The setup of a command: `declare` adds its Options to the command line, `run` answers with them.
template <typename Options, void (*declare)(Arguments&, Options&), Exit (*run)(const Options&)>
std::function<Exit()> set_up(Arguments& arguments) {
  const auto options = std::make_shared<Options>();
  declare(arguments, *options);
  return [options] {
    start_logging(options->common);
    return run(*options);
  };
}

/// --json, --quiet, --log-level.
void add_common(Arguments& arguments, CommonOptions& options);

/// --details, --csv, --table: of commands that answer with a page.
void add_page(Arguments& arguments, CommonOptions& options);

/// How a trace is read and which step answers.
struct TraceOptions {
  std::vector<std::string> paths;
  bool strict = false;
  bool no_recorded_latency = false;
  bool without_one_off = false;
  std::string unprofiled_step;  ///< a time; empty: not given
  bool memory_graph = false;    ///< a timeline of memory will do: the command speaks of memory
  std::string step = "median";
  std::string engine = "pull";
  bool check_graph = false;  ///< that what-ifs make
  std::string compute_rate;  ///< of nodes without a duration; empty: not given
  std::string memory_bandwidth;
  std::string network_bandwidth;
};
/// The arguments TRACE..., --strict, --no-recorded-latency, --without-one-off, --unprofiled-step.
void add_trace(Arguments& arguments, TraceOptions& options, bool is_required = true);
/// --step and --engine.
void add_run(Arguments& arguments, TraceOptions& options);

/// A budget of device memory, as it was written.
struct BudgetOptions {
  std::string size;  ///< empty: none
  std::string when_full;
};
/// --memory-budget and --when-full.
void add_budget(Arguments& arguments, BudgetOptions& options);
/// None if no budget was given. Errors name what was expected.
[[nodiscard]] Result<std::optional<BudgetQuestion>> budget_question(const BudgetOptions& options);

/// The run that --step and --engine ask for.
[[nodiscard]] Result<RunOptions> run_options(const TraceOptions& options);

/// Errors: a rate that is none.
[[nodiscard]] Result<trace::NodeCosts> node_costs(const TraceOptions& options);
/// What is shown while a file is read.
[[nodiscard]] std::function<void(std::uint64_t, std::uint64_t)> reading_progress(
    const std::string& path, const CommonOptions& common);
/// Error: a config with a mistake.
[[nodiscard]] Result<LoadOptions> load_options(const std::string& path, const TraceOptions& trace,
                                               const CommonOptions& common);
/// Reads the trace with a progress bar, logs its warnings and replays it.
[[nodiscard]] Result<Session> open_session(const TraceOptions& trace, const CommonOptions& common);
/// The same of inputs that are the ranks of one job, even if they are one trace.
[[nodiscard]] Result<Session> open_job(std::span<const std::string> paths,
                                       const TraceOptions& trace, const CommonOptions& common);
/// Logs what the import and the graph warn about.
void log_warnings(const trace::ImportReport& report, const std::vector<std::string>& warnings);

}  // namespace foretrace::app
