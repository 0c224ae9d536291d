#include "tests/trace/support/failing_new.h"

#include <atomic>
#include <cstdlib>
#include <limits>
#include <new>

namespace {

std::atomic<std::size_t> refused_from = std::numeric_limits<std::size_t>::max();

}  // namespace

namespace foretrace::test {

FailingNew::FailingNew(std::size_t bytes) { refused_from = bytes; }
FailingNew::~FailingNew() { refused_from = std::numeric_limits<std::size_t>::max(); }

}  // namespace foretrace::test

// The forms for arrays call these. A sanitizer has forms without exceptions of its own, whose
// memory is not free()'s.
void* operator new(std::size_t bytes, const std::nothrow_t& /*none*/) noexcept {
  return bytes >= refused_from ? nullptr : std::malloc(bytes == 0 ? 1 : bytes);
}
void* operator new(std::size_t bytes) {
  void* const memory = operator new(bytes, std::nothrow);
  if (memory == nullptr) {
    throw std::bad_alloc();
  }
  return memory;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*bytes*/) noexcept { std::free(memory); }
