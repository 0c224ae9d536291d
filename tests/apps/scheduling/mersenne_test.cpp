#include "sim/core/mersenne.h"

#include <optional>
#include <vector>

#include <doctest/doctest.h>

#include "tests/apps/scheduling/jobs_builder.h"

namespace foretrace::scheduling::test {
namespace {

// Drawn by CPython 3: r = random.Random(2); r.random() twice, r._randbelow(26), r._randbelow(1),
// r._randbelow(3), r.shuffle([0, 1, 2, 3, 4]).
TEST_CASE("random: the sequence is that of CPython") {
  Random random(2);
  CHECK(random.uniform() == 0.9560342718892494);
  CHECK(random.uniform() == 0.9478274870593494);
  CHECK(random.below(26) == 1);
  CHECK(random.below(1) == 0);
  CHECK(random.below(3) == 0);
  std::vector<int> values = {0, 1, 2, 3, 4};
  random.shuffle(values);
  CHECK(values == std::vector<int>{0, 3, 4, 1, 2});
}

TEST_CASE("random: normal numbers are those of CPython's normalvariate(0, 1)") {
  Random random(2);
  CHECK(random.normal() == doctest::Approx(2.1798947785444143).epsilon(1e-14));
  CHECK(random.normal() == doctest::Approx(0.42085931577775765).epsilon(1e-14));
  CHECK(random.normal() == doctest::Approx(0.4622354008970629).epsilon(1e-14));
}

TEST_CASE("random: a seed of two words counts whole") {
  CHECK(Random(12345678901234ULL).uniform() == 0.02504137575317178);
}

}  // namespace
}  // namespace foretrace::scheduling::test
