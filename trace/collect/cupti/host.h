// Care for the program that the collector is a guest of.
#pragma once

#include <csignal>
#include <string>

#include "trace/collect/settings.h"

namespace foretrace::trace::collector {

/// Around everything that runs on a thread of the program: errno stays what it was, and a thread
/// that is cancelled ends outside of our code.
class Unnoticed {
 public:
  Unnoticed() noexcept;
  Unnoticed(const Unnoticed&) = delete;
  Unnoticed& operator=(const Unnoticed&) = delete;
  ~Unnoticed();

 private:
  int errno_;
  int cancelable_ = 0;
};

/// Around what writes on a thread of the program: a closed pipe or a limit for files fails the
/// write and ends nobody.
class WritesHeld {
 public:
  WritesHeld() noexcept;
  WritesHeld(const WritesHeld&) = delete;
  WritesHeld& operator=(const WritesHeld&) = delete;
  ~WritesHeld();

 private:
  sigset_t held_{};
  sigset_t before_{};
  sigset_t pending_before_{};
};

/// "foretrace: collect: ..." on stderr, if that is still the stderr of `collect` and takes a line
/// without making the program wait.
void say(const Settings& settings, const std::string& message) noexcept;

/// Tells `collect` why this process was not recorded.
void leave_note(const Settings& settings, const std::string& message) noexcept;

/// Loads the library that was to go into this program, and starts it as the driver would have done.
void start_first_library() noexcept;

}  // namespace foretrace::trace::collector
