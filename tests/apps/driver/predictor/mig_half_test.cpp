#include "apps/driver/predictor/mig_half.h"

#include <doctest/doctest.h>

#include "tests/configs.h"

namespace foretrace {
namespace {

std::optional<MigHalf> half_of(const char* name) {
  const auto accelerator = test::shipped()->accelerator(name);
  REQUIRE_MESSAGE(accelerator.ok(), name);
  return mig_half(**accelerator);
}

}  // namespace

TEST_CASE("mig half: NVIDIA's data-center GPUs from A100 on have 3 of 7 and 4 of 8 slices twice") {
  for (const char* const name : {"a100_pcie_40gb", "a100_sxm_40gb", "a100_sxm_80gb", "h100_pcie",
                                 "h100_sxm", "h200_sxm", "gh200", "b200_sxm", "gb200"}) {
    CAPTURE(name);
    const auto half = half_of(name);
    REQUIRE(half.has_value());
    CHECK(half->compute == doctest::Approx(3.0 / 7));
    CHECK(half->memory == 0.5);
  }
  const auto a30 = half_of("a30");  // of 4 slices
  REQUIRE(a30.has_value());
  CHECK(a30->compute == 0.5);
}

TEST_CASE("mig half: others have none, whatever numbers their drivers report") {
  for (const char* const name : {"v100_sxm2_16gb", "t4", "a10", "a40", "l40s", "rtx_4090",
                                 "rtx_5090", "mi100", "mi210", "mi300x", "tpu_v4"}) {
    CAPTURE(name);
    CHECK_FALSE(half_of(name).has_value());
  }
}

}  // namespace foretrace
