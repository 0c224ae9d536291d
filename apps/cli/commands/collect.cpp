// foretrace collect: runs a program and records its device work, without a change to it.
#include <exception>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include "apps/cli/arguments/command.h"
#include "apps/cli/arguments/help.h"
#include "apps/cli/options.h"
#include "apps/cli/output/console.h"
#include "apps/cli/recordings.h"
#include "apps/cli/run_program.h"
#include "sim/core/params.h"
#include "trace/collect/settings.h"

namespace foretrace::commands::collect_parts {
namespace {

namespace fs = std::filesystem;
namespace collector = trace::collector;

using Variables = std::vector<std::pair<std::string, std::string>>;

struct Options {
  app::CommonOptions common;
  std::string out = "run.ftr";
  std::string steps;
  std::string max_size;
  bool memory = false;
  bool ranges = false;
  bool with_command = false;
  std::vector<std::string> command;
};

void say(const Options& options, const std::string& line) {
  if (!options.common.quiet) {
    app::tell("collect: " + line);
  }
}

std::string variable(const char* name) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): no threads yet
  return value == nullptr ? "" : value;
}

/// The library that goes into the program; empty if there is none, which is said.
std::string find_library(const Options& options) {
  constexpr const char* name = "libforetrace_collector.so";
  std::string library = variable("FORETRACE_COLLECTOR");
  std::error_code error;
  const fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const char* const place : {"../lib/foretrace", "../lib", "../trace", "."}) {
    const fs::path candidate = (folder / place / name).lexically_normal();
    if (library.empty() && fs::exists(candidate, error)) {
      library = candidate.string();
    }
  }
  if (library.empty()) {
    say(options,
        fmt::format("no {} (built where CUPTI is found); the program runs unrecorded", name));
    return {};
  }
  void* const loaded = ::dlopen(library.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (loaded == nullptr || ::dlsym(loaded, "InitializeInjection") == nullptr) {
    const char* const why = ::dlerror();  // NOLINT(concurrency-mt-unsafe): no threads yet
    say(options, fmt::format("{} cannot be loaded into the program: {}; it runs unrecorded",
                             library, why == nullptr ? "it is not a collector" : why));
    return {};
  }
  return fs::absolute(library).string();
}

/// A library that somebody else wants in the program; empty if there is none but ours.
std::string other_library(const char* name, const std::string& ours) {
  const std::string other = variable(name);
  std::error_code error;
  return other.empty() || fs::equivalent(other, ours, error) ? "" : other;
}

Result<std::uint64_t> most_bytes(const Options& options) {
  constexpr double least = 64.0 * 1024;
  if (options.max_size.empty()) {
    return std::uint64_t{0};
  }
  const Result<double> bytes = parse_quantity(options.max_size, ParamType::bytes);
  if (!bytes.ok() || *bytes < least) {
    return Error{ErrorCode::bad_usage,
                 fmt::format("--max-size: got '{}', expected a size of at least 64 KiB, as in "
                             "'4 GiB'",
                             options.max_size)};
  }
  return static_cast<std::uint64_t>(*bytes);
}

/// What the program finds in its environment.
Result<Variables> variables_for(const Options& options, const app::RecordingNames& names,
                                const std::string& library) {
  collector::Settings settings;
  settings.file = names.begin;
  settings.host = collector::host_name();
  settings.steps = collector::step_range_of(options.steps);
  settings.memory = options.memory;
  settings.ranges = options.ranges || settings.steps;
  settings.command = options.with_command;
  settings.stderr_file = collector::file_identity(STDERR_FILENO);
  FORETRACE_TRY(settings.most_bytes, most_bytes(options));
  if (library.empty()) {
    return Variables{};
  }
  settings.goes_first = other_library("CUDA_INJECTION64_PATH", library);
  if (!settings.goes_first.empty()) {
    say(options, fmt::format("CUDA_INJECTION64_PATH names {}, which loads first; the program runs "
                             "unrecorded if that uses CUPTI",
                             settings.goes_first));
  }
  if (const std::string other = other_library("NVTX_INJECTION64_PATH", library);
      settings.ranges && !other.empty()) {
    return Error{ErrorCode::bad_usage,
                 fmt::format("NVTX_INJECTION64_PATH names {}, which receives the ranges that "
                             "--nvtx and --steps need; expected it to be unset",
                             other)};
  }
  if (!variable("FORETRACE_COLLECT_FILE").empty()) {
    say(options, "already inside foretrace collect, which records nothing of this program");
  }
  Variables variables = collector::variables_of(settings);
  variables.emplace_back("CUDA_INJECTION64_PATH", library);
  if (settings.ranges) {
    variables.emplace_back("NVTX_INJECTION64_PATH", library);
  }
  return variables;
}

