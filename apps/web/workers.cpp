#include "apps/web/workers.h"

#include <exception>
#include <new>
#include <system_error>

#include <sys/eventfd.h>

namespace foretrace::serve {
namespace {

/// What has no memory for its answer says so, and the server goes on.
Response handled(const Request& request, const Handler& handler) {
  try {
    return handler(request);
  } catch (const std::bad_alloc&) {
    return refusal(500, "this takes more memory than there is");
  } catch (const std::exception& error) {
    return refusal(500, error.what());
  }
}

}  // namespace

Workers::Workers(const Handler& handler, std::size_t threads, int wake)
    : handler_(handler), wake_(wake) {
  for (std::size_t i = 0; i < threads; ++i) {
    try {
      threads_.emplace_back([this] { work(); });
    } catch (const std::system_error&) {  // fewer threads do as well
      break;
    }
  }
}

Workers::~Workers() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  more_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Workers::ask(std::uint64_t id, Request request) {
  {
    const std::lock_guard lock(mutex_);
    asked_.emplace_back(id, std::move(request));
  }
  more_.notify_one();
}

std::vector<Workers::Answer> Workers::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(answered_, {});
}

void Workers::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    more_.wait(lock, [this] { return ending_ || !asked_.empty(); });
    if (ending_) return;
    const auto [id, request] = std::move(asked_.front());
    asked_.pop_front();
    lock.unlock();
    Response response = handled(request, handler_);
    lock.lock();
    answered_.emplace_back(id, std::move(response));
    ::eventfd_write(wake_, 1);
  }
}

}  // namespace foretrace::serve
