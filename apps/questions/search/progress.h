// How far a long search is.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <utility>

namespace foretrace {

/// Called now and then with what is done and how much there is, by one thread at a time. May be
/// empty.
using Progress = std::function<void(std::uint64_t done, std::uint64_t total)>;

/// Counts pieces of work that several threads do.
class ProgressCount {
 public:
  explicit ProgressCount(Progress progress) : progress_(std::move(progress)) {}

  /// So much there is in all, as far as is known now.
  void expect(std::uint64_t total) {
    const std::lock_guard<std::mutex> lock(mutex_);
    total_ = total;
  }
  void one_more() {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++done_;
    if (progress_) progress_(done_ < total_ ? done_ : total_, total_);
  }

 private:
  Progress progress_;
  std::mutex mutex_;
  std::uint64_t done_ = 0;
  std::uint64_t total_ = 1;
};

}  // namespace foretrace
