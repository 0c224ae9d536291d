#include "models/hardware/costs/cost_book.h"

#include <array>

#include <doctest/doctest.h>

#include "tests/configs.h"

using namespace foretrace;

namespace {

Accelerator accelerator(const char* name) {
  auto found = foretrace::test::find_accelerator(name);
  REQUIRE_MESSAGE(found.ok(), found.error().message);
  return *found;
}

KernelDescription product() {
  KernelDescription kernel;
  kernel.traits = {KernelClass::gemm, Precision::fp16, true, false, {}};
  kernel.amount = gemm_work({1, 4096, 4096, 4096});
  return kernel;
}

}  // namespace

TEST_CASE("cost book: the most trusted provider that knows an answer gives it") {
  const Accelerator a100 = accelerator("a100_sxm_80gb");
  const Accelerator h100 = accelerator("h100_sxm");
  const KernelDescription kernel = product();
  const Setting on_a100{&a100, Precision::fp16};
  const Setting on_h100{&h100, Precision::fp16};
  const CostBook book;
  const auto same = book.cost({"x", &kernel, 500000, on_a100, on_a100});
  REQUIRE(same.ok());
  CHECK(same->provenance == Provenance::measured);
  CHECK(same->duration_ns == 500000);
  const auto moved = book.cost({"x", &kernel, 500000, on_a100, on_h100});
  REQUIRE(moved.ok());
  CHECK(moved->provenance == Provenance::scaled);
  CHECK(moved->duration_ns < 500000);
  CHECK(moved->basis == "scaled by its shape");
  // Never measured: a table of the A100, none of the H100.
  const auto table = book.cost({"x", &kernel, -1, {}, on_a100});
  REQUIRE(table.ok());
  CHECK(table->provenance == Provenance::table);
  CHECK(table->low <= 1);
  CHECK(table->high >= 1);
  const auto roofline = book.cost({"x", &kernel, -1, {}, on_h100});
  REQUIRE(roofline.ok());
  CHECK(roofline->provenance == Provenance::roofline);
}

TEST_CASE("cost book: a stated time is the last resort, and its range is wide") {
  KernelDescription unknown;
  unknown.traits.kernel_class = KernelClass::other;
  AssumedCosts stated;
  stated.ns[static_cast<std::size_t>(KernelClass::other)] = 7000;
  CostBook book;
  book.add(stated);
  const auto cost = book.cost({"mystery", &unknown});
  REQUIRE(cost.ok());
  CHECK(cost->provenance == Provenance::assumed);
  CHECK(cost->duration_ns == 7000);
  CHECK(cost->high == 2.0F);
  CHECK(provenance_of(stated) == Provenance::assumed);
}

TEST_CASE("cost book: a task without a cost is an error that names it and the ways out") {
  const Accelerator a100 = accelerator("a100_sxm_80gb");
  const KernelDescription kernel = product();
  KernelDescription unknown;
  const std::array<CostQuery, 2> queries = {
      CostQuery{"kernel 'known'", &kernel, -1, {}, {&a100, Precision::fp16}},
      CostQuery{"kernel 'mystery'", &unknown, -1, {}, {&a100, Precision::fp16}}};
  std::array<Cost, 2> costs;
  const Status status = CostBook().costs(queries, costs);
  REQUIRE_FALSE(status.ok());
  CHECK(status.error().code == ErrorCode::missing_cost);
  CHECK(status.error().message ==
        "cannot time kernel 'mystery': record shapes (record_shapes=True), set the parameter that "
        "states its size or time, name the accelerator, or fit constants to a table (foretrace "
        "calibrate)");
}
