#include "models/jobs/times/evidence.h"

#include <cmath>
#include <random>

#include <doctest/doctest.h>

#include "tests/configs.h"

using foretrace::evidence_range;
using foretrace::EvidenceFamily;
using foretrace::EvidenceKind;
using foretrace::parse_evidence;

namespace {

EvidenceKind four_families() {
  EvidenceKind kind;
  kind.new_family = 1.2;
  for (const char* const name : {"a", "b", "c", "d"}) {
    EvidenceFamily one;
    one.framework = name;
    one.accelerator = "h100_sxm";
    one.cells = 12;
    one.least_ranks = 8;
    one.most_ranks = 512;
    one.factor = {1, 0.9, 1.1};
    kind.families.push_back(one);
  }
  return kind;
}

}  // namespace

TEST_CASE("evidence: a family has its own range, what is new of it the range of new families") {
  EvidenceKind kind = four_families();
  const auto own = evidence_range(kind, {"b", "h100_sxm", 64});
  CHECK(own.factor.low == 0.9);
  CHECK(own.factor.high == 1.1);
  CHECK(own.basis == "12 measured configurations of b on h100_sxm");
  const auto framework = evidence_range(kind, {"e", "h100_sxm", 64});
  CHECK(framework.factor.high == doctest::Approx(1.2));
  CHECK(framework.basis == "framework e not measured, as far off as others of 4 families");
  const auto both = evidence_range(kind, {"e", "tpu_v4", 64});
  CHECK(std::log(both.factor.high) == doctest::Approx(std::sqrt(2.0) * std::log(1.2)));
  CHECK(both.factor.low == doctest::Approx(1 / both.factor.high));
  CHECK(evidence_range(kind, {"b", "h100_sxm", 1024}).factor.high == doctest::Approx(1.2));
  kind.families[1].factor = {1, 0.5, 3};
  CHECK(evidence_range(kind, {"b", "h100_sxm", 1024}).factor.high == 3);
  kind.families.pop_back();
  CHECK(evidence_range(kind, {"e", "h100_sxm", 64}).basis ==
        "framework e not measured, no evidence (3 families measured)");
  kind.families.resize(1);
  CHECK(evidence_range(kind, {"e", "h100_sxm", 64}).basis ==
        "framework e not measured, no evidence (1 family measured)");
}

TEST_CASE("evidence: a range holds the step, and never narrows as more of it is new") {
  std::mt19937_64 random(7);
  const auto pick = [&random](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  for (int i = 0; i < 200; ++i) {
    EvidenceKind kind = four_families();
    kind.new_family = pick(1, 5);
    for (EvidenceFamily& one : kind.families) one.factor = {1, pick(0.1, 1), pick(1, 5)};
    double last = 1;
    for (const auto& [framework, accelerator] :
         {std::pair{"e", "h100_sxm"}, std::pair{"e", "tpu_v4"}}) {
      const auto range = evidence_range(kind, {framework, accelerator, 16}).factor;
      CHECK(range.low <= 1);
      CHECK(range.high >= last);
      last = range.high;
    }
    const auto inside = evidence_range(kind, {"a", "h100_sxm", 16}).factor;
    const auto beyond = evidence_range(kind, {"a", "h100_sxm", 1U << 20U}).factor;
    CHECK(inside.low <= 1);
    CHECK(inside.high >= 1);
    CHECK(beyond.low <= inside.low);
    CHECK(beyond.high >= inside.high);
  }
}

TEST_CASE("evidence: the shipped file is read with frameworks, a wrong one is told where") {
  const auto shipped = foretrace::find_evidence(*foretrace::test::shipped()).value();
  REQUIRE(shipped != nullptr);
  CHECK(shipped->of(foretrace::MeasuredKind::training).knows_new());
  CHECK(foretrace::find_evidence(foretrace::no_catalogue()).value() == nullptr);
  const auto wrong = parse_evidence(
      R"({"schema": "foretrace.evidence/1", "training": {"new_family": 0.5, "families": []},
          "expert_training": {"new_family": 1, "families": []},
          "prompts": {"new_family": 1, "families": []},
          "decoding": {"new_family": 1, "families": []}})",
      "e.json");
  REQUIRE_FALSE(wrong.ok());
  CHECK(wrong.error().message == "e.json: /training/new_family: expected at least 1");
}

TEST_CASE("evidence: what a framework's own file states is believed") {
  using foretrace::MeasuredKind;
  foretrace::Framework framework;
  framework.name = "e";
  CHECK_FALSE(evidence_range(framework, MeasuredKind::training, "h100_sxm", 8).has_value());
  framework.evidence = foretrace::find_evidence(*foretrace::test::shipped()).value();
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
