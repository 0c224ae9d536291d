// foretrace export: a scenario for other simulators.
#include <cerrno>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "apps/cli/arguments/command.h"
#include "apps/cli/arguments/help.h"
#include "apps/cli/names/configs.h"
#include "apps/cli/options.h"
#include "apps/cli/output/answers.h"
#include "apps/cli/output/busy.h"
#include "apps/cli/output/console.h"
#include "apps/cli/output/outputs.h"
#include "apps/plans/chakra_job.h"
#include "apps/report/section.h"
#include "apps/report/text.h"
#include "models/jobs/scenario/scenario.h"

namespace foretrace::commands::export_scenario_parts {
namespace {

using report::Value;

struct Options {
  app::CommonOptions common;
  std::string scenario;
  std::string chakra;
};

/// Written last: a folder with ranks and without it was cut off.
constexpr std::string_view last_file = "comm_group.json";

/// A folder with an older export, links or files of others would end as a mixture.
Status check_folder(const std::string& folder) {
  std::error_code failed;
  bool has_ranks = false;
  bool is_whole = false;
  for (std::filesystem::directory_iterator entry(folder, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    const std::string name = entry->path().filename().string();
    is_whole |= name == last_file;
    has_ranks |= name.starts_with("rank.") && name.ends_with(".et");
  }
  if (!has_ranks && !is_whole) return ok_status();
  return Error{
      ErrorCode::io,
      fmt::format("export: '{}' contains {}, expected a folder without an export, or a new one",
                  folder, is_whole ? "an export already" : "an interrupted export")};
}

/// The files of an export; one that fails takes back what it wrote.
class ExportFolder {
 public:
  explicit ExportFolder(const std::string& path) : path_(path) {}
  ExportFolder(const ExportFolder&) = delete;
  ExportFolder& operator=(const ExportFolder&) = delete;
  ~ExportFolder() {
    std::error_code ignored;
    for (const std::string& each : written_) std::filesystem::remove(each, ignored);
    if (is_new_) std::filesystem::remove(path_, ignored);
  }

  /// Before the work.
  [[nodiscard]] Status open() {
    FORETRACE_TRY(check_folder(path_));
    std::error_code failed;
    is_new_ = std::filesystem::create_directories(path_, failed);
    if (!failed && ::access(path_.c_str(), W_OK | X_OK) != 0) {
      failed = {errno, std::system_category()};
    }
    if (!failed) return ok_status();
    return Error{ErrorCode::io, fmt::format("cannot write to '{}': {}", path_, failed.message())};
  }
  [[nodiscard]] Status write(const std::string& name, const std::string& text) {
    const std::string path = (std::filesystem::path(path_) / name).string();
    Status status = app::write_file(path, text);
    if (status.ok()) written_.push_back(path);
    return status;
  }
  void keep() {
    written_.clear();
    is_new_ = false;
  }

 private:
  const std::string& path_;
  std::vector<std::string> written_{};
  bool is_new_ = false;
};

Result<ChakraExport> export_to(const Options& options) {
  FORETRACE_TRY(const CataloguePtr known, app::catalogue());
  if (!is_scenario_file(options.scenario)) {
    return Error{ErrorCode::bad_config,
                 fmt::format("export: '{}' is not a scenario (see configs/scenarios); foretrace "
                             "convert writes recordings",
                             options.scenario)};
  }
  FORETRACE_TRY(const auto scenario, read_scenario_of_alike_ranks(*known, options.scenario));
  ExportFolder folder(options.chakra);
  FORETRACE_TRY(folder.open());
  const auto write = [&folder](const std::string& name, const std::string& text) {
    return folder.write(name, text);
  };
  auto exported = app::while_busy(options.common, "writing ranks",
                                  [&] { return export_chakra(scenario, write); });
  if (exported.ok()) folder.keep();
  return exported;
}

report::Page page(const Options& options, const ChakraExport& result) {
  report::Section section{
      .key = "exported",
      .headline = fmt::format("wrote {} of Chakra to {} ({}, {:.2f} MB)",
                              report::plural(result.ranks, "rank"), options.chakra,
                              report::plural(result.nodes, "node"),
                              static_cast<double>(result.bytes) / 1e6)};
  section.datum("path", Value::words(options.chakra));
  section.datum("format", Value::words("chakra_et"));
  section.datum("ranks", Value::count(result.ranks));
  section.datum("groups", Value::count(result.groups));
  section.datum("nodes", Value::count(result.nodes));
  section.datum("bytes", Value::count(result.bytes));
  section.line("ranks",
               "rank.0.et, rank.1.et, ...: computation with its predicted time, "
               "communication with its bytes");
  section.line("groups", fmt::format("comm_group.json: {} of ranks that communicate",
                                     report::plural(result.groups, "group")));
  for (const std::string& difference : result.differences) {
    section.line("read back", difference);
  }
  if (result.differences.empty()) {
    section.line("read back", "as long as the scenario on its cluster, within 2 %");
  }
  return {.sections = {std::move(section)}};
}

app::Exit run(const Options& options) {
  const auto result = export_to(options);
  FORETRACE_TRY(result);
  return app::answer(page(options, *result), options.common);
}

void declare(app::Arguments& cli, Options& options) {
  cli.add_option("SCENARIO", options.scenario, "a job on a cluster (see configs/scenarios)")
      .required();
  cli.add_option("--chakra", options.chakra,
                 "write a Chakra execution trace of every rank into this folder, for ASTRA-sim")
      .required();
  app::add_common(cli, options.common);
  cli.add_examples(
      {{"foretrace export configs/scenarios/gpt3_175b_selene.json --chakra gpt3",
        "gpt3/rank.0.et to rank.63.et, and the groups of ranks in gpt3/comm_group.json"}});
}

}  // namespace

extern constexpr CommandInfo info = {"export", app::Group::record,
                                     "write a scenario for other simulators",
                                     app::set_up<Options, declare, run>};

}  // namespace foretrace::commands::export_scenario_parts
