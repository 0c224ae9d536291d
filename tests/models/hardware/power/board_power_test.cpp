#include "models/hardware/power/board_power.h"

#include <doctest/doctest.h>

#include "tests/configs.h"

using foretrace::board_power;
using foretrace::Energy;
using foretrace::energy_of;

TEST_CASE(
    "board power: a step draws between what waiting and working take, never above the limit") {
  const foretrace::BoardPower power{
      .idle_w = 50, .busy_w = 600, .limit_w = 700, .less = 1.25, .more = 1.5};
  const Energy half = energy_of(power, 1'000'000'000, 0.5e9);
  CHECK(half.joules == doctest::Approx(325));
  CHECK(half.watts == doctest::Approx(325));
  CHECK(half.low_joules == doctest::Approx(260));
  CHECK(half.high_joules == doctest::Approx(487.5));
  const Energy full = energy_of(power, 1'000'000'000, 5e9);
  CHECK(full.joules == doctest::Approx(600));
  CHECK(full.high_joules == doctest::Approx(700));
  CHECK(energy_of(power, 0, 0).watts == 0);
}

TEST_CASE("board power: every board that is listed is an accelerator, and others are unknown") {
  const foretrace::Catalogue& known = *foretrace::test::shipped();
  const auto h200 = board_power(known, "h200_sxm");
  REQUIRE_MESSAGE(h200.ok(), h200.error().message);
  REQUIRE(h200->has_value());
  CHECK((*h200)->limit_w == 700);
  CHECK((*h200)->provenance == foretrace::Provenance::table);
  const auto a100 = board_power(known, "a100_sxm_80gb");
  REQUIRE(a100.ok());
  CHECK((*a100)->provenance == foretrace::Provenance::assumed);
  const auto tpu = board_power(known, "tpu_v4");
  REQUIRE(tpu.ok());
  CHECK_FALSE(tpu->has_value());
  CHECK_FALSE(board_power(foretrace::no_catalogue(), "h200_sxm")->has_value());
  const auto document = known.document({"power table", "power"}, "boards");
  REQUIRE(document.ok());
  const foretrace::ConfigValue* limits = (*document)->find("limits_watts");
  REQUIRE(limits != nullptr);
  for (const std::string& name : limits->keys) {
    CAPTURE(name);
    CHECK(known.accelerator(name).ok());
    CHECK(board_power(known, name)->has_value());
  }
}

// Two of the runs that the constants do not know: joules by the board's counter, steps back to
// back, and the time in which kernels fill the device, from recordings of the same runs.
TEST_CASE("board power: runs on an H200 lie in the stated range") {
  const auto power = board_power(*foretrace::test::shipped(), "h200_sxm");
  REQUIRE(power.ok());
  struct Run {
    double step_ms;
    double filled;
    double joules;
  };
  for (const Run& run : {Run{488.71, 0.96, 313.98}, Run{70.52, 0.94, 41.53},
                         Run{42.72, 0.35, 10.88}, Run{13.00, 0.63, 4.18}}) {
    CAPTURE(run.step_ms);
    const auto ns = static_cast<std::int64_t>(run.step_ms * 1e6);
    const Energy energy = energy_of(**power, ns, run.filled * run.step_ms * 1e6);
    CHECK(energy.low_joules < run.joules);
    CHECK(energy.high_joules > run.joules);
  }
}
