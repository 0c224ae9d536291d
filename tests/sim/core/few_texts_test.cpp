#include "sim/core/few_texts.h"

#include <string>

#include <doctest/doctest.h>

using foretrace::FewTexts;

namespace {

struct Row {
  FewTexts assumptions;
  FewTexts ignores;
};
// As descriptors have them: constants, with lists of their own.
constexpr Row row = {.assumptions = {"first", "second"}, .ignores = {"one"}};
static_assert(row.assumptions.size() == 2 && row.ignores.size() == 1);

std::string joined(std::span<const std::string_view> texts) {
  std::string all;
  for (const std::string_view text : texts) all += std::string(text) + ".";
  return all;
}

}  // namespace

TEST_CASE("few texts: a row of constants has them in order, as a span as well") {
  CHECK(joined(row.assumptions) == "first.second.");
  CHECK(joined(row.ignores) == "one.");
  CHECK(FewTexts().empty());
  CHECK(joined(FewTexts()).empty());
  const Row copy = row;
  CHECK(copy.assumptions.begin() != row.assumptions.begin());
  CHECK(joined(copy.assumptions) == "first.second.");
}
