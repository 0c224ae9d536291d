// Answers, errors, logs, progress.
#include "apps/cli/console.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

namespace foretrace::app {
namespace {

std::string reason(int error) {
  std::string text(256, '\0');
  // The GNU variant may return a text of its own instead of the buffer.
  return {strerror_r(error, text.data(), text.size())};
}

bool write_all(std::FILE* file, std::string_view text) {
  return std::fwrite(text.data(), 1, text.size(), file) == text.size();
}

// The bar appears late and moves rarely: short loads stay calm.
constexpr auto bar_patience = std::chrono::milliseconds(500);
constexpr auto bar_pace = std::chrono::milliseconds(100);
constexpr std::uint64_t bar_width = 40;

/// True once a bar was drawn and not removed.
bool& bar_is_shown() {
  static bool shown = false;
  return shown;
}

}  // namespace

void start_logging(const CommonOptions& options) {
  auto logger = std::make_shared<spdlog::logger>("foretrace",
                                                 std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_pattern("foretrace: %l: %v");
  logger->set_level(options.quiet ? spdlog::level::err
                                  : spdlog::level::from_str(options.log_level));
  spdlog::set_default_logger(std::move(logger));
}

int answer(std::string_view text, ExitCode code) {
  clear_progress();
  errno = 0;
  if (write_all(stdout, text) && std::fflush(stdout) == 0) {
    return code;
  }
  return failure({ErrorCode::io, "standard output: " + reason(errno)});
}

int failure(const Error& error) {
  clear_progress();
  std::string line = error.message;
  std::replace(line.begin(), line.end(), '\n', ' ');
  fmt::print(stderr, "foretrace: {}\n", line);
  return error.code == ErrorCode::no_match ? exit_answer_is_no : exit_bad_input;
}

Status write_file(
    const std::string& path,
    const std::function<Status(const std::function<bool(std::string_view)>& sink)>& fill) {
  const auto broken = [&path](int error) {
    return Error{ErrorCode::io, fmt::format("cannot write '{}': {}", path, reason(error))};
  };
  std::FILE* const file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) {
    return broken(errno);
  }
  int error = 0;
  const Status filled = fill([&](std::string_view text) {
    if (!write_all(file, text)) {
      error = errno;
    }
    return error == 0;
  });
  if (error == 0 && std::fflush(file) != 0) {
    error = errno;
  }
  struct stat status {};
  const bool is_regular = fstat(fileno(file), &status) == 0 && S_ISREG(status.st_mode);
  if (std::fclose(file) != 0 && error == 0) {
    error = errno;
  }
  if (error == 0 && filled.ok()) {
    return ok_status();
  }
  if (is_regular) {
    // Half a file is worse than none.
    static_cast<void>(std::remove(path.c_str()));
  }
  return error != 0 ? Status(broken(error)) : Status(filled.error());
}

std::function<void(std::uint64_t, std::uint64_t)> progress_bar(const CommonOptions& options,
                                                               std::string title) {
  using Clock = std::chrono::steady_clock;
  if (options.quiet || isatty(STDERR_FILENO) != 1) {
    return {};
  }
  return [title = std::move(title), next = Clock::now() + bar_patience](
             std::uint64_t done, std::uint64_t size) mutable {
    const auto now = Clock::now();
    if (now < next) {
      return;
    }
    next = now + bar_pace;
    bar_is_shown() = true;
    if (size == 0) {
      fmt::print(stderr, "\r\033[K{}  {:.1f} MB", title, static_cast<double>(done) / 1e6);
    } else {
      const std::uint64_t filled = std::min(bar_width, bar_width * done / size);
      fmt::print(stderr, "\r\033[K{}  [{:=<{}}{: <{}}] {:3} %", title, "", filled, "",
                 bar_width - filled, std::min<std::uint64_t>(100, 100 * done / size));
    }
    static_cast<void>(std::fflush(stderr));
  };
}

void clear_progress() {
  if (bar_is_shown()) {
    fmt::print(stderr, "\r\033[K");
    static_cast<void>(std::fflush(stderr));
    bar_is_shown() = false;
  }
}

}  // namespace foretrace::app
