#include "sim/core/config_text.h"

#include <string>

#include <doctest/doctest.h>

TEST_CASE("config: a value is written as it was read, members in their order") {
  const std::string text = R"({"b":[1,2.50,-3e5],"a":{"x":null,"y":true},"c":"5 \"ms\""})";
  const auto value = foretrace::parse_config(text);
  REQUIRE(value.ok());
  CHECK(foretrace::json_text(*value) == text);
}
