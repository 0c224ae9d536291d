#include "tests/validation/support/counted_new.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::uint64_t> calls = 0;

}  // namespace

namespace foretrace::test {

std::uint64_t allocations() { return calls.load(std::memory_order_relaxed); }

}  // namespace foretrace::test

// The forms for arrays call these. A sanitizer has forms without exceptions of its own, whose
// memory is not free()'s.
void* operator new(std::size_t bytes, const std::nothrow_t& /*none*/) noexcept {
  calls.fetch_add(1, std::memory_order_relaxed);
  return std::malloc(bytes == 0 ? 1 : bytes);
}
void* operator new(std::size_t bytes) {
  void* const memory = operator new(bytes, std::nothrow);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*bytes*/) noexcept { std::free(memory); }
