#include "models/jobs/workloads/expert_load.h"

#include <cmath>

#include <doctest/doctest.h>

using foretrace::ExpertSpec;
using foretrace::reached_experts;

namespace {

ExpertSpec spec_of(std::uint32_t count, std::uint32_t top_k, double exponent) {
  ExpertSpec spec;
  spec.count = count;
  spec.top_k = top_k;
  spec.load_exponent = exponent;
  return spec;
}

}  // namespace

TEST_CASE("expert load: equal loads reach E (1 - (1 - k/E)^T)") {
  const ExpertSpec equal = spec_of(128, 4, 0);
  CHECK(reached_experts(equal, 1, false) == doctest::Approx(4));
  CHECK(reached_experts(equal, 32, false) ==
        doctest::Approx(128 * (1 - std::pow(1 - 4.0 / 128, 32))));
  // Training balances what the exponent would not.
  CHECK(reached_experts(spec_of(128, 4, 1.2), 32, true) == reached_experts(equal, 32, false));
}

TEST_CASE("expert load: unequal loads reach fewer experts") {
  for (const double exponent : {1.01, 1.2}) {
    for (const double tokens : {2.0, 16.0, 64.0, 512.0}) {
      CAPTURE(exponent);
      CAPTURE(tokens);
      const double equal = reached_experts(spec_of(128, 4, 0), tokens, false);
      const double unequal = reached_experts(spec_of(128, 4, exponent), tokens, false);
      CHECK(unequal < 0.99 * equal);
      CHECK(unequal > 0.4 * equal);
    }
  }
}

TEST_CASE("expert load: more tokens reach more experts, one token reaches its own") {
  for (const ExpertSpec& spec : {spec_of(128, 4, 1.2), spec_of(256, 8, 1.01), spec_of(8, 2, 1.2),
                                 spec_of(16, 1, 1.2), spec_of(4, 4, 1.2)}) {
    CAPTURE(spec.count);
    CHECK(reached_experts(spec, 1, false) == doctest::Approx(spec.top_k));
    double last = 0;
    for (double tokens = 1; tokens < 300; ++tokens) {
      CAPTURE(tokens);
      const double reached = reached_experts(spec, tokens, false);
      CHECK(reached >= last - 1e-9);
      CHECK(reached <= last + spec.top_k + 1e-9);
      CHECK(reached <= spec.count);
      last = reached;
    }
    CHECK(reached_experts(spec, 1e6, false) == doctest::Approx(spec.count).epsilon(0.01));
  }
}
