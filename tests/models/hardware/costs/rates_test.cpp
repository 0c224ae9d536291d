#include "models/hardware/costs/rates.h"

#include <array>
#include <cmath>
#include <string>

#include <doctest/doctest.h>

#include "models/hardware/costs/calibration/operator_table.h"
#include "models/hardware/costs/operator_model.h"
#include "tests/configs.h"

using foretrace::Accelerator;
using foretrace::KernelClass;
using foretrace::Precision;
using foretrace::precision_count;

TEST_CASE("rates: products take what was measured of them, other kernels what is usual") {
  Accelerator accelerator;
  accelerator.memory_bandwidth = 1e12;
  const double usual = memory_rate(accelerator, KernelClass::gemm);
  const double usual_start = shortest_kernel_ns(accelerator, KernelClass::gemm);
  const double copies = memory_rate(accelerator, KernelClass::copy);
  accelerator.product_bandwidth_share = 0.9;
  accelerator.shortest_product_ns = 3000;
  CHECK(memory_rate(accelerator, KernelClass::gemm) == doctest::Approx(0.9e12));
  CHECK(memory_rate(accelerator, KernelClass::gemm) > usual);
  CHECK(shortest_kernel_ns(accelerator, KernelClass::gemm) == 3000);
  CHECK(usual_start > 3000);
  CHECK(memory_rate(accelerator, KernelClass::copy) == copies);
  CHECK(shortest_kernel_ns(accelerator, KernelClass::copy) ==
        foretrace::shortest_kernel_ns(KernelClass::copy));
  // A slice of the device keeps the share.
  accelerator.memory_bandwidth /= 2;
  CHECK(memory_rate(accelerator, KernelClass::gemm) == doctest::Approx(0.45e12));
}

TEST_CASE("rates: the model of a product takes them too") {
  Accelerator accelerator;
  accelerator.memory_bandwidth = 1e12;
  accelerator.multiprocessors = 100;
  accelerator.product_bandwidth_share = 0.9;
  accelerator.shortest_product_ns = 3000;
  const auto model =
      usual_model(accelerator, foretrace::OperatorKind::gemm, foretrace::Precision::fp16);
  CHECK(model.fit.bandwidth_share == 0.9);
  CHECK(model.fit.fixed_ns == 3000);
}

TEST_CASE("rates: what is not known of a precision is as far from its peak as what is") {
  Accelerator accelerator;
  const auto of = [](Precision precision) { return static_cast<std::size_t>(precision); };
  for (const Precision precision : {Precision::fp32, Precision::bf16, Precision::fp8}) {
    accelerator.peak_flops[of(precision)] = 1e15;
  }
  const double usual = sustained_rate(accelerator, Precision::fp8, KernelClass::gemm);
  accelerator.sustained_flops[of(Precision::bf16)] = 0.5e15;
  CHECK(sustained_rate(accelerator, Precision::fp8, KernelClass::gemm) == doctest::Approx(0.5e15));
  CHECK(usual > 0.5e15);
  // Other units have nothing to do with it.
  CHECK(sustained_rate(accelerator, Precision::fp32, KernelClass::gemm) == usual);
}

TEST_CASE("rates: no board of a chip has an assumed rate beside one that has a stated rate") {
  const auto accelerators = foretrace::test::shipped()->accelerators();
  const auto of = [](const Accelerator& one, const std::array<double, precision_count>& figures) {
    return figures[static_cast<std::size_t>(one.flops(Precision::bf16) > 0 ? Precision::bf16
                                                                           : Precision::fp16)];
  };
  for (const Accelerator& one : accelerators) {
    for (const Accelerator& other : accelerators) {
      const bool is_one_chip =
          one.compute_major == other.compute_major && one.compute_minor == other.compute_minor &&
          one.multiprocessors == other.multiprocessors &&
          std::abs(of(one, one.peak_flops) / of(other, other.peak_flops) - 1) < 0.01;
      if (one.compute_major == 0 || !is_one_chip) continue;
      CHECK_MESSAGE((of(one, one.sustained_flops) > 0) == (of(other, other.sustained_flops) > 0),
                    one.name << " and " << other.name);
    }
  }
}

TEST_CASE("rates: an H100's products that wait for memory are those that were measured") {
  const auto h100 = foretrace::test::find_accelerator("h100_sxm");
  REQUIRE(h100.ok());
  Accelerator usual = *h100;
  usual.product_bandwidth_share = 0;
  usual.shortest_product_ns = 0;
  double error = 0;
  double usual_error = 0;
  int rows = 0;
  for (const char* type : {"bf16", "fp16"}) {
    const auto table = foretrace::read_operator_table(
        std::string(FORETRACE_SOURCE_DIR "/examples/traces/h100/operators/gemm_") + type +
        "_h100.json");
    REQUIRE_MESSAGE(table.ok(), (table.ok() ? "" : table.error().message));
    for (const auto& row : table->rows) {
      const double bytes = 2 * row.shape.numbers();
      const double flops = 2 * row.shape.batch * row.shape.m * row.shape.n * row.shape.k;
      if (bytes <= 30e6 || flops >= 150 * bytes) continue;
      const auto off = [&](const Accelerator& accelerator) {
        const double ns = shortest_kernel_ns(accelerator, KernelClass::gemm) +
                          bytes / memory_rate(accelerator, KernelClass::gemm) * 1e9;
        return std::abs(ns / row.measured_ns - 1);
      };
      error += off(*h100);
      usual_error += off(usual);
      ++rows;
    }
  }
  // What the file's sources say.
  CHECK(rows == 30);
  CHECK(error / rows == doctest::Approx(0.080).epsilon(0.01));
  CHECK(usual_error / rows > 0.1);
}
