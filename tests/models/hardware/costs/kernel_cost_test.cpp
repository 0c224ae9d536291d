#include "models/hardware/costs/kernel_cost.h"

#include <cmath>

#include <doctest/doctest.h>

#include "tests/configs.h"

using foretrace::Accelerator;
using foretrace::ErrorCode;
using foretrace::KernelClass;
using foretrace::KernelDescription;
using foretrace::Precision;
using foretrace::Provenance;
using foretrace::roofline_cost;
using foretrace::scaled_cost;
using foretrace::Setting;

namespace {

Accelerator accelerator(const char* name) {
  auto found = foretrace::test::find_accelerator(name);
  REQUIRE_MESSAGE(found.ok(), found.error().message);
  return *found;
}

KernelDescription kernel(KernelClass kernel_class, bool compute_bound) {
  KernelDescription description;
  description.traits.kernel_class = kernel_class;
  description.traits.compute_bound = compute_bound;
  description.traits.precision = Precision::fp32;
  return description;
}

}  // namespace

TEST_CASE("scaled cost: the same conditions give the measured time, as certain as it was") {
  const Accelerator a100 = accelerator("a100_sxm_40gb");
  const Accelerator copy = a100;
  const Setting setting{&a100, Precision::fp32};
  for (const auto kernel_class :
       {KernelClass::gemm, KernelClass::elementwise, KernelClass::other}) {
    const auto cost = scaled_cost(123456, kernel(kernel_class, kernel_class == KernelClass::gemm),
                                  setting, {&copy, Precision::fp32});
    CHECK(cost.duration_ns == 123456);
    CHECK(cost.provenance == Provenance::measured);
    CHECK(cost.low == 1.0F);
    CHECK(cost.high == 1.0F);
  }
}

TEST_CASE("scaled cost: bytes halve with the numbers, the ramp-up of a kernel stays") {
  const Accelerator a100 = accelerator("a100_sxm_40gb");
  // 1.8 us of every elementwise kernel are not bytes: 101.8 us -> 1.8 + 50.
  const auto cost = scaled_cost(101800, kernel(KernelClass::elementwise, false),
                                {&a100, Precision::fp32}, {&a100, Precision::fp16});
  CHECK(cost.duration_ns == 51800);
  CHECK(scaled_cost(1500, kernel(KernelClass::elementwise, false), {&a100, Precision::fp32},
                    {&a100, Precision::fp16})
            .duration_ns == 1500);
}

TEST_CASE("scaled cost: a product of known shape follows the product model") {
  const Accelerator a100 = accelerator("a100_sxm_40gb");
  KernelDescription gemm = kernel(KernelClass::gemm, true);
  gemm.amount.gemm = foretrace::GemmShape{1, 8192, 8192, 8192};
  gemm.amount.flops = gemm.amount.gemm->flops();
  const auto cost = scaled_cost(80000000, gemm, {&a100, Precision::fp32}, {&a100, Precision::fp16});
  // Both precisions run at their sustained rate at this size: 16.3 -> 239 x 1.09 TFLOP/s.
  CHECK(static_cast<double>(cost.duration_ns) ==
        doctest::Approx(80e6 * 16.3 / (239 * 1.09)).epsilon(0.02));
  // The clock may be anywhere between the two states of the A100.
  CHECK(cost.low == doctest::Approx(1.09 / 1.19));
  CHECK(cost.high == doctest::Approx(1.09));
}

TEST_CASE("scaled cost: a product of unknown shape lies between arithmetic and bytes") {
  const Accelerator a100 = accelerator("a100_sxm_40gb");
  const auto cost = scaled_cost(10000000, kernel(KernelClass::gemm, true), {&a100, Precision::fp32},
                                {&a100, Precision::fp16});
  const double arithmetic = 10e6 * 16.3 / (239 * 1.09);
  const double bytes = 10e6 * 0.5;
  CHECK(static_cast<double>(cost.duration_ns) ==
        doctest::Approx(std::sqrt(arithmetic * bytes)).epsilon(0.01));
  CHECK(cost.low * static_cast<double>(cost.duration_ns) ==
        doctest::Approx(arithmetic).epsilon(0.01));
  CHECK(cost.high * static_cast<double>(cost.duration_ns) == doctest::Approx(bytes).epsilon(0.01));
}

