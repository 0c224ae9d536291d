#include "apps/questions/validate/what_if_table.h"

#include <algorithm>
#include <string>

#include <doctest/doctest.h>

#include "tests/configs.h"

namespace foretrace {
namespace {

TEST_CASE("what-if table: every what-if on every recording answers or says why not") {
  const auto table = example_table(test::shipped(), FORETRACE_SOURCE_DIR "/examples/traces");
  REQUIRE_MESSAGE(table.ok(), table.error().message);
  CHECK(table->rows.size() == what_ifs::all().size());
  CHECK(table->recordings > 0);
  std::size_t applied = 0;
  for (const ExampleRow& row : table->rows) {
    CAPTURE(std::string(row.info->name));
    CHECK(row.outcomes.size() == table->recordings);
    CHECK(row.by_change().size() == row.applied());
    applied += row.applied();
    for (const ExampleOutcome& outcome : row.outcomes) {
      CHECK((outcome.refusal.empty() ? outcome.after_ns >= 0 : outcome.after_ns == 0));
      if (outcome.refusal.empty()) CHECK(outcome.low_ns <= outcome.high_ns);
    }
    CHECK(row.usual_refusal().empty() == (row.applied() == table->recordings));
  }
  CHECK(applied > 10);
}

TEST_CASE("what-if table: reasons that differ by figures alone are one, gains come first") {
  ExampleRow row;
  row.outcomes = {{.trace = "a", .refusal = "12 kernels"},
                  {.trace = "b", .refusal = "7 kernels"},
                  {.trace = "c", .refusal = "no kernel"},
                  {.trace = "d", .refusal = "", .before_ns = 100, .after_ns = 150},
                  {.trace = "e", .refusal = "", .before_ns = 100, .after_ns = 150, .samples = 2}};
  CHECK(row.usual_refusal() == "2 x 12 kernels");
  CHECK(row.applied() == 2);
  CHECK(row.by_change().front()->trace == "e");
  CHECK(row.by_change().front()->change() == doctest::Approx(-0.25));
}

}  // namespace
}  // namespace foretrace
