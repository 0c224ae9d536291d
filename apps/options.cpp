// Options that commands share.
#include "apps/options.h"

#include <array>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <spdlog/spdlog.h>

#include "apps/help.h"
#include "apps/text.h"

namespace foretrace::app {

void add_common(CLI::App& app, CommonOptions& options) {
  app.add_flag("--json", options.json, "print one JSON document instead of text");
  app.add_flag("-q,--quiet", options.quiet, "print the answer only, log errors only");
  constexpr std::array<std::string_view, 5> levels = {"debug", "info", "warning", "error", "off"};
  CLI::Option* const level =
      app.add_option("--log-level", options.log_level,
                     "what to log on stderr: debug, info, warning (default), error, off");
  level->type_name("LEVEL");
  restrict_to(*level, levels);
}

void add_trace(CLI::App& app, TraceOptions& options) {
  app.add_option("TRACE", options.path, "a recorded trace, plain or .gz")->required();
  app.add_flag("--strict", options.strict, "refuse a trace with any event that must be dropped");
  app.add_flag("--no-recorded-latency", options.no_recorded_latency,
               "use the trace's median launch latencies and gaps instead of each recorded one");
}

void add_run(CLI::App& app, TraceOptions& options) {
  app.add_option("--step", options.step,
                 "which recorded step answers: its number, median (default) or all")
      ->type_name("STEP");
  constexpr std::array<std::string_view, 2> engines = {"pull", "event"};
  CLI::Option* const engine = app.add_option(
      "--engine", options.engine,
      "pull (default): one pass in order; event: event queue, needed where order can change");
  engine->type_name("ENGINE");
  restrict_to(*engine, engines);
}

void add_timeline(CLI::App& app, std::string& path) {
  app.add_option("--timeline", path,
                 "write the simulated timeline with its dependencies, for ui.perfetto.dev")
      ->type_name("FILE");
}

Result<driver::RunOptions> run_options(const TraceOptions& options) {
  const Result<driver::StepChoice> step = driver::parse_step_choice(options.step);
  if (!step.ok()) {
    return step.error();
  }
  return driver::RunOptions{
      options.engine == "event" ? driver::Engine::event : driver::Engine::pull, *step};
}

driver::LoadOptions load_options(const std::string& path, const TraceOptions& trace,
                                 const CommonOptions& common) {
  driver::LoadOptions options;
  options.strict = trace.strict;
  options.build.constant_latency = trace.no_recorded_latency;
  const std::size_t slash = path.rfind('/');
  options.progress = progress_bar(
      common, "reading " + shorten(path.substr(slash == std::string::npos ? 0 : slash + 1), 40));
  return options;
}

Result<driver::Recording> load_trace(const TraceOptions& trace, const CommonOptions& common) {
  Result<driver::Recording> recording =
      driver::load(trace.path, load_options(trace.path, trace, common));
  clear_progress();
  if (recording.ok()) {
    log_warnings(recording->report, recording->built.warnings);
  }
  return recording;
}

void log_warnings(const trace::ImportReport& report, const std::vector<std::string>& warnings) {
  for (const std::string& warning : report.warnings) {
    spdlog::warn("{}", warning);
  }
  for (const std::string& warning : warnings) {
    spdlog::warn("{}", warning);
  }
}

Status write_timeline(const std::string& path, std::span<const ChromeTraceView> views) {
  return path.empty() ? ok_status() : write_file(path, [&](const TextSink& sink) {
    return write_chrome_trace(views, sink);
  });
}

std::string timeline_line(const std::string& path) {
  return path.empty() ? "" : "\ntimeline written to " + path + "; open it at ui.perfetto.dev\n";
}

}  // namespace foretrace::app
