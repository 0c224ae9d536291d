// foretrace collect: runs a program and records its device work, without a change to it.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apps/cli/command.h"
#include "apps/cli/console.h"
#include "apps/cli/help.h"
#include "apps/cli/options.h"
#include "apps/cli/run_program.h"
#include "apps/report/text.h"
#include "trace/collect/recording.h"
#include "trace/collect/settings.h"
#include "trace/collect/step_report.h"
#include "trace/ftr/texts.h"

namespace foretrace::commands {
namespace {

namespace fs = std::filesystem;
namespace collector = trace::collector;

struct Options {
  app::CommonOptions common;
  std::string out = "run.ftr";
  std::string steps;
  bool memory = false;
  bool ranges = false;
  std::vector<std::string> command;
};

/// "dir/run.%p.ftr" for "dir/run.ftr": programs may change their folder.
std::string pattern_of(const std::string& out) {
  const fs::path path = fs::absolute(out).lexically_normal();
  const std::string suffix = path.extension() == ".ftr" ? ".ftr" : "";
  const std::string stem = suffix.empty() ? path.filename().string() : path.stem().string();
  return (path.parent_path() / (stem + ".%p.ftr")).string();
}

/// The files of the pattern, by name.
std::vector<fs::path> files_of(const std::string& pattern) {
  const fs::path path(pattern);
  const std::string name = path.filename().string();
  const std::size_t mark = name.rfind("%p");
  const std::string begin = name.substr(0, mark);
  const std::string end = name.substr(mark + 2);
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator at(path.parent_path(), error), last; !error && at != last;
       at.increment(error)) {
    const std::string other = at->path().filename().string();
    const bool fits = other.size() > begin.size() + end.size() && other.starts_with(begin) &&
                      other.ends_with(end);
    const std::string number =
        fits ? other.substr(begin.size(), other.size() - begin.size() - end.size()) : "";
    if (!number.empty() && number.find_first_not_of("0123456789") == std::string::npos) {
      files.push_back(at->path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// The library that goes into the program; empty if there is none.
std::string find_library() {
  constexpr const char* name = "libforetrace_collector.so";
  // NOLINTNEXTLINE(concurrency-mt-unsafe): no threads yet
  if (const char* const given = std::getenv("FORETRACE_COLLECTOR"); given != nullptr) {
    return given;
  }
  std::error_code error;
  const fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const char* const place : {"../lib/foretrace", "../lib", "../trace", "."}) {
    const fs::path candidate = (folder / place / name).lexically_normal();
    if (fs::exists(candidate, error)) {
      return candidate.string();
    }
  }
  return {};
}

std::vector<std::pair<std::string, std::string>> variables_for(const Options& options,
                                                               const std::string& library) {
  collector::Settings settings;
  settings.file = pattern_of(options.out);
  settings.steps = collector::step_range_of(options.steps);
  settings.memory = options.memory;
  settings.ranges = options.ranges || settings.steps;
  auto variables = collector::variables_of(settings);
  variables.emplace_back("CUDA_INJECTION64_PATH", library);
  if (settings.ranges) {
    variables.emplace_back("NVTX_INJECTION64_PATH", library);
  }
  return variables;
}

void say(const Options& options, const std::string& line) {
  if (!options.common.quiet) {
    fmt::print(stderr, "foretrace: {}\n", line);
  }
}

/// What was recorded, for people and programs: run.ftr.json.
void write_manifest(const Options& options, const std::vector<fs::path>& files,
                    const app::ProgramEnd& end) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  std::error_code error;
  for (const fs::path& file : files) {
    list.push_back({{"path", file.filename().string()}, {"bytes", fs::file_size(file, error)}});
    const std::int64_t rank = trace::ftr::number_of(collector::facts_of_file(file), "rank", -1);
    if (rank >= 0) {
      list.back()["rank"] = rank;
    }
  }
  const nlohmann::ordered_json document = {
      {"foretrace", "collect"},
      {"command", options.command},
      {"exit_code", end.signal == 0 ? nlohmann::ordered_json(end.code) : nullptr},
      {"signal", end.signal == 0 ? nullptr : nlohmann::ordered_json(end.signal)},
      {"files", std::move(list)}};
  const Status written = app::write_file(
      options.out + ".json", [&](const std::function<bool(std::string_view)>& sink) -> Status {
        static_cast<void>(sink(document.dump(2) + "\n"));
        return ok_status();
      });
  if (!written.ok()) {
    say(options, "collect: " + written.error().message);
  }
}

/// Names the only recording as the user asked; tells what there is.
void gather(const Options& options, const app::ProgramEnd& end) {
  std::vector<fs::path> files = files_of(pattern_of(options.out));
  if (files.empty()) {
    say(options, "collect: no process of the program used CUDA, nothing was recorded");
    return;
  }
  std::error_code error;
  if (files.size() == 1) {
    fs::rename(files.front(), options.out, error);
    files.front() = error ? files.front() : fs::path(options.out);
  }
  std::uintmax_t bytes = 0;
  for (const fs::path& file : files) {
    bytes += fs::file_size(file, error);
    // Where nothing was recorded, the file is so short that its end is read too.
    const std::string missing = collector::step_warning(collector::facts_of_file(file));
    if (!missing.empty()) {
      say(options, fmt::format("collect: {}: {}", file.filename().string(), missing));
    }
  }
  write_manifest(options, files, end);
  say(options,
      fmt::format(
          "collect: recorded {} in {} ({:.2f} MB), listed in {}.json",
          files.size() == 1 ? std::string("1 process") : fmt::format("{} processes", files.size()),
          files.size() == 1 ? files.front().string() : files.front().string() + " and others",
          static_cast<double>(bytes) / 1e6, options.out));
}

Status check(const Options& options) {
  if (!options.steps.empty() && !collector::step_range_of(options.steps)) {
    return Error{
        ErrorCode::bad_usage,
        fmt::format("collect: --steps: got '{}', expected FIRST:LAST, as in 10:12", options.steps)};
  }
  const fs::path folder = fs::absolute(options.out).parent_path();
  std::error_code error;
  if (!fs::is_directory(folder, error)) {
    return Error{ErrorCode::bad_usage,
                 fmt::format("collect: '{}': no such folder to write to", folder.string())};
  }
  return ok_status();
}

int run(const Options& options) {
  app::start_logging(options.common);
  if (const Status status = check(options); !status.ok()) {
    static_cast<void>(app::failure(status.error()));
    return app::exit_collect_failed;
  }
  const std::string library = find_library();
  if (library.empty()) {
    say(options,
        "collect: no libforetrace_collector.so (built where CUPTI is found); the program runs "
        "unrecorded");
  }
  for (const fs::path& stale : files_of(pattern_of(options.out))) {
    std::error_code error;
    fs::remove(stale, error);  // process ids come back; a recording must not mix with another
  }
  const Result<app::ProgramEnd> end = app::run_program(
      options.command, library.empty() ? std::vector<std::pair<std::string, std::string>>{}
                                       : variables_for(options, library));
  if (!end.ok()) {
    static_cast<void>(app::failure(end.error()));
    return app::exit_collect_failed;
  }
  if (!library.empty()) {
    gather(options, *end);
  }
  return app::end_like(*end);
}

std::function<int()> setup(app::Arguments& cli) {
  const auto options = std::make_shared<Options>();
  cli.add_option("COMMAND", options->command, "the program and its arguments, behind --")
      .required();
  cli.add_option("-o,--output", options->out,
                 "the recording (run.ftr); several processes write run.PID.ftr each");
  cli.add_option("--steps", options->steps,
                 "record steps FIRST:LAST only, counted from 0: NVTX ranges \"step 3\", else from "
                 "one \"Optimizer.step...\" (emit_nvtx) to the next; a program with neither "
                 "records nothing, which is said");
  cli.add_flag("--memory", options->memory, "record allocations and releases too");
  cli.add_flag("--nvtx", options->ranges, "record ranges of NVTX too");
  cli.add_flag("-q,--quiet", options->common.quiet, "say nothing beside the program");
  constexpr app::Example examples[] = {
      {"foretrace collect -o run.ftr --nvtx -- python train.py --epochs 1",
       "runs it as it is and records its kernels, copies, calls and ranges"},
      {"foretrace collect --steps 10:12 -- torchrun --nproc-per-node 8 train.py",
       "a file per rank, to be read together"}};
  cli.add_examples(examples);
  return [options] { return run(*options); };
}

}  // namespace

extern const CommandInfo collect;
const CommandInfo collect = {"collect", "runs a program and records its device work (CUPTI)", setup,
                             app::exit_collect_failed};

}  // namespace foretrace::commands
