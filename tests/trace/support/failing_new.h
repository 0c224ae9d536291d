// Lets memory run out where a test wants it: large requests fail on every thread.
#pragma once

#include <cstddef>

namespace foretrace::test {

/// While it lives, operator new throws std::bad_alloc for requests of `bytes` and more.
class FailingNew {
 public:
  explicit FailingNew(std::size_t bytes);
  ~FailingNew();
  FailingNew(const FailingNew&) = delete;
  FailingNew& operator=(const FailingNew&) = delete;
};

}  // namespace foretrace::test
