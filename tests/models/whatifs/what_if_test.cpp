#include "models/whatifs/what_if.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "tests/models/toy_run.h"
#include "tests/models/whatifs/examples.h"

using foretrace::ParamInfo;
using foretrace::ParamType;
using foretrace::ParamValues;
using foretrace::WhatIfInfo;

TEST_CASE("optimizations: all eight are listed, sorted by name") {
  std::vector<std::string> names;
  for (const WhatIfInfo* info : foretrace::what_ifs::all()) names.emplace_back(info->name);
  CHECK(names.size() >= 8);
  CHECK(std::is_sorted(names.begin(), names.end()));
}

TEST_CASE("optimizations: every one says what it is, who found it and when not to trust it") {
  for (const WhatIfInfo* info : foretrace::what_ifs::all()) {
    CAPTURE(std::string(info->name));
    CHECK(info->summary.size() > 20);
    CHECK(info->summary.size() < 90);
    CHECK(info->paper.size() > 20);
    CHECK(info->recipe.size() > 80);
    CHECK(info->assumptions.size() >= 3);
    CHECK_FALSE(info->ignores.empty());
    CHECK(info->calibrate.size() > 20);
    for (const auto& text : info->assumptions) CHECK(text.ends_with("."));
  }
}

TEST_CASE(
    "optimizations: every parameter has a sentence, a unit where it needs one, a valid range") {
  for (const WhatIfInfo* info : foretrace::what_ifs::all()) {
    for (const ParamInfo& param : info->params) {
      CAPTURE(std::string(info->name));
      CAPTURE(std::string(param.name));
      CHECK(param.doc.ends_with("."));
      if (param.type == ParamType::number || param.type == ParamType::time)
        CHECK_FALSE(param.unit.empty());
    }
  }
}

TEST_CASE("optimizations: the example parameters of every config are accepted") {
  for (const WhatIfInfo* info : foretrace::what_ifs::all()) {
    CAPTURE(std::string(info->name));
    const auto values =
        ParamValues::parse(info->name, info->params, foretrace::test::example_of(info->name));
    CHECK_MESSAGE(values.ok(), values.error().message);
  }
}

TEST_CASE("optimizations: an empty graph is declined by every one, not crashed on") {
  const auto a100 = foretrace::test::toy_accelerator();
  foretrace::test::ToyRun run;
  const auto graph = run.build();
  for (const WhatIfInfo* info : foretrace::what_ifs::all()) {
    CAPTURE(std::string(info->name));
    const auto values =
        ParamValues::parse(info->name, info->params, foretrace::test::example_of(info->name));
    REQUIRE(values.ok());
    const auto change = info->apply({graph, &a100, *foretrace::test::shipped()}, *values);
    REQUIRE_FALSE(change.ok());
    CHECK(change.error().code == foretrace::ErrorCode::no_match);
  }
}
