#include "models/serving/engine.h"

#include <doctest/doctest.h>

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
}
