#include "apps/cli/output/busy.h"

#include <chrono>

#include <fmt/format.h>
#include <unistd.h>

namespace foretrace::app {

Busy::Busy(const CommonOptions& options, std::string title) {
  if (options.quiet || isatty(STDERR_FILENO) != 1) return;
  clock_ = std::thread([this, title = std::move(title)] {
    using namespace std::chrono_literals;
    const auto begin = std::chrono::steady_clock::now();
    std::unique_lock<std::mutex> lock(mutex_);
    while (!ended_.wait_for(lock, 500ms, [this] { return has_ended_; })) {
      const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
      show_progress(fmt::format("{}  {:.0f} s", title, passed.count()));
    }
  });
}

Busy::~Busy() {
  if (!clock_.joinable()) return;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    has_ended_ = true;
  }
  ended_.notify_one();
  clock_.join();
  clear_progress();
}

}  // namespace foretrace::app
