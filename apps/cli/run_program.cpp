#include "apps/cli/run_program.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace foretrace::app {
namespace {

// A shell's key presses reach the program by themselves; what is sent to us alone is passed on.
constexpr std::array passed_on = {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
constexpr std::array from_terminal = {SIGINT, SIGQUIT};

std::atomic<pid_t> running{0};

extern "C" void pass_on(int signal) {
  const int before = errno;
  if (const pid_t child = running.load(); child > 0) {
    ::kill(child, signal);
  }
  errno = before;
}

/// Takes signals while the program runs, and gives them back.
class Signals {
 public:
  Signals() {
    struct sigaction action {};
    action.sa_handler = pass_on;
    action.sa_flags = SA_RESTART;
    for (std::size_t i = 0; i < passed_on.size(); ++i) {
      ::sigaction(passed_on[i], &action, &before_[i]);
    }
    action.sa_handler = SIG_IGN;
    for (std::size_t i = 0; i < from_terminal.size(); ++i) {
      ::sigaction(from_terminal[i], &action, &terminal_before_[i]);
    }
  }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;
  ~Signals() { restore(); }
  /// Also in the child, before it becomes the program.
  void restore() {
    for (std::size_t i = 0; i < passed_on.size(); ++i) {
      ::sigaction(passed_on[i], &before_[i], nullptr);
    }
    for (std::size_t i = 0; i < from_terminal.size(); ++i) {
      ::sigaction(from_terminal[i], &terminal_before_[i], nullptr);
    }
  }

 private:
  std::array<struct sigaction, passed_on.size()> before_{};
  std::array<struct sigaction, from_terminal.size()> terminal_before_{};
};

Error cannot_run(const std::string& program, int error_number) {
  return Error{ErrorCode::io, fmt::format("collect: cannot run '{}': {}", program,
                                          std::generic_category().message(error_number))};
}

// Becomes the program; what goes wrong is told through the pipe.
[[noreturn]] void become(const std::vector<char*>& arguments, Signals& signals, int pipe_end) {
  signals.restore();
  // This program ignores it, so that a closed pipe is met by a write.
  static_cast<void>(std::signal(SIGPIPE, SIG_DFL));
  ::execvp(arguments.front(), arguments.data());
  const int problem = errno;
  static_cast<void>(::write(pipe_end, &problem, sizeof problem));
  ::_exit(127);
}

}  // namespace

Result<ProgramEnd> run_program(const std::vector<std::string>& command,
                               const std::vector<std::pair<std::string, std::string>>& variables) {
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (const std::string& word : command) {
    arguments.push_back(const_cast<char*>(word.c_str()));  // execvp does not write to it
  }
  arguments.push_back(nullptr);
  for (const auto& [name, value] : variables) {
    ::setenv(name.c_str(), value.c_str(), 1);  // NOLINT(concurrency-mt-unsafe): no threads yet
  }
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return cannot_run(command.front(), errno);
  }
  Signals signals;
  const pid_t child = ::fork();
  if (child == 0) {
    become(arguments, signals, ends[1]);
  }
  const int fork_problem = errno;
  ::close(ends[1]);
  if (child < 0) {
    ::close(ends[0]);
    return cannot_run(command.front(), fork_problem);
  }
  running = child;
  int problem = 0;
  ssize_t got = 0;
  do {
    got = ::read(ends[0], &problem, sizeof problem);  // ends when the child became the program
  } while (got < 0 && errno == EINTR);
  ::close(ends[0]);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  running = 0;
  if (got == static_cast<ssize_t>(sizeof problem)) {
    return cannot_run(command.front(), problem);
  }
  return WIFSIGNALED(status) ? ProgramEnd{0, WTERMSIG(status)} : ProgramEnd{WEXITSTATUS(status), 0};
}

int end_like(const ProgramEnd& end) {
  if (end.signal == 0) {
    return end.code;
  }
  // The program left its core file, if any; a second one of ours would only replace it.
  const struct rlimit none {};
  static_cast<void>(::setrlimit(RLIMIT_CORE, &none));
  static_cast<void>(std::signal(end.signal, SIG_DFL));
  ::raise(end.signal);
  return 128 + end.signal;  // a signal that does not end us
}

}  // namespace foretrace::app
