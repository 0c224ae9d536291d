#include "apps/explorer/service.h"

#include <cstdint>
#include <string>

#include <doctest/doctest.h>

namespace foretrace::explorer {
namespace {

Question question(const std::string& client, std::uint64_t id) { return {client, id, {}}; }

TEST_CASE("newest: a question is given up once the same page asked a later one") {
  Newest newest;
  newest.announce(question("a", 5));
  CHECK_FALSE(newest.is_superseded(question("a", 5)));
  CHECK(newest.is_superseded(question("a", 4)));
  CHECK_FALSE(newest.is_superseded(question("b", 4)));
  newest.announce(question("a", 3));  // late on its way
  CHECK(newest.is_superseded(question("a", 4)));
}

TEST_CASE("newest: pages that come make it forget those that asked longest ago, no other") {
  Newest newest;
  newest.announce(question("old", 9));
  newest.announce(question("asks", 1));
  for (int i = 0; i < 200; ++i) {
    newest.announce(question("page " + std::to_string(i), 1));
    newest.announce(question("asks", static_cast<std::uint64_t>(2 + i)));
    CHECK(newest.is_superseded(question("asks", static_cast<std::uint64_t>(1 + i))));
  }
  CHECK_FALSE(newest.is_superseded(question("old", 1)));
}

}  // namespace
}  // namespace foretrace::explorer
