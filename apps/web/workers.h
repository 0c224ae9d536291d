// Threads that answer requests, so that who receives and sends never waits for an answer.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "apps/web/http.h"

namespace foretrace::serve {

/// Called from several threads at once.
using Handler = std::function<Response(const Request&)>;

class Workers {
 public:
  using Answer = std::pair<std::uint64_t, Response>;

  /// Writes to `wake` (an eventfd) with every answer. The handler lives longer. Fewer threads than
  /// asked for, down to none, where the system gives no more.
  Workers(const Handler& handler, std::size_t threads, int wake);
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;
  /// Waits for what is being answered; what no thread has begun is dropped.
  ~Workers();

  [[nodiscard]] bool empty() const { return threads_.empty(); }
  void ask(std::uint64_t id, Request request);
  /// Those that came since the last call.
  [[nodiscard]] std::vector<Answer> take();

 private:
  void work();

  const Handler& handler_;
  int wake_;
  std::mutex mutex_;
  std::condition_variable more_;
  std::deque<std::pair<std::uint64_t, Request>> asked_;
  std::vector<Answer> answered_;
  bool ending_ = false;
  std::vector<std::thread> threads_;  // last: they use all of the above
};

}  // namespace foretrace::serve
