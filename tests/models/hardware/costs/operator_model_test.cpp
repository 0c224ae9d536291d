#include "models/hardware/costs/operator_model.h"

#include <doctest/doctest.h>

#include "tests/configs.h"

using namespace foretrace;

namespace {

Accelerator accelerator(const char* name) {
  auto found = foretrace::test::find_accelerator(name);
  REQUIRE_MESSAGE(found.ok(), found.error().message);
  return *found;
}

}  // namespace

TEST_CASE("operator model: constants of a table of this accelerator win, bf16 counts as fp16") {
  const Accelerator a100 = accelerator("a100_sxm_80gb");
  CHECK(operator_model(a100, OperatorKind::gemm, Precision::fp16).fitted);
  CHECK(operator_model(a100, OperatorKind::gemm, Precision::bf16).fitted);
  CHECK_FALSE(operator_model(a100, OperatorKind::gemm, Precision::tf32).fitted);
  CHECK_FALSE(operator_model(accelerator("h100_sxm"), OperatorKind::gemm, Precision::fp16).fitted);
}

TEST_CASE("operator model: products of boards with tables of their own take what was measured") {
  // LLMServingSim, profiler/perf/RTX4090 and RTXPRO6000, dense.csv of Llama 3.1 8B.
  const auto us = [](const char* name, double rows) {
    const OperatorModel model =
        operator_model(accelerator(name), OperatorKind::gemm, Precision::bf16);
    CHECK(model.fitted);
    return model_ns(model, OperatorShape{1, rows, 4096, 14336}) / 1e3;
  };
  CHECK(us("rtx_4090", 2048) == doctest::Approx(1459.6).epsilon(0.03));
  CHECK(us("rtx_4090", 1) == doctest::Approx(126.8).epsilon(0.05));
  CHECK(us("rtx_pro_6000", 2048) == doctest::Approx(646.6).epsilon(0.05));
  CHECK(us("rtx_pro_6000", 1) == doctest::Approx(85.0).epsilon(0.05));
}

TEST_CASE("operator model: a fixed time that holds the host's is not taken for the kernel's") {
  const Accelerator a100 = accelerator("a100_sxm_80gb");
  // LLMCompass timed layer norm from the host: 40 us of every row are not the kernel's.
  const OperatorModel model = operator_model(a100, OperatorKind::layer_norm, Precision::fp16);
  REQUIRE(model.fitted);
  CHECK(model.fit.fixed_ns == 1800);
  CHECK(operator_model(a100, OperatorKind::gemm, Precision::fp16).fit.fixed_ns > 4000);
}

TEST_CASE("operator model: the sustained clock moves products of matrix units and nothing else") {
  Accelerator a100 = accelerator("a100_sxm_40gb");
  const OperatorShape shape{1, 8192, 8192, 8192};
  const auto ns = [&](Precision precision) {
    return model_ns(operator_model(a100, OperatorKind::gemm, precision), shape);
  };
  const double half = ns(Precision::fp16);
  const double single = ns(Precision::fp32);
  a100.sustained_clock.typical *= 1.1;
  CHECK(ns(Precision::fp16) == doctest::Approx(half / 1.1).epsilon(0.001));
  CHECK(ns(Precision::fp32) == single);
}

TEST_CASE("operator model: the usual constants are those of the table they were taken from") {
  const Accelerator a100 = accelerator("a100_sxm_80gb");
  const OperatorModel usual = usual_model(a100, OperatorKind::gemm, Precision::fp16);
  const OperatorModel fitted = operator_model(a100, OperatorKind::gemm, Precision::fp16);
  for (const OperatorShape& shape :
       {OperatorShape{1, 128, 4096, 4096}, OperatorShape{1, 2048, 4096, 4096},
        OperatorShape{1, 16384, 8192, 8192}}) {
    CHECK(model_ns(usual, shape) == doctest::Approx(model_ns(fitted, shape)).epsilon(0.05));
  }
}

TEST_CASE(
    "operator model: without a table fp32 products of a batch take what other boards measured") {
  // NeuSight, dataset/test/bmm.csv and linear.csv, in ms.
  const auto ms = [](const char* name, const OperatorShape& shape) {
    const OperatorKind kind = shape.batch > 1 ? OperatorKind::batched_gemm : OperatorKind::gemm;
    return model_ns(usual_model(accelerator(name), kind, Precision::fp32), shape) / 1e6;
  };
  CHECK(ms("a100_pcie_40gb", {24576, 512, 512, 96}) == doctest::Approx(97.101).epsilon(0.15));
  CHECK(ms("a100_pcie_40gb", {640, 3072, 3072, 96}) == doctest::Approx(92.800).epsilon(0.15));
  CHECK(ms("v100_pcie_32gb", {64, 2048, 2048, 96}) == doctest::Approx(4.397).epsilon(0.15));
  CHECK(ms("v100_pcie_32gb", {256, 1024, 1024, 80}) == doctest::Approx(4.228).epsilon(0.15));
  CHECK(ms("p100_pcie_16gb", {12288, 512, 512, 64}) == doctest::Approx(95.030).epsilon(0.15));
  CHECK(ms("p100_pcie_16gb", {768, 2048, 2048, 64}) == doctest::Approx(92.781).epsilon(0.15));
  CHECK(ms("v100_pcie_32gb", {1, 32768, 6400, 1600}) == doctest::Approx(55.634).epsilon(0.15));
}

TEST_CASE("operator model: products of a batch pay more for a tile on matrix units alone") {
  const auto pays_more = [](const char* name, Precision precision) {
    const Accelerator on = accelerator(name);
    return usual_model(on, OperatorKind::batched_gemm, precision).fit.tile_overhead_k >
           usual_model(on, OperatorKind::gemm, precision).fit.tile_overhead_k;
  };
  CHECK_FALSE(pays_more("a100_sxm_80gb", Precision::fp32));
  CHECK(pays_more("a100_sxm_80gb", Precision::tf32));
  CHECK(pays_more("a100_sxm_80gb", Precision::bf16));
  // The matrix units of AMD's boards compute in fp32 too, at twice the rate of the others.
  CHECK(pays_more("mi100", Precision::fp32));
}
