#include "trace/annotate/collectives/argument_text.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace foretrace::trace {
namespace {

std::string members(std::string_view text) {
  std::string list;
  visit_members(text, [&](std::string_view key, std::string_view value) {
    list += std::string(key) + "=" + std::string(value) + ";";
  });
  return list;
}

}  // namespace

TEST_CASE("argument text: members keep nested lists and quoted brackets whole") {
  CHECK(members(R"({"a": [1, [2, 3]], "b":"x,}\"y", "c" : 4})") ==
        R"(a=[1, [2, 3]];b="x,}\"y";c=4;)");
  CHECK(members("{}").empty());
}

TEST_CASE("argument text: what breaks off gives the members before the damage") {
  CHECK(members(R"({"a": 1, "b)") == "a=1;");
  CHECK(members("[1, 2]").empty());
  CHECK(members("").empty());
  CHECK(members(R"({"a"})").empty());
}

TEST_CASE("argument text: lists of numbers, in quotes or not, and none that is cut short") {
  CHECK(integers_of("[0, 1, 2]") == std::vector<std::int32_t>{0, 1, 2});
  CHECK(integers_of(R"("[0, 8]")") == std::vector<std::int32_t>{0, 8});
  CHECK(integers_of("[]") == std::vector<std::int32_t>{});
  CHECK_FALSE(integers_of(R"("[0, 1, ...]")").has_value());
  CHECK_FALSE(integers_of("[0, 1").has_value());
  CHECK_FALSE(integers_of("[-1]").has_value());
}

TEST_CASE("argument text: elements of a tensor, of a list of tensors, of nothing") {
  CHECK(elements_of_dims("[4, 2048]") == 8192);
  CHECK(elements_of_dims("[[4, 2], [3]]") == 11);
  CHECK(elements_of_dims("[]") == -1);
  CHECK(elements_of_dims("\"\"") == -1);
  // 2^40 * 2^40 does not fit.
  CHECK(elements_of_dims("[1099511627776, 1099511627776]") == -1);
  CHECK(elements_of_dims("[[9223372036854775807], [9223372036854775807]]") == -1);
}

}  // namespace foretrace::trace
