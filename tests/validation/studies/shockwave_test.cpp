#include "tests/validation/studies/shockwave.h"

#include <cmath>
#include <filesystem>
#include <map>
#include <string>

#include <doctest/doctest.h>

namespace foretrace::scheduling {
namespace {

TEST_CASE("shockwave: policies on its trace are those of the authors' simulator within 1.5 %") {
  const std::string folder = FORETRACE_SHARED_DIR "/validation/sched_shockwave_";
  if (!std::filesystem::exists(folder + "results.json")) {
    MESSAGE("no shared tables");
    return;
  }
  const auto results = read_truth_table(folder + "results.json");
  const auto jobs = read_truth_table(folder + "jct.json");
  const auto rates = read_truth_table(folder + "throughput.json");
  const auto rules = read_batch_rules("configs/schedules/shockwave_batch_rules.json");
  REQUIRE(results.ok());
  REQUIRE(jobs.ok());
  REQUIRE(rates.ok());
  REQUIRE_MESSAGE(rules.ok(), rules.error().message);
  const auto score = shockwave::score_shockwave_results(
      *results, {.jobs = &*jobs, .rates = &*rates, .rules = &*rules});
  REQUIRE_MESSAGE(score.ok(), score.error().message);
  int canonical = 0;
  for (const TruthPoint& point : score->points) {
    CAPTURE(results->row(point.row).text("policy"));
    CAPTURE(results->row(point.row).text("kind"));
    CAPTURE(point.column);
    if (point.column == "unfair_jobs") continue;  // a few jobs stand at the threshold
    const double error = std::abs(point.predicted / point.measured - 1);
    const bool is_average = point.column == "avg_jct_s" || point.column == "makespan_s";
    if (results->row(point.row).text("kind") == "physical") {
      if (is_average) CHECK(error <= 0.09);
    } else if (results->row(point.row).text("set") == "canonical") {
      CHECK(error <= 0.015);
      ++canonical;
    } else if (is_average) {
      CHECK(error <= 0.025);  // another version of the simulator, with other restart costs
    }
  }
  CHECK(canonical == 20);
}

}  // namespace
}  // namespace foretrace::scheduling
