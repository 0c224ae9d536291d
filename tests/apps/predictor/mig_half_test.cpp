#include "apps/predictor/mig_half.h"

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

TEST_CASE("mig half: two of the largest profile that fits twice, in multiprocessors") {
  struct Known {
    const char* name;
    int device;
    int half;
  };
  for (const Known& one :
       {Known{"a100_pcie_40gb", 108, 42}, Known{"a100_sxm_80gb", 108, 42}, Known{"a30", 56, 28},
        Known{"h100_sxm", 132, 60}, Known{"h200_sxm", 132, 60}, Known{"h100_pcie", 114, 46}}) {
    CAPTURE(one.name);
    const auto half = half_of(one.name);
    REQUIRE(half.has_value());
    CHECK(half->compute * one.device == doctest::Approx(one.half));
    CHECK(2 * one.half <= one.device);
    CHECK(half->memory == 0.5);
    CHECK_FALSE(half->is_assumed);
  }
  // No list of these: three of seven slices.
  for (const char* const name : {"b200_sxm", "gb200"}) {
    CAPTURE(name);
    const auto half = half_of(name);
    REQUIRE(half.has_value());
    CHECK(half->compute == doctest::Approx(3.0 / 7));
    CHECK(half->is_assumed);
  }
}

TEST_CASE("mig half: others have none, whatever numbers their drivers report") {
  for (const char* const name : {"v100_sxm2_16gb", "t4", "a10", "a40", "l40s", "rtx_4090",
                                 "rtx_5090", "mi100", "mi210", "mi300x", "tpu_v4"}) {
    CAPTURE(name);
    CHECK_FALSE(half_of(name).has_value());
  }
}

}  // namespace foretrace
