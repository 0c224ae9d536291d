#include "models/costs/rates.h"

#include <doctest/doctest.h>

#include "models/costs/operator_model.h"

using foretrace::Accelerator;
using foretrace::KernelClass;

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
