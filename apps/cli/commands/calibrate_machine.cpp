#include "apps/cli/commands/calibrate_machine.h"

#include <ctime>
#include <filesystem>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include "apps/cli/names/configs.h"
#include "apps/cli/output/answers.h"
#include "apps/cli/output/console.h"
#include "apps/report/section.h"
#include "apps/report/text.h"
#include "apps/serving/calibration/benchmark_log.h"
#include "models/hardware/collectives/calibration/calibrate_machine.h"
#include "models/hardware/collectives/calibration/collective_log.h"
#include "sim/core/config.h"
#include "sim/core/params.h"

namespace foretrace::commands {
namespace {

using report::Value;

/// A plain name is a file of the config folder.
std::string machine_path(const std::string& output) {
  const bool plain =
      !output.empty() && output.find('/') == std::string::npos && !output.ends_with(".json");
  return plain ? app::config_directory() + "/clusters/" + output + ".json" : output;
}

Result<CollectiveKind> kind_called(const std::string& name) {
  std::vector<std::string_view> names;
  for (std::size_t i = 1; i < collective_kind_count; ++i) {
    names.push_back(to_string(static_cast<CollectiveKind>(i)));
    if (names.back() == name) return static_cast<CollectiveKind>(i);
  }
  return Error{ErrorCode::bad_usage, fmt::format("--collective: no collective is called {}{}",
                                                 in_quotes(name), did_you_mean(name, names))};
}

/// What a log does not say is as it was said of all. Error: it says something else.
Status fill(const MachineLogs& said, CollectiveKind kind, const std::string& path,
            CollectiveLog& log) {
  const auto other = [&path](std::string_view option, const auto& given, const auto& own) {
    return Error{ErrorCode::bad_usage,
                 fmt::format("{}: got {}, expected it beside logs that do not say it: {} says {}",
                             option, given, path, own)};
  };
  if (log.kind == CollectiveKind::none) log.kind = kind;
  if (kind != CollectiveKind::none && log.kind != kind) {
    return other("--collective", to_string(kind), to_string(log.kind));
  }
  if (log.ranks == 0) log.ranks = static_cast<std::uint32_t>(said.ranks);
  if (said.ranks > 0 && log.ranks != said.ranks) return other("--ranks", said.ranks, log.ranks);
  if (log.nodes == 0) log.nodes = static_cast<std::uint32_t>(said.nodes);
  if (said.nodes > 0 && log.nodes != said.nodes) return other("--nodes", said.nodes, log.nodes);
  return ok_status();
}

Result<std::vector<MeasuredRun>> runs_of(const MachineLogs& said) {
  CollectiveKind kind = CollectiveKind::none;
  if (!said.collective.empty()) {
    FORETRACE_TRY(kind, kind_called(said.collective));
  }
  std::vector<MeasuredRun> runs;
  for (const std::string& path : said.files) {
    FORETRACE_TRY(const std::string text, read_config_text(path));
    if (!is_collective_log(text)) {
      return Error{ErrorCode::bad_format,
                   path +
                       ": no output of nccl-tests or rccl-tests, expected the head of its table "
                       "(size, count, type, time, algbw, busbw)"};
    }
    FORETRACE_TRY(auto logs, parse_collective_logs(text, path));
    for (CollectiveLog& log : logs) {
      FORETRACE_TRY(fill(said, kind, path, log));
      std::string source = log_source(path, log.library);
      runs.push_back({std::move(log), std::move(source)});
    }
  }
  return runs;
}

report::Section curves_section(const CalibratedMachine& machine) {
  report::Table table{.key = "curves",
                      .columns = {{"collective", "collective"},
                                  {"ranks", "ranks"},
                                  {"nodes", "nodes"},
                                  {"sizes", "sizes"},
                                  {"mean_before", "before"},
                                  {"median_before", "median"},
                                  {"mean", "after"},
                                  {"median", "median"},
                                  {"p90", "90 %"}}};
  std::size_t set_aside = 0;
  std::size_t damaged = 0;
  for (const CurveErrors& one : machine.errors) {
    set_aside += one.set_aside;
    damaged += one.damaged;
    table.add({Value::words(to_string(one.kind)), Value::count(one.ranks), Value::count(one.nodes),
               Value::count(static_cast<std::int64_t>(one.before.rows)),
               Value::share(one.before.mean), Value::share(one.before.median),
               Value::share(one.held_back.mean), Value::share(one.held_back.median),
               Value::share(one.held_back.p90)});
  }
  report::Section section{.key = "curves", .tables = {std::move(table)}};
  section.headline = fmt::format(
      "{} measured; before: error of the machine's file as it was; after: error on every second "
      "size, by a curve through the others",
      report::plural(machine.errors.size(), "curve"));
  if (set_aside > 0) {
    section.notes.push_back(
        {.text = fmt::format("{} faster than the links of the machine, left out",
                             report::plural(set_aside, "size")),
         .warns = true});
  }
  if (damaged > 0) {
    section.notes.push_back(
        {.text = fmt::format("{} of the logs left out: no size can be read at the beginning",
                             report::plural(damaged, "row")),
         .warns = true});
  }
  return section;
}

}  // namespace

std::string log_source(const std::string& path, const std::string& program) {
  std::string source = std::filesystem::path(path).filename().string();
  struct stat status = {};
  std::tm day = {};
  if (stat(path.c_str(), &status) == 0 && gmtime_r(&status.st_mtime, &day) != nullptr) {
    source += fmt::format(" of {:%Y-%m-%d}", day);
  }
  return program.empty() ? source : fmt::format("{} ({})", source, program);
}

Status check_no_logs(const std::string& file) {
  FORETRACE_TRY(const std::string text, read_config_text(file));
  if (is_benchmark_log(text)) {
    return Error{ErrorCode::bad_usage,
                 file +
                     ": contains a benchmark of a serving engine, expected --engine NAME and "
                     "--model NAME beside the accelerator or cluster"};
  }
  if (!is_collective_log(text)) return ok_status();
  return Error{ErrorCode::bad_usage,
               file +
                   ": contains measured collectives, expected --cluster NAME, the machine that "
                   "they were measured on or one like it"};
}

app::Exit calibrate_machine(const MachineLogs& logs, const app::CommonOptions& common) {
  const std::string path = machine_path(logs.output);
  FORETRACE_TRY(app::check_output(path, logs.files));
  FORETRACE_TRY(const CataloguePtr known, app::catalogue());
  FORETRACE_TRY(const auto runs, runs_of(logs));
  FORETRACE_TRY(const auto machine, foretrace::calibrate_machine(*known, logs.cluster, runs));
  if (!path.empty()) {
    FORETRACE_TRY(app::write_file(path, machine.text));
  }
  if (common.json) return app::answer(machine.text);
  report::Section end{.key = "machine"};
  end.notes.push_back(
      {path.empty() ? "not written; -o FILE writes the machine" : "machine written to " + path,
       ""});
  return app::answer(
      report::Page{.sections = {curves_section(machine), std::move(end)}, .main_table = "curves"},
      common);
}

}  // namespace foretrace::commands
