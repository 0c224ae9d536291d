#include "apps/cli/dask_sweep.h"

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "apps/cli/names/configs.h"
#include "apps/cli/run_program.h"
#include "sim/core/config.h"

namespace foretrace::app {
namespace {

namespace fs = std::filesystem;

/// An empty file for what Python answers; removed in the end.
class AnswerFile {
 public:
  AnswerFile() : path_((fs::temp_directory_path(error_) / "foretrace-sweep-XXXXXX").string()) {
    const int file = ::mkstemp(path_.data());
    if (file < 0) {
      error_ = {errno, std::generic_category()};
    } else {
      ::close(file);
    }
  }
  AnswerFile(const AnswerFile&) = delete;
  AnswerFile& operator=(const AnswerFile&) = delete;
  ~AnswerFile() { fs::remove(path_, error_); }

  [[nodiscard]] const std::error_code& error() const { return error_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] bool is_empty() const {
    std::error_code error;
    return fs::file_size(path_, error) == 0 || error;
  }

 private:
  std::error_code error_;
  std::string path_;
};

std::string python() {
  std::error_code error;
  // The system's Python rather than whatever comes first on the path: the package is built for it.
  return fs::exists("/usr/bin/python3", error) ? "/usr/bin/python3" : "python3";
}

/// Where Python finds the package: what the user says, then the build tree of this program, then
/// where it is installed.
std::string search_path() {
  std::error_code error;
  const fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
  // NOLINTNEXTLINE(concurrency-mt-unsafe): no threads yet
  const char* const given = std::getenv("PYTHONPATH");
  std::string path = given == nullptr ? "" : given;
  const fs::path built = (folder / "../python").lexically_normal();
  if (fs::exists(built / "foretrace" / "__init__.py", error)) {
    if (!path.empty()) path += ':';
    path += built.string();
  }
  return path;
}

Result<DaskEnd> read_answer(const std::string& path) {
  FORETRACE_TRY(const auto document, read_config(path, "foretrace.sweep_run/1"));
  ConfigFields fields(document, path);
  std::string problem;
  fields.optional_text("error", problem);
  if (!problem.empty()) return Error{ErrorCode::bad_config, problem};
  DaskEnd end;
  const auto count = [&](std::string_view key, std::uint64_t& out) {
    double number = 0;
    fields.quantity(key, ParamType::integer, number);
    out = static_cast<std::uint64_t>(number);
  };
  count("points", end.run.points);
  count("found", end.run.found);
  count("old_rows", end.run.old_rows);
  count("reused", end.run.reused);
  count("computed", end.run.computed);
  count("unwanted", end.run.unwanted);
  fields.quantity("seconds", ParamType::number, end.run.seconds);
  fields.texts("doubts", end.run.doubts);
  FORETRACE_TRY(fields.finish());
  return end;
}

}  // namespace

Result<DaskEnd> run_dask_sweep(const DaskSweep& sweep) {
  const AnswerFile answer;
  if (answer.error()) {
    return Error{ErrorCode::io, fmt::format("sweep: cannot write '{}': {}", answer.path(),
                                            answer.error().message())};
  }
  std::vector<std::string> command = {
      python(),     "-W",        "ignore",      "-m",       "foretrace.dask_sweep", sweep.path,
      sweep.folder, "--address", sweep.address, "--answer", answer.path()};
  if (sweep.fresh) command.emplace_back("--fresh");
  if (sweep.shows_progress) command.emplace_back("--progress");
  FORETRACE_TRY(const auto end, run_program(command, {{"PYTHONPATH", search_path()},
                                                      {"FORETRACE_CONFIGS", config_directory()}})
                                    .with_context("sweep"));
  if (!answer.is_empty()) return read_answer(answer.path());
  constexpr int interrupted = 130;
  if (end.signal != 0 || end.code == interrupted) {
    return DaskEnd{.was_interrupted = true, .code = end_like(end), .run = {}};
  }
  return Error{ErrorCode::unsupported,
               fmt::format("sweep: --dask: {} cannot run the package foretrace, expected it on "
                           "PYTHONPATH (`make python` builds it)",
                           python())};
}

}  // namespace foretrace::app