TEST_CASE("scaled cost: memory-bound work moves with the bandwidth") {
  const Accelerator h100 = accelerator("h100_sxm");
  const Accelerator mi300x = accelerator("mi300x");
  const auto cost = scaled_cost(1001800, kernel(KernelClass::elementwise, false),
                                {&h100, Precision::fp32}, {&mi300x, Precision::fp32});
  // 2.1 us of the H100's kernel are start and end, which take 3.4 us there.
  CHECK(cost.duration_ns == std::llround(3400 + (1001800 - 2100) * 3.35 / 5.3));
}

TEST_CASE("scaled cost: a kernel that only starts and ends takes what the device needs for that") {
  const Accelerator h100 = accelerator("h100_sxm");
  const Accelerator mi300x = accelerator("mi300x");
  const KernelDescription tiny = kernel(KernelClass::elementwise, false);
  const Setting from{&h100, Precision::fp32};
  const auto cost = scaled_cost(1050, tiny, from, {&mi300x, Precision::fp32});
  CHECK(cost.duration_ns == std::llround(1050 * 3.4 / 2.1));
  CHECK(cost.low == 1.0F);
  CHECK(foretrace::kernel_bound_of(1050, tiny, from) == foretrace::KernelBound::launch);
  CHECK(foretrace::kernel_bound_of(9000, tiny, from) == foretrace::KernelBound::memory);
}

TEST_CASE("bottleneck: products are told apart by their shape, without one it is not known") {
  const Accelerator a100 = accelerator("a100_sxm_80gb");
  const Setting setting{&a100, Precision::fp16};
  KernelDescription gemm = kernel(KernelClass::gemm, true);
  CHECK(foretrace::kernel_bound_of(90000, gemm, setting) == foretrace::KernelBound::unknown);
  gemm.amount = foretrace::gemm_work({1, 4096, 4096, 4096});
  CHECK(foretrace::kernel_bound_of(900000, gemm, setting) == foretrace::KernelBound::compute);
  gemm.amount = foretrace::gemm_work({1, 8, 4096, 4096});
  CHECK(foretrace::kernel_bound_of(90000, gemm, setting) == foretrace::KernelBound::memory);
}

TEST_CASE("roofline: a new kernel costs its bytes or its arithmetic, whichever is longer") {
  const Accelerator a100 = accelerator("a100_sxm_80gb");
  KernelDescription copy = kernel(KernelClass::elementwise, false);
  copy.amount.numbers = 2e9;
  const auto cost = roofline_cost(copy, {&a100, Precision::fp32}, "fused update");
  REQUIRE(cost.ok());
  CHECK(cost->provenance == Provenance::roofline);
  CHECK(static_cast<double>(cost->duration_ns) ==
        doctest::Approx(1800 + 8e9 / (2.039e12 * 0.80) * 1e9).epsilon(1e-6));
}

TEST_CASE("roofline: a kernel without an amount is an error that names it and the ways out") {
  const Accelerator a100 = accelerator("a100_sxm_80gb");
  const auto cost =
      roofline_cost(kernel(KernelClass::gemm, true), {&a100, Precision::fp32}, "kernel 'x'");
  REQUIRE_FALSE(cost.ok());
  CHECK(cost.error().code == ErrorCode::missing_cost);
  CHECK(
      cost.error().message ==
      "cannot time kernel 'x': record shapes (record_shapes=True), set the parameter that states "
      "its size or time, name the accelerator, or fit constants to a table (foretrace calibrate)");
}
