#include "apps/extras/mapping/mapping.h"

#include <string>

#include <doctest/doctest.h>

#include "tests/configs.h"

using foretrace::parse_mapping;
using foretrace::read_mapping;
using foretrace::run_mapping;

namespace {

std::string error_of(const std::string& rest) {
  const auto read =
      parse_mapping(*foretrace::test::shipped(),
                    R"({"schema": "foretrace.mapping/1", )" + rest + "}", "mine.json");
  if (!read.ok()) return read.error().message;
  const auto answer = run_mapping(*read);
  return answer.ok() ? "" : answer.error().message;
}

}  // namespace

TEST_CASE("mapping: the shipped example of HEFT takes 80 us") {
  const auto read = read_mapping(*foretrace::test::shipped(),
                                 FORETRACE_SOURCE_DIR "/examples/recipes/mapping/heft.json");
  REQUIRE_MESSAGE(read.ok(), read.error().message);
  const auto answer = run_mapping(*read);
  REQUIRE(answer.ok());
  CHECK(answer->heft->makespan == doctest::Approx(80e3));
  CHECK(answer->best->makespan <= 80e3 + 1e-6);
}

TEST_CASE("mapping: halves of tables are never worse than whole ones") {
  const auto read = read_mapping(*foretrace::test::shipped(),
                                 FORETRACE_SOURCE_DIR "/examples/recipes/mapping/tables.json");
  REQUIRE_MESSAGE(read.ok(), read.error().message);
  const auto answer = run_mapping(*read);
  REQUIRE(answer.ok());
  REQUIRE(answer->plan);
  if (answer->whole) CHECK(answer->plan->seconds <= answer->whole->seconds);
}

TEST_CASE("mapping: one clear line for every mistake") {
  const std::string links = R"("links": {"bandwidth": "1 GB/s"}, )";
  const std::string two = R"("devices": ["a", "b"], )" + links;
  CHECK(error_of(R"("devices": [])").find("either tasks or tables") != std::string::npos);
  CHECK(error_of(two + R"("tasks": [{"name": "x", "times": {"a": "1 us"}}])").empty());
  CHECK(error_of(two + R"("tasks": [{"name": "x", "times": {"c": "1 us"}}])")
            .find("/tasks/0/times/c") != std::string::npos);
  CHECK(error_of(two + R"("tasks": [{"name": "x", "times": {}}])").find("no device") !=
        std::string::npos);
  CHECK(error_of(two + R"("tasks": [{"name": "x", "times": {"a": "1 us"}}],
                         "edges": [{"from": "x", "to": "y"}])")
            .find("/edges/0/to") != std::string::npos);
  CHECK(error_of(two + R"("tasks": [{"name": "x", "times": {"a": "1 us"}}],
                         "edges": [{"from": "x", "to": "x"}])")
            .find("cycle") != std::string::npos);
  const std::string pair = two + R"("tasks": [{"name": "x", "times": {"a": "1 us"}},
                                          {"name": "y", "times": {"a": "1 us"}}], )";
  CHECK(error_of(pair + R"("edges": [{"from": "x", "to": "y", "bytes": "-9 kB"}])")
            .find("/edges/0/bytes") != std::string::npos);
  CHECK(error_of(two + R"("tasks": [{"name": "x", "times": {"a": "1 us"}},
                                    {"name": "x", "times": {"a": "1 us"}}])")
            .find("/tasks: 'x' appears twice") != std::string::npos);
  CHECK(error_of(R"("devices": ["a", "a"], )" + links +
                 R"("tasks": [{"name": "x", "times": {"a": "1 us"}}])")
            .find("/devices: 'a' appears twice") != std::string::npos);
  CHECK(error_of(two + R"("tasks": [])").find("/tasks: got none") != std::string::npos);
  CHECK(error_of(R"("cluster": "dgx_a10", "accelerators": 4, "batch": 1, "tables": [])")
            .find("dgx_a100") != std::string::npos);
  CHECK(error_of(R"("cluster": "dgx_a100", "batch": 1,
                    "tables": [{"name": "huge", "rows": 1e13, "dim": 4}])")
            .find("found no placement in") != std::string::npos);
}
