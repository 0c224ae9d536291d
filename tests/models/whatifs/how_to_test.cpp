#include "models/whatifs/how_to.h"

#include <algorithm>
#include <string>

#include <doctest/doctest.h>

#include "models/whatifs/what_if.h"

namespace foretrace {
namespace {

TEST_CASE("how to: every what-if says in three lines at most how to get it, and no other does") {
  const Result<HowTos> all = read_how_tos(FORETRACE_SOURCE_DIR "/configs");
  REQUIRE(all.ok());
  for (const WhatIfInfo* const info : what_ifs::all()) {
    INFO(info->name);
    REQUIRE(all->contains(info->name));
    const HowTo& how = all->find(info->name)->second;
    CHECK(how.contains("pytorch"));
    for (const auto& [framework, lines] : how) CHECK(lines.size() <= 3);
  }
  CHECK(all->size() == what_ifs::all().size());
}

TEST_CASE("how to: lines begin with their framework, and what is not known has none") {
  const HowTos all = {{"a", {{"jax", {"z"}}, {"pytorch", {"x", "y"}}}}};
  CHECK(lines_of(all, "a") == std::vector<std::string>{"PyTorch: x", "y", "JAX: z"});
  CHECK(lines_of(all, "b").empty());
}

TEST_CASE("how to: a folder without examples is an error that names it") {
  const Result<HowTos> all = read_how_tos("/nowhere");
  REQUIRE_FALSE(all.ok());
  CHECK(all.error().message.find("/nowhere/optimizations") != std::string::npos);
}

}  // namespace
}  // namespace foretrace
