#include "apps/cli/run_program.h"

#include <algorithm>
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

// Whatever asks the program to do something; the rest would only stop us.
constexpr std::array passed_on = {SIGTERM, SIGHUP,  SIGINT,  SIGQUIT,   SIGUSR1,
                                  SIGUSR2, SIGALRM, SIGXCPU, SIGVTALRM, SIGPROF};
constexpr std::array of_terminal = {SIGINT, SIGQUIT, SIGHUP};
constexpr std::array of_writes = {SIGPIPE, SIGXFSZ};

using Actions = std::array<struct sigaction, passed_on.size()>;

std::atomic<pid_t> running{0};
// As this program was started with.
std::array<struct sigaction, of_writes.size()> writes_before{};

extern "C" void pass_on(int signal, siginfo_t* info, void* /*context*/) {
  const int before = errno;
  const bool is_key =
      info->si_code == SI_KERNEL &&
      std::find(of_terminal.begin(), of_terminal.end(), signal) != of_terminal.end();
  // The terminal has sent its key to the program too.
  if (const pid_t child = running.load(); child > 0 && !is_key) {
    ::kill(child, signal);
  }
  errno = before;
}

/// Takes signals while the program runs, and gives them back. Those that come before the program is
/// there are held until it is.
class Signals {
 public:
  Signals() {
    sigset_t held;
    ::sigemptyset(&held);
    struct sigaction action {};
    action.sa_sigaction = pass_on;
    action.sa_flags = SA_RESTART | SA_SIGINFO;
    for (const int signal : passed_on) {
      ::sigaddset(&held, signal);
    }
    ::pthread_sigmask(SIG_BLOCK, &held, &mask_before_);
    for (std::size_t i = 0; i < passed_on.size(); ++i) {
      ::sigaction(passed_on[i], &action, &before_[i]);
    }
    // Where nobody waits for children they vanish, and their exit codes with them.
    struct sigaction ordinary {};
    ordinary.sa_handler = SIG_DFL;
    ::sigaction(SIGCHLD, &ordinary, &child_before_);
  }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;
  ~Signals() { restore(); }

  void release() const { ::pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr); }
  /// Also in the child, before it becomes the program.
  void restore() const {
    for (std::size_t i = 0; i < passed_on.size(); ++i) {
      ::sigaction(passed_on[i], &before_[i], nullptr);
    }
    ::sigaction(SIGCHLD, &child_before_, nullptr);
    release();
  }

 private:
  Actions before_{};
  struct sigaction child_before_ {};
  sigset_t mask_before_{};
};

Error cannot_run(const std::string& program, int error_number) {
  return Error{ErrorCode::io, fmt::format("cannot run '{}': {}", program,
                                          std::generic_category().message(error_number))};
}

// Becomes the program; what goes wrong is told through the pipe.
[[noreturn]] void become(const std::vector<char*>& arguments, const Signals& signals,
                         int pipe_end) {
  for (std::size_t i = 0; i < of_writes.size(); ++i) {
    ::sigaction(of_writes[i], &writes_before[i], nullptr);
  }
  signals.restore();
  ::execvp(arguments.front(), arguments.data());
  const int problem = errno;
  static_cast<void>(::write(pipe_end, &problem, sizeof problem));
  ::_exit(127);
}

}  // namespace

void ignore_write_signals() {
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  for (std::size_t i = 0; i < of_writes.size(); ++i) {
    ::sigaction(of_writes[i], &ignore, &writes_before[i]);
  }
}

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
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return cannot_run(command.front(), errno);
  const Signals signals;
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
  signals.release();
  int problem = 0;
  ssize_t got = 0;
  do {
    got = ::read(ends[0], &problem, sizeof problem);  // ends when the child became the program
  } while (got < 0 && errno == EINTR);
  ::close(ends[0]);
  // Its number stays taken until it is waited for: no signal of ours meets another process.
  siginfo_t ended{};
  while (::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT) < 0 &&
         errno == EINTR) {
  }
  running = 0;
  int status = 0;
  if (::waitpid(child, &status, 0) < 0) {
    return Error{ErrorCode::io, fmt::format("cannot find out how '{}' ended: {}", command.front(),
                                            std::generic_category().message(errno))};
  }
  if (got == static_cast<ssize_t>(sizeof problem)) return cannot_run(command.front(), problem);
  return WIFSIGNALED(status) ? ProgramEnd{0, WTERMSIG(status)} : ProgramEnd{WEXITSTATUS(status), 0};
}

int end_like(const ProgramEnd& end) {
  if (end.signal == 0) return end.code;
  // The program left its core file, if any; a second one of ours would only replace it.
  const struct rlimit none {};
  static_cast<void>(::setrlimit(RLIMIT_CORE, &none));
  static_cast<void>(std::signal(end.signal, SIG_DFL));
  ::raise(end.signal);
  return 128 + end.signal;  // a signal that does not end us
}

}  // namespace foretrace::app
