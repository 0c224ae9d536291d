#include "models/hardware/catalogue/evidence.h"

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
    one.first = name;
    one.second = "h100_sxm";
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
    for (const char* const device : {"gb200", "h200_sxm", "mi300x"}) {
      EvidenceFamily more = kind.families.front();
      more.second = device;
      kind.families.push_back(more);
    }
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
    // A framework on a device that nobody measured is no better known than on half of those that
    // were.
    for (const EvidenceFamily& one : kind.families) {
      const auto range = evidence_range(kind, {one.first, "tpu_v4", 16});
      const foretrace::Ranged& unseen = range.factor;
      const bool is_wider = unseen.high > kind.new_family || unseen.low < 1 / kind.new_family;
      CHECK(is_wider == (range.basis.find(", or as " + one.first) != std::string::npos));
      int all = 0;
      int low = 0;
      int high = 0;
      for (const EvidenceFamily& other : kind.families) {
        if (other.first != one.first) continue;
        ++all;
        low += unseen.low <= other.factor.low ? 1 : 0;
        high += unseen.high >= other.factor.high ? 1 : 0;
      }
      CHECK(2 * low >= all);
      CHECK(2 * high >= all);
    }
  }
}

TEST_CASE("evidence: a catalogue reads the shipped file, a wrong one is told where") {
  const auto shipped = foretrace::test::shipped()->evidence();
  REQUIRE(shipped != nullptr);
  CHECK(shipped->of(foretrace::MeasuredKind::training).knows_new());
  CHECK(shipped->of(foretrace::MeasuredKind::large_collectives).knows_new());
  CHECK(foretrace::no_catalogue().evidence() == nullptr);
  const auto wrong = parse_evidence(
      R"({"schema": "foretrace.evidence/1", "training": {"new_family": 0.5, "families": []},
          "expert_training": {"new_family": 1, "families": []},
          "prompts": {"new_family": 1, "families": []},
          "decoding": {"new_family": 1, "families": []}})",
      "e.json");
  REQUIRE_FALSE(wrong.ok());
  CHECK(wrong.error().message == "e.json: /training/new_family: expected at least 1");
}

TEST_CASE("evidence: a range says whose runs it is based on") {
  EvidenceKind kind = four_families();
  kind.families[1].publishers = {"NVIDIA"};
  CHECK(evidence_range(kind, {"b", "h100_sxm", 64}).basis ==
        "12 measured configurations of b on h100_sxm, all by NVIDIA");
  kind.families[1].publishers = {"IBM", "NVIDIA"};
  CHECK(evidence_range(kind, {"b", "h100_sxm", 64}).basis ==
        "12 measured configurations of b on h100_sxm, by IBM, NVIDIA");
}

TEST_CASE("evidence: a family whose measured figures lie to one side says so") {
  EvidenceKind kind = four_families();
  kind.families[1].factor = {1.3, 0.96, 1.8};
  CHECK(evidence_range(kind, {"b", "h100_sxm", 64}).basis ==
        "12 measured configurations of b on h100_sxm; biased: measured is 1.30 times the "
        "prediction in the middle");
  CHECK(evidence_range(kind, {"b", "h100_sxm", 64}).factor.typical == 1);
  kind.families[1].factor = {0.7, 0.5, 1.05};
  CHECK(evidence_range(kind, {"b", "h100_sxm", 64}).basis.find("0.70 times") != std::string::npos);
  for (const foretrace::Ranged& even :
       {foretrace::Ranged{1.3, 0.8, 1.8}, foretrace::Ranged{1.04, 0.96, 1.8}}) {
    kind.families[1].factor = even;
    CHECK(evidence_range(kind, {"b", "h100_sxm", 64}).basis.find("biased") == std::string::npos);
  }
}

TEST_CASE("evidence: files from before a kind was measured are read; its families have two names") {
  const std::string old =
      R"({"schema": "foretrace.evidence/1", "training": {"new_family": 1, "families": []},
          "expert_training": {"new_family": 1, "families": []},
          "prompts": {"new_family": 1, "families": []},
          "decoding": {"new_family": 1, "families": []})";
  REQUIRE(parse_evidence(old + "}", "e.json").ok());
  const auto read = parse_evidence(
      old + R"(, "small_curves": {"new_family": 2, "families": [{"machine": "dgx_h100",
            "collective": "send", "cells": 3, "least_ranks": 2, "most_ranks": 8, "low": 0.8,
            "typical": 1.1, "high": 1.5}]}})",
      "e.json");
  REQUIRE_MESSAGE(read.ok(), read.error().message);
  const EvidenceKind& curves = read->of(foretrace::MeasuredKind::small_curves);
  CHECK(evidence_range(curves, {"dgx_h100", "send", 4}).basis ==
        "3 measured configurations of send on dgx_h100");
  CHECK(evidence_range(curves, {"mine", "send", 4}).basis.find("machine mine not measured") == 0);
  EvidenceKind two = curves;
  two.families.push_back(
      {.first = "polaris", .second = "all_gather", .cells = 3, .publishers = {}});
  CHECK(evidence_range(two, {"polaris", "send", 4}).basis.find("send on polaris not measured") ==
        0);
  const auto apart = parse_evidence(
      old + R"(, "memory": {"new_family": 2, "families": [{"framework": "f", "accelerator": "a",
            "cells": 3, "least_ranks": 2, "most_ranks": 8, "low": 0.8, "typical": 1.7,
            "high": 1.5}]}})",
      "e.json");
  REQUIRE_FALSE(apart.ok());
  CHECK(apart.error().message ==
        "e.json: /memory/families/0/typical: expected a figure from low to high");
}
