// Answers, errors, logs, progress.
#include "apps/cli/output/console.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <memory>
#include <mutex>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include "apps/cli/output/as_typed.h"
#include "sim/core/hidden_text.h"
#include "trace/io/text.h"

namespace foretrace::app {
namespace {

constexpr std::size_t longest_message = 4000;

std::string reason(int error) { return std::generic_category().message(error); }

/// What cannot be written to stderr is lost, without a word and without an exception.
void to_stderr(std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t done = ::write(STDERR_FILENO, text.data(), text.size());
    if (done < 0 && errno != EINTR) return;
    text.remove_prefix(done < 0 ? 0 : static_cast<std::size_t>(done));
  }
}

/// The length of a colour of ours (TextStyle) at the start, on a terminal.
std::size_t own_style(std::string_view at) {
  for (const std::string_view style : {"\033[1m", "\033[33m", "\033[0m"}) {
    if (at.starts_with(style)) return isatty(STDOUT_FILENO) == 1 ? style.size() : 0;
  }
  return 0;
}

/// Names come from files that anybody may have made: nothing in them reaches a terminal as a
/// command.
std::string printable(std::string_view text) {
  std::string page;
  page.reserve(text.size());
  while (!text.empty()) {
    const auto byte = static_cast<unsigned char>(text.front());
    const std::size_t style = own_style(text);
    const std::size_t control = hidden_length(text);
    const bool kept = style > 0 || ((byte >= 0x20 || byte == '\n') && control == 0);
    const auto length = std::max<std::size_t>({style, control, 1});
    page += kept ? text.substr(0, length) : std::string_view(" ");
    text.remove_prefix(length);
  }
  return trace::is_valid_utf8(page) ? page : with_valid_utf8(page);
}

/// Log lines like all others: "foretrace: warning: ...".
class StderrSink final : public spdlog::sinks::base_sink<std::mutex> {
 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    const auto level = spdlog::level::to_string_view(message.level);
    const std::string_view text(message.payload.data(), message.payload.size());
    clear_progress();
    tell(fmt::format("{}: {}", std::string_view(level.data(), level.size()), text));
  }
  void flush_() override {}
};

std::vector<std::string>& held_warnings() {
  static std::vector<std::string> held;
  return held;
}

void tell_warnings() {
  for (const std::string& warning : std::exchange(held_warnings(), {})) {
    spdlog::warn("{}", warning);
  }
}

bool write_all(std::FILE* file, std::string_view text) {
  return std::fwrite(text.data(), 1, text.size(), file) == text.size();
}

// The bar appears late and moves rarely: short loads stay calm.
constexpr auto bar_patience = std::chrono::milliseconds(500);
constexpr auto bar_pace = std::chrono::milliseconds(100);
constexpr std::uint64_t bar_width = 40;

/// True once a bar was drawn and not removed.
std::atomic<bool>& bar_is_shown() {
  static std::atomic<bool> shown = false;
  return shown;
}

}  // namespace

void hold_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) < 0 && errno == EBADF) {
      // Opened the wrong way round, so that using it fails as before; a program that `collect`
      // starts finds it closed.
      const int flags = (stream == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC;
      static_cast<void>(::open("/dev/null", flags));  // takes the lowest number that is free
    }
  }
}

void start_logging(const CommonOptions& options) {
  auto logger = std::make_shared<spdlog::logger>("foretrace", std::make_shared<StderrSink>());
  logger->set_level(options.quiet ? spdlog::level::err
                                  : spdlog::level::from_str(options.log_level));
  spdlog::set_default_logger(std::move(logger));
}

void warn_with_answer(std::string warning) { held_warnings().push_back(std::move(warning)); }

int answer(std::string_view text, ExitCode code) {
  clear_progress();
  tell_warnings();
  errno = 0;
  if (write_all(stdout, printable(text)) && std::fflush(stdout) == 0) return code;
  if (errno == EPIPE) {
    // The reader has seen enough (`| head`): end as every filter does, without a word.
    static_cast<void>(std::signal(SIGPIPE, SIG_DFL));
    static_cast<void>(std::raise(SIGPIPE));
  }
  return failure({ErrorCode::io, "standard output: " + reason(errno)});
}

void tell(std::string_view message) noexcept {
  try {
    to_stderr("foretrace: " + trace::shortened(message, longest_message) + "\n");
  } catch (...) {
    to_stderr("foretrace: out of memory\n");
  }
}

int failure(const Error& error) {
  clear_progress();
  const bool is_answer = error.code == ErrorCode::no_match;
  if (is_answer) tell_warnings();
  tell(as_typed(error.message));
  return is_answer ? exit_answer_is_no : exit_bad_input;
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
    if (now < next) return;
    next = now + bar_pace;
    if (size == 0) {
      show_progress(fmt::format("{}  {:.1f} MB", title, static_cast<double>(done) / 1e6));
    } else {
      const std::uint64_t filled = std::min(bar_width, bar_width * done / size);
      show_progress(fmt::format("{}  [{:=<{}}{: <{}}] {:3} %", title, "", filled, "",
                                bar_width - filled,
                                std::min<std::uint64_t>(100, 100 * done / size)));
    }
  };
}

void show_progress(std::string_view line) {
  bar_is_shown() = true;
  to_stderr(fmt::format("\r\033[K{}", line));
}

void clear_progress() {
  if (bar_is_shown().exchange(false)) {
    to_stderr("\r\033[K");
  }
}

}  // namespace foretrace::app
