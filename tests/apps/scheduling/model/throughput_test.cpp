#include <optional>
#include <vector>

#include <doctest/doctest.h>

#include "apps/scheduling/components.h"
#include "tests/apps/scheduling/jobs_builder.h"

namespace foretrace::scheduling::test {
namespace {

TEST_CASE("throughput: a placement that was not measured is as fast as those on as many nodes") {
  ThroughputTable table;
  const TypeId type{0};
  table.set(type, {.kind = KindId{0}, .gpus = 4, .placement = "4"}, 10);
  table.set(type, {.kind = KindId{0}, .gpus = 4, .placement = "22"}, 6);
  table.set(type, {.kind = KindId{0}, .gpus = 4, .placement = "31"}, 4);
  const auto rate = [&](const char* placement) {
    return table.rate(type, {.kind = KindId{0}, .gpus = 4, .placement = placement});
  };
  CHECK(rate("4") == 10);
  CHECK(rate("22") == 6);
  CHECK(rate("211") == 5);  // nearest: two nodes, their mean
  CHECK(rate("") == 10);    // not known: as good as it gets
  CHECK(table.rate(type, {.kind = KindId{0}, .gpus = 2}) == 0);
}

TEST_CASE("throughput: the name of a placement does not tell which nodes they are") {
  CHECK(placement_name({1, 4, 2}) == "421");
  CHECK(placement_name({0, 12, 3}) == "c3");
}

TEST_CASE("throughput: two jobs on the same accelerators have a rate each, in either order") {
  ThroughputTable table;
  table.set_together(TypeId{0}, TypeId{1}, {.kind = KindId{0}, .gpus = 1}, {3, 7});
  const auto both = table.together(TypeId{1}, TypeId{0}, {.kind = KindId{0}, .gpus = 1});
  REQUIRE(both.has_value());
  CHECK(*both == std::pair{7.0, 3.0});
  CHECK_FALSE(table.together(TypeId{0}, TypeId{0}, {.kind = KindId{0}, .gpus = 1}).has_value());
}

}  // namespace
}  // namespace foretrace::scheduling::test
