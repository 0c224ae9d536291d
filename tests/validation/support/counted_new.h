// How much work something is, apart from how fast the machine is: how often it asks for memory.
#pragma once

#include <cstdint>

namespace foretrace::test {

/// Calls of operator new of this process so far.
[[nodiscard]] std::uint64_t allocations();

}  // namespace foretrace::test
