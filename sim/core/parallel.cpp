#include "sim/core/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace foretrace {
namespace {

constexpr std::size_t most_threads = 8;

struct Shared {
  const std::function<void(std::size_t)>& work;
  std::size_t count;
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::exception_ptr problem;

  void run() {
    while (true) {
      const std::size_t i = next.fetch_add(1, std::memory_order_relaxed);
      if (i >= count) return;
      try {
        work(i);
      } catch (...) {
        const std::lock_guard<std::mutex> lock(mutex);
        problem = problem ? problem : std::current_exception();
        next = count;
      }
    }
  }
};

}  // namespace

void for_each_index(std::size_t count, const std::function<void(std::size_t)>& work,
                    std::size_t threads) {
  const std::size_t available = std::max(1U, std::thread::hardware_concurrency());
  const std::size_t used =
      std::min(count, threads == 0 ? std::min(available, most_threads) : threads);
  Shared shared{work, count, {}, {}, {}};
  std::vector<std::thread> helpers;
  for (std::size_t i = 1; i < used; ++i) {
    try {
      helpers.emplace_back([&shared] { shared.run(); });
    } catch (const std::system_error&) {
      break;  // no more threads to be had: those there are do the work
    }
  }
  shared.run();
  for (std::thread& helper : helpers) {
    helper.join();
  }
  if (shared.problem) {
    std::rethrow_exception(shared.problem);
  }
}

}  // namespace foretrace
