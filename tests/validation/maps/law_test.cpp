// Rows and predictions that no machine reaches: rows are set aside with the reason, predictions are
// mistakes of ours.
#include "tests/validation/maps/law.h"

#include <algorithm>
#include <filesystem>
#include <string>

#include <doctest/doctest.h>

#include "sim/core/config_text.h"
#include "tests/configs.h"
#include "tests/validation/maps/predict.h"
#include "tests/validation/validate_tables.h"

namespace foretrace::validation {
namespace {

namespace fs = std::filesystem;

const std::string law_fixtures = FORETRACE_SOURCE_DIR "/tests/fixtures/tables/";

std::vector<TableResult> law_results(const TruthTable& table) {
  static const TablePredictors known = TablePredictors::read().value();
  TableInputs inputs(*test::shipped());
  auto results = known.predict(table, inputs);
  REQUIRE_MESSAGE(results.ok(), results.error().message);
  return *std::move(results);
}

/// Every figure of a column times a factor.
TruthTable scaled(const std::string& id, const std::string& column, double factor) {
  TruthTable table = read_truth_table(law_fixtures + id + ".json").value();
  const auto at = std::find(table.columns.begin(), table.columns.end(), column);
  REQUIRE(at != table.columns.end());
  for (ConfigValue& row : find_member(table.document, "rows")->items) {
    ConfigValue& cell = row.items[static_cast<std::size_t>(at - table.columns.begin())];
    if (const auto number = number_of(&cell)) cell.text = std::to_string(*number * factor);
  }
  return table;
}

std::size_t set_aside(const TruthTable& table, const std::string& law) {
  std::size_t count = 0;
  for (const TableResult& result : law_results(table)) {
    for (const SkippedRow& row : result.skipped) {
      if (!row.reason.starts_with("set aside: measured ")) continue;
      CHECK(row.reason.find(law) != std::string::npos);
      ++count;
    }
  }
  return count;
}

}  // namespace

TEST_CASE("laws: figures that no machine reaches are set aside with the reason") {
  struct Impossible {
    const char* table;
    const char* column;
    double factor;
    const char* law;
  };
  constexpr Impossible tables[] = {
      {"nccl_allreduce_4xa100_llmcompass", "us", 1e-3, "the links of a rank allow at least"},
      {"torchtitan_llama31_h100", "tokens_per_s_per_gpu", 10,
       "its products at the peak of all accelerators allow at most"},
      {"vtrain_single_node", "iter_ms", 0.01,
       "its products at the peak of all accelerators allow at least"},
      {"llm_inference_splitwise", "token_ms", 0.05, "weights and keys, read once, allow at least"},
      {"llm_inference_tp_pp", "latency_s", 0.05, "weights and keys, read once, allow at least"}};
  for (const Impossible& one : tables) {
    CAPTURE(one.table);
    CHECK(set_aside(scaled(one.table, one.column, one.factor), one.law) > 0);
    CHECK(set_aside(scaled(one.table, one.column, 1), one.law) == 0);
  }
}

TEST_CASE("laws: no prediction of any table is beyond them") {
  for (const auto& file : fs::directory_iterator(law_fixtures)) {
    const TruthTable table = read_truth_table(file.path().string()).value();
    static const TablePredictors known = TablePredictors::read().value();
    if (known.map_of(table.id) == nullptr) continue;
    CAPTURE(table.id);
    for (const TableResult& result : law_results(table)) {
      for (const std::string& note : result.notes) {
        CAPTURE(note);
        CHECK(note.find("beyond a law") == std::string::npos);
      }
    }
  }
}

TEST_CASE("laws: a figure at its bound is allowed, and one beyond it by more than digits is not") {
  const Law law{"the links of a rank", 100};
  CHECK_FALSE(law.forbids(100));
  CHECK_FALSE(law.forbids(99.5));
  CHECK(law.forbids(98));
  CHECK(law.told(98) == "98, but the links of a rank allow at least 100");
  const Law rate = law.as_rate(1000);
  CHECK_FALSE(rate.forbids(10));
  CHECK(rate.forbids(10.2));
  CHECK(rate.told(20) == "20, but the links of a rank allow at most 10");
  CHECK_FALSE(Law{}.forbids(0));
  CHECK_FALSE(Law{}.as_rate(5).forbids(1e300));
}

TEST_CASE("laws: links and ports bound collectives") {
  const Cluster cluster = find_cluster(*test::shipped(), "dgx_h100").value();
  const auto least = [&](CollectiveKind kind, std::uint32_t nodes) {
    return links_law(cluster, {kind, 8e9, place_alone(cluster, nodes, 8)}).least;
  };
  // 7 GB over links of 450 GB/s; switches that add up pass 9 GB.
  CHECK(least(CollectiveKind::all_gather, 1) == doctest::Approx(7e3 / 0.45));
  CHECK(least(CollectiveKind::all_reduce, 1) == doctest::Approx(9e3 / 0.45));
  // Half of the buffer leaves each of two nodes over 400 GB/s.
  CHECK(least(CollectiveKind::all_gather, 2) == doctest::Approx(4e3 / 0.4));
}

}  // namespace foretrace::validation
