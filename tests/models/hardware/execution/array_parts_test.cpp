#include "models/hardware/execution/array_parts.h"

#include "tests/models/hardware/execution/machine.h"

using foretrace::OperatorWork;
using foretrace::test::product_of;

using foretrace::execution::blocked_traffic;

TEST_CASE("blocked_traffic: an operand that fits is loaded once, as everything without a buffer") {
  const OperatorWork work = product_of(1000, 100, 10);  // weights: 1000 bytes
  for (const double buffer : {0.0, 1000.0, 1e9}) {
    const auto moved = blocked_traffic(work, buffer);
    CHECK(moved.weights == 1000);
    CHECK(moved.others == 1000 * 10 + 1000 * 100);
  }
}

TEST_CASE("blocked_traffic: beyond the buffer the best blocking moves 2 m n k / sqrt(buffer)") {
  // 1000^3 products with 10,000 numbers: 2e9 / 100 = 2e7 of operands, instead of 2e6 once, and 1e6
  // of results.
  const auto moved = blocked_traffic(product_of(1000, 1000, 1000), 10000);
  CHECK(moved.weights == doctest::Approx(1e7));
  CHECK(moved.others == doctest::Approx(1e7 + 1e6));
  // A quarter of the buffer, twice the traffic.
  CHECK(blocked_traffic(product_of(1000, 1000, 1000), 2500).weights == doctest::Approx(2e7));
}

TEST_CASE(
    "blocked_traffic: a convolution of reuse 9 moves a third, never less than each number once") {
  OperatorWork conv = product_of(1000, 1000, 1000);
  conv.input_reuse = 9;
  const auto moved = blocked_traffic(conv, 10000);
  CHECK(moved.weights + moved.others == doctest::Approx(2e7 / 3 + 1e6));
  const auto large = blocked_traffic(product_of(1000, 1000, 1000), 900000);
  CHECK(large.weights + large.others >= 3e6);
}