std::string processes(std::size_t count) {
  return count == 1 ? "1 process" : fmt::format("{} processes", count);
}

/// Tells what there is.
void tell_end(const Options& options, const app::RecordingNames& names,
              const app::Gathered& gathered) {
  if (!gathered.unrecorded.empty()) {
    say(options, fmt::format("{} used CUDA and could not be recorded: {}",
                             processes(gathered.unrecorded.size()), gathered.unrecorded.front()));
  }
  for (const std::string& warning : gathered.warnings) {
    say(options, warning);
  }
  if (gathered.files.empty()) {
    const std::string old = names.out_before ? names.out + " is of an earlier run" : "";
    const std::string none = gathered.unrecorded.empty()
                                 ? "no process of the program used CUDA, nothing was recorded"
                                 : "";
    if (!old.empty() || !none.empty()) {
      say(options, none + (old.empty() || none.empty() ? "" : "; ") + old);
    }
    return;
  }
  if (gathered.out_was_taken) {
    say(options, fmt::format("another program wrote {} meanwhile; it stays", names.out));
  }
  if (gathered.idle > 0) {
    say(options, fmt::format("{} did no GPU work and {} left out", processes(gathered.idle),
                             gathered.idle == 1 ? "is" : "are"));
  }
  const std::size_t count = gathered.files.size();
  const std::string& first = gathered.files.front();
  say(options, fmt::format("recorded {} in {} ({:.2f} MB){}", processes(count),
                           count == 1 ? first : first + " and others",
                           static_cast<double>(gathered.bytes) / 1e6,
                           gathered.manifest.empty() ? "" : ", listed in " + gathered.manifest));
}

/// Whatever goes wrong here, the program has ended and its exit code counts.
void gather(const Options& options, const app::RecordingNames& names, const app::ProgramEnd& end) {
  try {
    const std::vector<std::string> none;
    tell_end(options, names,
             app::gather_recordings(names, end, options.with_command ? options.command : none));
  } catch (const std::exception& problem) {
    say(options, fmt::format("{}; the recordings are {}.*", problem.what(), names.begin));
  }
}

Result<app::ProgramEnd> record(const Options& options) {
  if (!options.steps.empty() && !collector::step_range_of(options.steps)) {
    return Error{ErrorCode::bad_usage,
                 fmt::format("--steps: got '{}', expected FIRST:LAST, as in 10:12", options.steps)};
  }
  FORETRACE_TRY(const auto names, app::name_recordings(options.out, options.command));
  const std::string library = find_library(options);
  FORETRACE_TRY(const Variables variables, variables_for(options, names, library));
  FORETRACE_TRY(const app::ProgramEnd end, app::run_program(options.command, variables));
  if (!library.empty()) gather(options, names, end);
  return end;
}

app::Exit run(const Options& options) {
  try {
    FORETRACE_TRY(const app::ProgramEnd end, record(options).with_context("collect"));
    return app::end_like(end);
  } catch (const std::exception& problem) {
    return Error{ErrorCode::io, fmt::format("collect: {}", problem.what())};
  }
}

void declare(app::Arguments& cli, Options& options) {
  cli.add_option("COMMAND", options.command, "the program and its arguments, behind --").required();
  cli.add_option("-o,--output", options.out,
                 "the recording (run.ftr); several processes write run.ID.PID.ftr each, listed in "
                 "run.ftr.json");
  cli.add_option("--steps", options.steps,
                 "record steps FIRST:LAST only, counted from 0: NVTX ranges \"step 3\", else from "
                 "one \"Optimizer.step...\" (emit_nvtx) to the next; a program with neither "
                 "records nothing, and a message says so");
  cli.add_flag("--memory", options.memory, "also record allocations and frees");
  cli.add_flag("--nvtx", options.ranges, "also record NVTX ranges");
  cli.add_option("--max-size", options.max_size,
                 "stop recording a process before its file is larger, such as '4 GiB'")
      .type_name("SIZE");
  cli.add_flag("--with-command", options.with_command,
               "store the command line in the recording, with any secrets in it");
  cli.add_flag("-q,--quiet", options.common.quiet,
               "print nothing besides the output of the program");
  cli.add_examples({{"foretrace collect -o run.ftr --nvtx -- python train.py --epochs 1",
                     "runs it as it is and records its kernels, copies, calls and ranges"},
                    {"foretrace collect --steps 10:12 -- torchrun --nproc-per-node 8 train.py",
                     "a file per rank, to be read together"}});
}

}  // namespace

extern constexpr CommandInfo info = {"collect", app::Group::record,
                                     "run a program and record its GPU work (CUPTI)",
                                     app::set_up<Options, declare, run>, app::exit_collect_failed};

}  // namespace foretrace::commands::collect_parts
