#include "models/jobs/times/evidence.h"

#include <doctest/doctest.h>

#include "tests/configs.h"

using foretrace::evidence_range;

TEST_CASE("evidence: what a framework's own file states is believed") {
  using foretrace::MeasuredKind;
  foretrace::Framework framework;
  framework.name = "e";
  CHECK_FALSE(evidence_range(framework, MeasuredKind::training, "h100_sxm", 8).has_value());
  framework.evidence = foretrace::test::shipped()->evidence();
  const auto measured = evidence_range(framework, MeasuredKind::training, "h100_sxm", 8);
  REQUIRE(measured.has_value());
  CHECK(measured->basis.find("framework e not measured") == 0);
  framework.step_error = 0.25;
  const auto stated = evidence_range(framework, MeasuredKind::training, "h100_sxm", 8);
  REQUIRE(stated.has_value());
  CHECK(stated->factor.low == doctest::Approx(0.8));
  CHECK(stated->factor.high == doctest::Approx(1.25));
  CHECK(evidence_range(framework, MeasuredKind::expert_training, "h100_sxm", 8)->factor.high >
        1.25);
}
