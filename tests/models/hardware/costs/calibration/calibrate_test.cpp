#include "models/hardware/costs/calibration/calibrate.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "models/hardware/catalogue/cost_file.h"
#include "tests/configs.h"

using namespace foretrace;

namespace {

Accelerator accelerator(const char* name) {
  auto found = foretrace::test::find_accelerator(name);
  REQUIRE_MESSAGE(found.ok(), found.error().message);
  return *found;
}

// Products on a device, timed by given constants.
OperatorTable made_up(const OperatorFit& fit, const DeviceRates& rates, double host_ns) {
  OperatorTable table;
  table.name = table.source = "made up";
  for (const double m : {32, 128, 512, 2048, 8192}) {
    for (const double n : {256, 1024, 4096}) {
      for (const double k : {256, 1024, 4096}) {
        const OperatorShape shape{1, m, n, k};
        table.rows.push_back(
            {fit.kind, Precision::fp16, "", shape, host_ns + fitted_ns(fit, rates, shape)});
      }
    }
  }
  return table;
}

std::vector<OperatorTable> shared_tables(std::initializer_list<const char*> names) {
  std::vector<OperatorTable> tables;
  for (const char* name : names) {
    const std::string path = std::string(FORETRACE_SHARED_DIR "/validation/") + name + ".json";
    if (!std::filesystem::exists(path)) {
      MESSAGE("skipped: no ", path);
      return {};
    }
    auto table = read_operator_table(path);
    REQUIRE_MESSAGE(table.ok(), table.error().message);
    tables.push_back(std::move(*table));
  }
  return tables;
}

const CalibratedOperator& find(const Calibration& calibration, OperatorKind kind) {
  const auto found =
      std::find_if(calibration.operators.begin(), calibration.operators.end(),
                   [&](const CalibratedOperator& one) { return one.chosen.fit.kind == kind; });
  REQUIRE(found != calibration.operators.end());
  return *found;
}

// The constants in our file are those that the tables give.
void check_file(const char* name, const Calibration& calibration) {
  const auto file =
      read_cost_file(std::string(FORETRACE_SOURCE_DIR "/configs/costs/") + name + ".json");
  REQUIRE_MESSAGE(file.ok(), file.error().message);
  CostFile fresh;
  fresh.tables = file->tables;
  fresh.operators = calibration.operators;
  CHECK(cost_file_text(fresh) == cost_file_text(*file));
}

}  // namespace

TEST_CASE("calibrate: constants that made a table come back from it") {
  const Accelerator a100 = accelerator("a100_sxm_80gb");
  OperatorFit truth;
  truth.form = FitForm::roofline;
  truth.rate_share = 0.6;
  truth.bandwidth_share = 0.7;
  truth.fixed_ns = 5000;
  const DeviceRates rates{a100.flops(Precision::fp16) * 1e-9, a100.memory_bandwidth * 1e-9, 108, 2};
  const std::vector<OperatorTable> tables = {made_up(truth, rates, 0)};
  const auto calibration = calibrate(*foretrace::test::shipped(), tables, a100);
  REQUIRE_MESSAGE(calibration.ok(), calibration.error().message);
  const FormResult& found = calibration->operators.front().chosen;
  CHECK(to_string(found.fit.form) == "roofline");
  CHECK(found.fit.rate_share == doctest::Approx(0.6).epsilon(0.03));
  CHECK(found.fit.bandwidth_share == doctest::Approx(0.7).epsilon(0.03));
  CHECK(found.held_back.mean < 0.02);
  CHECK(found.held_back.rows == 45);
}

TEST_CASE("calibrate: tiles are chosen where waves are in the data, and beat the roofline") {
  const Accelerator a100 = accelerator("a100_sxm_80gb");
  OperatorFit truth;
  truth.form = FitForm::tiles;
  truth.rate_share = 0.8;
  truth.bandwidth_share = 0.8;
  truth.fixed_ns = 4000;
  truth.operand_traffic = 20;
  truth.tile_overhead_k = 60;
  const DeviceRates rates{a100.flops(Precision::fp16) * 1e-9, a100.memory_bandwidth * 1e-9, 108, 2};
  const std::vector<OperatorTable> tables = {made_up(truth, rates, 0)};
  const auto calibration = calibrate(*foretrace::test::shipped(), tables, a100);
  REQUIRE_MESSAGE(calibration.ok(), calibration.error().message);
  const CalibratedOperator& found = calibration->operators.front();
  CHECK(to_string(found.chosen.fit.form) == "tiles");
  CHECK(found.chosen.held_back.mean < 0.5 * found.roofline.held_back.mean);
}

