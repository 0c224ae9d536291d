#include "trace/collect/cupti/host.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <ctime>

#include <cxxabi.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

namespace foretrace::trace::collector {
namespace {

/// An exception uses memory that belongs to its thread. The loader allocates it at its first use,
/// and ends the program where it cannot: better now than when there is none left.
__attribute__((constructor)) void provide_for_exceptions() {
  // Declared as if it did nothing but compute: a value that nobody needs would not be asked for.
  const void* volatile needed = abi::__cxa_get_globals();
  static_cast<void>(needed);
}

}  // namespace

Unnoticed::Unnoticed() noexcept : errno_(errno) {
  provide_for_exceptions();
  ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelable_);
}

Unnoticed::~Unnoticed() {
  ::pthread_setcancelstate(cancelable_, nullptr);
  errno = errno_;
}

WritesHeld::WritesHeld() noexcept {
  ::sigemptyset(&held_);
  ::sigaddset(&held_, SIGPIPE);
  ::sigaddset(&held_, SIGXFSZ);
  ::pthread_sigmask(SIG_BLOCK, &held_, &before_);
  ::sigpending(&pending_before_);
}

WritesHeld::~WritesHeld() {
  for (const int signal : {SIGPIPE, SIGXFSZ}) {
    sigset_t one;
    ::sigemptyset(&one);
    ::sigaddset(&one, signal);
    sigset_t pending;
    ::sigpending(&pending);
    if (::sigismember(&pending_before_, signal) == 0 && ::sigismember(&pending, signal) == 1) {
      const timespec at_once{};
      static_cast<void>(::sigtimedwait(&one, nullptr, &at_once));  // ours: nobody hears of it
    }
  }
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void say(const Settings& settings, const std::string& message) noexcept {
  try {
    // The program may have put anything of its own in the place of stderr.
    pollfd ready{STDERR_FILENO, POLLOUT, 0};
    if (settings.stderr_file.empty() || settings.stderr_file != file_identity(STDERR_FILENO) ||
        ::poll(&ready, 1, 0) != 1 || (ready.revents & POLLOUT) == 0) {
      return;
    }
    // A pipe that is ready takes up to 4096 bytes at once.
    constexpr std::size_t longest = 4000;
    std::string line = ("foretrace: collect: " + message).substr(0, longest);
    // A path may hold anything.
    std::replace_if(
        line.begin(), line.end(), [](unsigned char c) { return c < 0x20 || c == 0x7F; }, '?');
    line += '\n';
    const WritesHeld held;
    static_cast<void>(::write(STDERR_FILENO, line.data(), line.size()));
  } catch (...) {  // no memory to say it
  }
}

void leave_note(const Settings& settings, const std::string& message) noexcept {
  try {
    const std::string host = host_name();
    const std::string path =
        note_of_process(settings.file, host == settings.host ? "" : host, ::getpid());
    const WritesHeld held;
    const int file =
        ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file >= 0) {
      static_cast<void>(::write(file, message.data(), message.size()));
      ::close(file);
    }
  } catch (...) {  // no memory for the name
  }
}

void start_first_library() noexcept {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): read once, when the device is first used
  const char* const path = std::getenv(first_library_variable);
  if (path == nullptr || *path == '\0') return;
  void* const library = ::dlopen(path, RTLD_NOW);
  if (library == nullptr) {
    return;  // so it is without us
  }
  if (const auto start = reinterpret_cast<int (*)()>(::dlsym(library, "InitializeInjection"))) {
    static_cast<void>(start());
  }
}

}  // namespace foretrace::trace::collector
