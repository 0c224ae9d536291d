// Options that commands share, and the trace they all start from.
#pragma once

#include <memory>
#include <string>

#include "apps/console.h"
#include "apps/driver/load.h"
#include "apps/driver/steps.h"
#include "sim/core/result.h"

namespace CLI {
class App;
}

namespace foretrace::app {

/// --json, --quiet, --log-level.
void add_common(CLI::App& app, CommonOptions& options);

/// How a trace is read and which step answers.
struct TraceOptions {
  std::string path;
  bool strict = false;
  bool no_recorded_latency = false;
  std::string step = "median";
  std::string engine = "pull";
};
/// The argument TRACE, --strict, --no-recorded-latency.
void add_trace(CLI::App& app, TraceOptions& options);
/// --step and --engine.
void add_run(CLI::App& app, TraceOptions& options);

/// Load options with a progress bar named after the file.
[[nodiscard]] driver::LoadOptions load_options(const std::string& path, const TraceOptions& trace,
                                               const CommonOptions& common);
/// Reads the trace with a progress bar and logs its warnings.
[[nodiscard]] Result<driver::Recording> load_trace(const TraceOptions& trace,
                                                   const CommonOptions& common);
/// Logs what the import and the graph warn about.
void log_warnings(const trace::ImportReport& report, const std::vector<std::string>& warnings);

}  // namespace foretrace::app
