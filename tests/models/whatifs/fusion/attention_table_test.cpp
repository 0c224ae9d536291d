#include "models/whatifs/fusion/attention_table.h"

#include <doctest/doctest.h>

#include "tests/configs.h"

using foretrace::editing::AttentionTable;

namespace {

AttentionTable shipped_table(const char* name) {
  auto document = foretrace::test::shipped()->document({"table of attention", "attention"}, name);
  REQUIRE_MESSAGE(document.ok(), document.error().message);
  auto table = AttentionTable::from(**document, name);
  REQUIRE_MESSAGE(table.ok(), table.error().message);
  return *std::move(table);
}

double tflops(const AttentionTable& table, const foretrace::editing::AttentionCase& wanted) {
  const auto rate = table.rate(wanted);
  REQUIRE(rate.has_value());
  return rate->share * 989;
}

}  // namespace

TEST_CASE("attention table: every table that ships can be read and has rates of its own backends") {
  for (const std::string& name : foretrace::test::shipped()->document_names("attention")) {
    const AttentionTable table = shipped_table(name.c_str());
    CHECK(table.compute() >= 7);
    for (const std::string& backend : table.backends()) {
      const auto rate = table.rate({.backend = backend, .head = 64, .positions = 1024});
      CHECK(rate.has_value());
    }
  }
}

TEST_CASE("attention table: rates of its rows, between them, and of the nearest head size") {
  const AttentionTable h100 = shipped_table("h100");
  CHECK(tflops(h100, {.backend = "flash3", .head = 128, .positions = 4096}) ==
        doctest::Approx(638));
  CHECK(tflops(h100, {.backend = "flash3", .causal = true, .head = 64, .positions = 1024}) ==
        doctest::Approx(265));
  // Half way between 1,024 and 2,048 positions by their logarithm: 392 and 460.
  CHECK(tflops(h100, {.backend = "flash3", .head = 64, .positions = 1024 * 1.4142136}) ==
        doctest::Approx(426).epsilon(1e-4));
  CHECK(tflops(h100, {.backend = "flash3", .head = 64, .positions = 1e6}) == doctest::Approx(496));
  CHECK(tflops(h100, {.backend = "flash3", .head = 64, .positions = 16}) == doctest::Approx(333));
  // Heads of 160 take the rates of 128 and a wider range.
  const auto near = h100.rate({.backend = "flash3", .head = 160, .positions = 4096});
  REQUIRE(near.has_value());
  CHECK(near->share * 989 == doctest::Approx(638));
  CHECK(near->spread == doctest::Approx(1.43));
  // The backward of flash3 has no rows with a mask.
  CHECK(
      tflops(
          h100,
          {.backend = "flash3", .backward = true, .causal = true, .head = 64, .positions = 512}) ==
      doctest::Approx(272));
  CHECK_FALSE(h100.rate({.backend = "flash1", .head = 64}).has_value());
  // Only the memory-efficient kernels take fp32, at a tenth of what flash3 reaches in 16 bit.
  CHECK_FALSE(h100.rate({.backend = "flash2", .fp32 = true, .head = 64}).has_value());
  CHECK(tflops(h100, {.backend = "efficient", .fp32 = true, .head = 64, .positions = 1024}) < 50);
}

TEST_CASE("attention table: mistakes are told with their place") {
  const auto message_of = [](const char* rest) {
    const std::string text = std::string(R"({"schema": "foretrace.attention/1", "source": "s", )") +
                             R"("compute": 9, "peak": "1 PFLOP/s", "spread": 1.1, )" + rest + "}";
    auto document = foretrace::parse_config(text);
    REQUIRE_MESSAGE(document.ok(), document.error().message);
    auto table = AttentionTable::from(*document, "t.json");
    REQUIRE_FALSE(table.ok());
    return table.error().message;
  };
  CHECK(message_of(
            R"("positions": [512], "rows": [{"backend": "x", "pass": "forwards", "rates": [1]}])")
            .find("/rows/0") != std::string::npos);
  CHECK(
      message_of(
          R"("positions": [512, 1024], "rows": [{"backend": "x", "pass": "forward", "rates": [1]}])")
          .find("expected 2 rates") != std::string::npos);
  CHECK(message_of(
            R"("positions": [512], "rows": [{"backend": "x", "pass": "forward", "rates": [2000]}])")
            .find("up to the peak") != std::string::npos);
  CHECK(message_of(R"("positions": [1024, 512], "rows": [])").find("ascending") !=
        std::string::npos);
}
