// What long work shows that cannot say how far it is.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "apps/cli/output/console.h"

namespace foretrace::app {

/// From its making to its end: a line on stderr with the seconds that went by, once half a second
/// did; nothing if stderr is no terminal or the user wants quiet.
class Busy {
 public:
  Busy(const CommonOptions& options, std::string title);
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;
  ~Busy();

 private:
  std::mutex mutex_;
  std::condition_variable ended_;
  bool has_ended_ = false;
  std::thread clock_;
};

/// What the work gives, with a line as long as it takes.
template <typename Work>
[[nodiscard]] auto while_busy(const CommonOptions& options, std::string title, const Work& work) {
  const Busy busy(options, std::move(title));
  return work();
}

}  // namespace foretrace::app
