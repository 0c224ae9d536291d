#include "apps/questions/compare/gate.h"

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace foretrace {
namespace {

Comparison comparison_of(std::int64_t before_ns, std::int64_t after_ns) {
  Comparison comparison;
  comparison.before_ns = before_ns;
  comparison.after_ns = after_ns;
  return comparison;
}

bool holds(const Comparison& comparison, std::string_view gate) {
  const auto checks = check_gates(comparison, parse_gates(gate).value());
  REQUIRE_MESSAGE(checks.ok(), checks.error().message);
  REQUIRE(checks->size() == 1);
  return checks->front().holds();
}

std::string error_of(std::string_view gate) {
  const auto gates = parse_gates(gate);
  REQUIRE_FALSE(gates.ok());
  return gates.error().message;
}

TEST_CASE("gate: exactly what is allowed passes, one more does not") {
  // 3 % of 1,000 ns are 30 ns.
  CHECK(holds(comparison_of(1000, 1030), "step=+3%"));
  CHECK_FALSE(holds(comparison_of(1000, 1031), "step=+3%"));
  CHECK(holds(comparison_of(1000, 1000), "step=0%"));
  CHECK_FALSE(holds(comparison_of(1000, 1001), "step=0%"));
  // A gain may be asked for, too.
  CHECK(holds(comparison_of(1000, 900), "step=-10%"));
  CHECK_FALSE(holds(comparison_of(1000, 901), "step=-10%"));
}

TEST_CASE("gate: a gate that holds holds for every run that is no worse, and for a wider gate") {
  std::mt19937_64 random(7);
  for (int i = 0; i < 2000; ++i) {
    const auto before = static_cast<std::int64_t>(random() % 1'000'000'000 + 1);
    const auto after = static_cast<std::int64_t>(random() % 2'000'000'000 + 1);
    const double percent = static_cast<double>(random() % 2000) / 10 - 90;
    const auto gate = [](double share) { return fmt::format("step={:.1f}%", share); };
    CAPTURE(before);
    CAPTURE(after);
    CAPTURE(percent);
    const bool now = holds(comparison_of(before, after), gate(percent));
    // As it is computed by whole numbers: tenths of a percent are thousandths.
    const auto thousandths = static_cast<std::int64_t>(std::llround(percent * 10));
    CHECK(now == (after * 1000 <= before * (1000 + thousandths)));
    if (now) CHECK(holds(comparison_of(before, after), gate(percent + 0.1)));
    if (now && after > 1) CHECK(holds(comparison_of(before, after - 1), gate(percent)));
  }
}

TEST_CASE("gate: memory is the peak of the fullest device") {
  Comparison comparison = comparison_of(10, 10);
  comparison.peak = ComparedBytes{"peak", 1000, 1051};
  CHECK_FALSE(holds(comparison, "memory=+5%"));
  CHECK(holds(comparison, "memory=+5.1%"));
  const auto both = check_gates(comparison, parse_gates("memory=+5%,step=+3%").value());
  REQUIRE(both.ok());
  CHECK_FALSE(both->front().holds());
  CHECK(both->back().holds());
}

TEST_CASE("gate: what cannot be asked is one clear line") {
  CHECK(error_of("speed=+3%") == "gate: unknown figure 'speed', expected step or memory");
  CHECK(error_of("step=+3%,step=+5%").find("'step' is given twice") != std::string::npos);
  for (const char* const share : {"3", "x%", "%", "+%", "+-3%", "-+3%", "-100%", "nan%", "3%%"}) {
    CAPTURE(share);
    CHECK(error_of(std::string("step=") + share) ==
          fmt::format("gate: step: got '{}', expected a share such as step=+3%,memory=+5%", share));
  }
  for (const char* const text : {"", "step", "=", ",", "step=+3%,"}) {
    CAPTURE(text);
    CHECK_FALSE(error_of(text).empty());
  }
  const auto without = check_gates(comparison_of(10, 10), parse_gates("memory=+5%").value());
  REQUIRE_FALSE(without.ok());
  CHECK(without.error().message == "gate: memory: expected tensors in both recordings");
}

}  // namespace
}  // namespace foretrace
