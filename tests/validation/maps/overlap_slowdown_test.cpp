#include "tests/validation/maps/overlap_slowdown.h"

#include <string>

#include <doctest/doctest.h>

#include "models/hardware/catalogue/config_files.h"
#include "tests/configs.h"

using foretrace::find_overlap;
using foretrace::parse_overlap;
using foretrace::time_beside;

namespace {

std::string document(const std::string& kernels) {
  return R"({"schema": "foretrace.overlap/1", "machine": "two devices", "kernels": [)" + kernels +
         R"(], "fitted_to": [10, 20, 5, 5.5], "sources": {"kernels": "a table", "fitted_to": "it"}})";
}

}  // namespace

TEST_CASE("overlap: every file reads, and says where its figures are from") {
  const auto names = foretrace::config_names(foretrace::test::shipped()->directory(), "overlap");
  CHECK_FALSE(names.empty());
  for (const std::string& name : names) {
    CAPTURE(name);
    const auto overlap = find_overlap(*foretrace::test::shipped(), name);
    REQUIRE_MESSAGE(overlap.ok(), overlap.error().message);
    CHECK_FALSE(overlap->rules.empty());
    CHECK_FALSE(overlap->sources.empty());
  }
}

TEST_CASE("overlap: large products lose little, sums of columns most, what no rule names nothing") {
  const auto overlap = find_overlap(*foretrace::test::shipped(), "a100_nccl");
  REQUIRE(overlap.ok());
  const double product = overlap->of("ampere_sgemm_128x64_tn").typical;
  const double elementwise = overlap->of("vectorized_elementwise_kernel").typical;
  const double columns = overlap->of("GammaBetaBackwardCUDAKernel_32x32").typical;
  CHECK(product < 1.05);
  CHECK(elementwise > 1.1);
  CHECK(columns > 4);
  CHECK(overlap->of("a kernel of nobody").typical == 1);
  // The same class as the sums of columns, but not their name.
  CHECK(overlap->of("layer_norm_grad_input_kernel_vectorized").typical == 1);
}

TEST_CASE("overlap: a kernel that is half beside a collective does half of its time at its rate") {
  // 60 us in all: 30 alone do 30 us of work, 30 at half speed do 15.
  CHECK(time_beside(45, 0.5, 2) == doctest::Approx(60));
  CHECK(time_beside(45, 0, 2) == doctest::Approx(45));
  CHECK(time_beside(45, 1, 2) == doctest::Approx(90));
}

TEST_CASE("overlap: rows that made the factors are known by their times") {
  const auto overlap = parse_overlap(
      document(R"({"class": "gemm", "slowdown": {"typical": 1.1, "low": 1, "high": 1.2}})"),
      "own.json");
  REQUIRE_MESSAGE(overlap.ok(), overlap.error().message);
  CHECK(overlap->is_fitted_to(5, 5.5));
  CHECK_FALSE(overlap->is_fitted_to(20, 5));
}

TEST_CASE("overlap: mistakes are told with file and place") {
  const auto error = [](const std::string& kernels) {
    const auto overlap = parse_overlap(document(kernels), "own.json");
    REQUIRE_FALSE(overlap.ok());
    return overlap.error().message;
  };
  CHECK(error(R"({"class": "gem", "slowdown": {"typical": 1, "low": 1, "high": 1}})")
            .find("own.json: /kernels/0/class: got 'gem' (did you mean 'gemm'?)") == 0);
  CHECK(error(R"({"slowdown": {"typical": 1, "low": 1, "high": 1}})") ==
        "own.json: /kernels/0/name: expected either a name or a class of kernels");
  CHECK(error(R"({"class": "gemm", "slowdown": {"typical": 1, "low": 2, "high": 3}})")
            .find("expected 0 <= low <= typical <= high") != std::string::npos);
}
