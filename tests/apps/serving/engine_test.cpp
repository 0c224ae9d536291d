#include "apps/serving/engine.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/configs.h"

using foretrace::find_serving_engine;
using foretrace::parse_serving_engine;
using foretrace::serving_engine_names;

TEST_CASE("serving engines: every file reads, and says where its figures are from") {
  const auto names = serving_engine_names(*foretrace::test::shipped());
  CHECK(names.size() >= 3);
  for (const std::string& name : names) {
    const auto engine = find_serving_engine(*foretrace::test::shipped(), name);
    REQUIRE_MESSAGE(engine.ok(), engine.error().message);
    CHECK_FALSE(engine->sources.empty());
  }
}

TEST_CASE("serving engines: large devices have rules of their own, except those that are named") {
  const auto engine = find_serving_engine(*foretrace::test::shipped(), "vllm").value();
  const auto tokens = [&engine](std::string_view name) {
    return engine.rules_on(foretrace::test::find_accelerator(name).value()).batched_tokens;
  };
  CHECK(tokens("rtx_4090") == 2048);
  CHECK(tokens("h100_sxm") == 8192);
  CHECK(tokens("a100_sxm_80gb") == 2048);
}

TEST_CASE("serving engines: mistakes are told with their place") {
  const auto engine = parse_serving_engine(
      R"({"schema": "foretrace.serving_engine/1", "product": "x", "framework": "serving",
          "steps": {"batched_token": 5}, "sources": {"steps": "made up"}})",
      "mine.json");
  REQUIRE_FALSE(engine.ok());
  CHECK(engine.error().message.find("/steps/batched_token") != std::string::npos);
  CHECK(engine.error().message.find("batched_tokens") != std::string::npos);

  const auto message_of_tile = [](std::string_view tile) {
    const auto tiled = parse_serving_engine(
        fmt::format(R"({{"schema": "foretrace.serving_engine/1", "product": "x",
                        "framework": "serving", "steps": {{}}, "query_tile": {},
                        "sources": {{"steps": "made up", "query_tile": "made up"}}}})",
                    tile),
        "mine.json");
    return tiled.ok() ? std::string() : tiled.error().message;
  };
  CHECK(message_of_tile(R"({"queries": 64, "capabilities": ["8", "12"]})").empty());
  CHECK(message_of_tile(R"({"queries": 64, "capabilities": ["9.0"]})")
            .find("got '9.0', expected a major version") != std::string::npos);
  CHECK(message_of_tile(R"({"capabilities": ["9"]})").find("/query_tile/queries") !=
        std::string::npos);
  CHECK(message_of_tile(R"({"queries": 64})").find("/query_tile/capabilities") !=
        std::string::npos);
}
