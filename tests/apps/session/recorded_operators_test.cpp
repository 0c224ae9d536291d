#include "models/hardware/costs/calibration/recorded_operators.h"

#include <algorithm>
#include <set>

#include <doctest/doctest.h>

#include "apps/session/session.h"
#include "models/hardware/costs/calibration/calibrate.h"
#include "tests/configs.h"

namespace foretrace {
namespace {

const Session& gpt2() {
  static const Session session =
      open(FORETRACE_SOURCE_DIR "/examples/traces/h100/gpt2.baseline.ftr.gz").value();
  return session;
}

TEST_CASE("recorded operators: products and rows of a training run, none beyond its device") {
  const auto device = test::find_accelerator("h100_sxm").value();
  const OperatorTable table = recorded_operators(gpt2().graph(), "run", device.name);
  CHECK(table.rows.size() > 10);
  std::set<OperatorKind> kinds;
  for (const OperatorRow& row : table.rows) {
    kinds.insert(row.kind);
    CHECK(row.device == device.name);
    CHECK(row.measured_ns > 0);
    if (!is_product(row.kind)) continue;
    CHECK(row.shape.flops() / row.measured_ns <= device.flops(row.precision) * 1e-9);
  }
  CHECK(kinds.count(OperatorKind::gemm) == 1);
  CHECK(kinds.size() > 1);
}

TEST_CASE("recorded operators: constants fitted to a run predict the products held back") {
  const OperatorTable table = recorded_operators(gpt2().graph(), "run", "");
  const auto device = test::find_accelerator("h100_sxm").value();
  const auto fitted = calibrate(*test::shipped(), std::vector{table}, device);
  REQUIRE_MESSAGE(fitted.ok(), fitted.error().message);
  const auto products =
      std::find_if(fitted->operators.begin(), fitted->operators.end(),
                   [](const auto& one) { return one.chosen.fit.kind == OperatorKind::gemm; });
  REQUIRE(products != fitted->operators.end());
  CHECK(products->chosen.held_back.rows > 9);
  CHECK(products->chosen.held_back.mean < 0.2);
}

}  // namespace
}  // namespace foretrace
