#include "apps/cli/commands/calibrate_engine.h"

#include <utility>

#include <fmt/format.h>

#include "apps/cli/commands/calibrate_machine.h"
#include "apps/cli/names/configs.h"
#include "apps/cli/output/answers.h"
#include "apps/cli/output/console.h"
#include "apps/report/section.h"
#include "apps/report/text.h"
#include "sim/core/config.h"
#include "sim/core/whole.h"

namespace foretrace::commands {
namespace {

using report::Value;

/// A plain name is a file of the config folder.
std::string engine_path(const std::string& output) {
  const bool plain =
      !output.empty() && output.find('/') == std::string::npos && !output.ends_with(".json");
  return plain ? app::config_directory() + "/serving/" + output + ".json" : output;
}

struct ServiceLogs {
  std::vector<MeasuredService> runs;
  double cache_tokens = 0;
};

Result<ServiceLogs> logs_of(const EngineLogs& said) {
  ServiceLogs all;
  for (const std::string& path : said.files) {
    FORETRACE_TRY(const std::string text, read_config_text(path));
    if (!is_benchmark_log(text)) {
      return Error{ErrorCode::bad_format,
                   path +
                       ": no benchmark of vLLM or SGLang, expected results of their serving, "
                       "latency, throughput or batch benchmarks, or their printed output"};
    }
    FORETRACE_TRY(auto log, parse_benchmark_log(text, path));
    if (log.cache_tokens > 0) all.cache_tokens = log.cache_tokens;
    for (BenchmarkRun& run : log.runs) {
      const auto fill = [](double& figure, std::size_t otherwise) {
        if (!(figure > 0)) figure = static_cast<double>(otherwise);
      };
      fill(run.requests, said.requests);
      fill(run.input, said.prompt);
      fill(run.output, said.answer);
      std::string source = log_source(path, run.program);
      all.runs.push_back({std::move(run), std::move(source)});
    }
  }
  return all;
}

std::string_view figure_name(BenchmarkFigure figure) {
  switch (figure) {
    case BenchmarkFigure::token: return "token";
    case BenchmarkFigure::step: return "step";
    case BenchmarkFigure::total: return "whole run";
  }
  return {};
}

Value count_of(double number) { return Value::count(static_cast<std::uint64_t>(number)); }

report::Section runs_section(const ServiceLogs& logs, const CalibratedEngine& engine) {
  report::Table table{.key = "runs",
                      .columns = {{"figure", "time of"},
                                  {"requests", "requests"},
                                  {"in_flight", "at a time"},
                                  {"input_tokens", "prompt"},
                                  {"output_tokens", "answer"},
                                  {"measured", "measured"},
                                  {"before", "before"},
                                  {"held_back", "left out"}}};
  for (std::size_t i = 0; i < engine.errors.size(); ++i) {
    const BenchmarkRun& run = logs.runs[i].run;
    const ServiceError& error = engine.errors[i];
    table.add({Value::words(std::string(figure_name(run.figure))), count_of(run.requests),
               count_of(run.in_flight > 0 ? run.in_flight : run.requests), count_of(run.input),
               count_of(run.output), Value::time(to_whole(run.seconds * 1e9)),
               Value::change(error.before),
               error.held_back ? Value::change(*error.held_back) : Value::none()});
  }
  report::Section section{.key = "runs", .tables = {std::move(table)}};
  section.headline = fmt::format(
      "{} measured; before: error of the engine's file as it was, {:.1f} % in the mean; left out: "
      "error of each by a fit to the others, {}",
      report::plural(engine.errors.size(), "run"), engine.before.mean * 100,
      engine.held_back.rows > 0 ? fmt::format("{:.1f} %", engine.held_back.mean * 100)
                                : "unknown of a single run");
  return section;
}

report::Section host_section(const CalibratedEngine& engine, const std::string& path) {
  report::Section section{.key = "engine"};
  const auto tell = [&section](const std::string& text) { section.notes.push_back({text, ""}); };
  const auto times = [](const Ranged& range) {
    return fmt::format(
        "{} ({} to {} with one run left out)", report::time_text(to_whole(range.typical)),
        report::time_text(to_whole(range.low)), report::time_text(to_whole(range.high)));
  };
  if (!engine.errors.empty()) {
    tell("host per step: " + times(engine.step_ns));
    tell(engine.tells_sequences ? "host per running sequence: " + times(engine.sequence_ns)
                                : "host per running sequence: unchanged; to fit it, add runs with "
                                  "other numbers of concurrent requests");
  }
  if (engine.memory_share) {
    tell(fmt::format("share of the memory: {:.3f}, from the cache size that the engine printed",
                     *engine.memory_share));
  }
  tell(path.empty() ? "not written; -o FILE writes the engine" : "engine written to " + path);
  return section;
}

}  // namespace

app::Exit calibrate_engine(const EngineLogs& logs, const app::CommonOptions& common) {
  const std::string path = engine_path(logs.output);
  FORETRACE_TRY(app::check_output(path, logs.files));
  FORETRACE_TRY(const CataloguePtr known, app::catalogue());
  FORETRACE_TRY(const auto runs, logs_of(logs));
  FORETRACE_TRY(const auto engine,
                foretrace::calibrate_engine(*known, logs.setup, runs.runs, runs.cache_tokens));
  if (!path.empty()) {
    FORETRACE_TRY(app::write_file(path, engine.text));
  }
  if (common.json) return app::answer(engine.text);
  report::Page page{.sections = {}, .main_table = "runs"};
  if (!engine.errors.empty()) page.sections.push_back(runs_section(runs, engine));
  page.sections.push_back(host_section(engine, path));
  return app::answer(page, common);
}

}  // namespace foretrace::commands