TEST_CASE("calibrate: equal shapes are on one side of the split, and every third holds rows") {
  std::vector<OperatorRow> rows;
  for (int repeat = 0; repeat < 2; ++repeat) {
    for (int m = 1; m <= 30; ++m) {
      rows.push_back({OperatorKind::gemm, Precision::fp16, "", {1, m * 64.0, 64, 64}, 1000.0 + m});
    }
  }
  const std::vector<int> part = thirds(rows);
  for (std::size_t i = 0; i < 30; ++i) CHECK(part[i] == part[i + 30]);
  for (const int third : {0, 1, 2}) CHECK(std::count(part.begin(), part.end(), third) == 20);
}

TEST_CASE("calibrate: rows without a device need an accelerator, few rows are left out") {
  OperatorTable table;
  table.name = table.source = "tiny";
  for (int i = 0; i < 5; ++i) {
    table.rows.push_back(
        {OperatorKind::gelu, Precision::fp16, "", {1, 1, 1024.0 * (i + 1), 0}, 5e3});
  }
  const std::vector<OperatorTable> tables = {table};
  const auto nowhere = calibrate(*foretrace::test::shipped(), tables, std::nullopt);
  REQUIRE_FALSE(nowhere.ok());
  CHECK(nowhere.error().message ==
        "tiny: does not say on which device it was measured, expected an accelerator");
  const auto few = calibrate(*foretrace::test::shipped(), tables, accelerator("t4"));
  REQUIRE_FALSE(few.ok());
  CHECK(few.error().message ==
        "no operator has rows to fit; first reason: gelu on t4: fewer than 9 rows");
}

TEST_CASE("calibrate: summaries are those of the sizes of errors") {
  const ErrorSummary summary = summarize({-0.1, 0.2, 0.3, -0.4});
  CHECK(summary.mean == doctest::Approx(0.25));
  CHECK(summary.bias == doctest::Approx(0.0));
  CHECK(summary.median == doctest::Approx(0.3));
  CHECK(summary.p90 == doctest::Approx(0.4));
  CHECK(summarize({}).rows == 0);
}

TEST_CASE("calibrate: fp16 operators of the A100 within the bars on rows held back") {
  const auto tables = shared_tables({"gemm_a100_llmcompass", "ops_a100_llama_2_7b_vidur",
                                     "ops_a100_llama_2_70b_vidur", "elementwise_a100_llmcompass"});
  if (tables.empty()) return;
  const auto calibration =
      calibrate(*foretrace::test::shipped(), tables, accelerator("a100_sxm_80gb"));
  REQUIRE_MESSAGE(calibration.ok(), calibration.error().message);
  const CalibratedOperator& gemm = find(*calibration, OperatorKind::gemm);
  MESSAGE("gemm ", gemm.chosen.held_back.mean, ", roofline ", gemm.roofline.held_back.mean);
  CHECK(gemm.chosen.held_back.rows == 372);
  CHECK(gemm.chosen.held_back.mean <= 0.07);
  CHECK(gemm.chosen.held_back.mean < gemm.roofline.held_back.mean);
  CHECK(find(*calibration, OperatorKind::softmax).chosen.held_back.mean <= 0.06);
  CHECK(find(*calibration, OperatorKind::layer_norm).chosen.held_back.mean <= 0.03);
  CHECK(find(*calibration, OperatorKind::gelu).chosen.held_back.mean <= 0.02);
  // Two sources of one part number: the clock is a property of its own, stated in the file.
  const Accelerator a100 = accelerator("a100_sxm_80gb");
  double fastest = 1;
  for (const SourceTerms& source : gemm.chosen.sources) fastest = std::max(fastest, source.clock);
  CHECK(a100.sustained_clock.high == doctest::Approx(fastest).epsilon(0.01));
  CHECK(a100.sustained_clock.typical == doctest::Approx(std::sqrt(fastest)).epsilon(0.01));
  check_file("a100_fp16", *calibration);
}

TEST_CASE("calibrate: fp32 products are never worse than a roofline, rows much better") {
  const auto tables = shared_tables(
      {"op_bmm_neusight", "op_linear_neusight", "op_ln_neusight", "op_softmax_neusight"});
  if (tables.empty()) return;
  accelerator("t4");
  const auto calibration = calibrate(*foretrace::test::shipped(), tables, std::nullopt);
  REQUIRE_MESSAGE(calibration.ok(), calibration.error().message);
  CHECK(calibration->operators.size() == 18);
  CHECK(calibration->unused.empty());
  for (const CalibratedOperator& fitted : calibration->operators) {
    CAPTURE(fitted.accelerator);
    CAPTURE(to_string(fitted.chosen.fit.kind));
    CHECK(fitted.chosen.held_back.mean <= fitted.roofline.held_back.mean);
    if (fitted.chosen.fit.kind == OperatorKind::softmax) {
      CHECK(fitted.chosen.held_back.mean < 0.7 * fitted.roofline.held_back.mean);
    }
  }
  check_file("neusight_fp32", *calibration);
}
