#include "sim/core/integers.h"

#include <doctest/doctest.h>

namespace foretrace {
namespace {

TEST_CASE("integers: what 32 bits cannot hold becomes the nearest value they can") {
  CHECK(clamped_int32(5) == 5);
  CHECK(clamped_int32(-5) == 0);
  CHECK(clamped_int32(-5, -1) == -1);
  CHECK(clamped_int32(-1, -1) == -1);
  CHECK(clamped_int32(std::int64_t{1} << 40U) == 2147483647);
  CHECK(clamped_int32(2147483647) == 2147483647);
}

}  // namespace
}  // namespace foretrace
