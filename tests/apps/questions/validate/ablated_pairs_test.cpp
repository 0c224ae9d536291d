#include "apps/questions/validate/ablated_pairs.h"

#include <cmath>
#include <string>

#include <doctest/doctest.h>

#include "tests/configs.h"

namespace foretrace {
namespace {

const std::string folder = FORETRACE_SOURCE_DIR "/examples/traces/h100";

TEST_CASE("ablated pairs: without host gaps nearly every prediction is another one") {
  const auto table = ablated_pairs(test::shipped(), folder, "host_gaps");
  REQUIRE_MESSAGE(table.ok(), table.error().message);
  REQUIRE(table->size() == 1);
  const AblatedPairs& rule = table->front();
  CHECK(rule.pairs.size() > 10);
  CHECK(rule.differing() > 5);
  REQUIRE(rule.most_moved() != nullptr);
  CHECK(std::abs(rule.most_moved()->without - rule.most_moved()->with) > 0.05);
}

TEST_CASE("ablated pairs: a rule that is none is an error, a folder without pairs has none") {
  CHECK_FALSE(ablated_pairs(test::shipped(), folder, "synchronisation").ok());
  const auto none =
      ablated_pairs(test::shipped(), FORETRACE_SOURCE_DIR "/tests/fixtures", "polling");
  REQUIRE(none.ok());
  CHECK(none->front().pairs.empty());
}

}  // namespace
}  // namespace foretrace
