#include "tests/validation/studies/gavel.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <doctest/doctest.h>

namespace foretrace::scheduling {
namespace {

constexpr const char* validation = FORETRACE_SHARED_DIR "/validation/";

// The published curves at light load, where a run is short, and a policy that shares accelerators.
constexpr const char* light_load = R"json({"schema": "foretrace-truth/1", "id": "curves",
  "fixed": {"cluster": "36 V100 + 36 P100 + 36 K80, simulated, round 360 s"},
  "columns": ["trace", "metric", "policy", "rate_jobs_per_h", "jobs", "value"],
  "rows": [
    ["continuous single-GPU", "mean JCT (h)", "allox", 2.0, null, 16.93],
    ["continuous single-GPU", "mean JCT (h)", "fifo", 0.4, null, 17.58],
    ["continuous single-GPU", "mean JCT (h)", "fifo_perf", 2.0, null, 15.45],
    ["continuous single-GPU", "mean JCT (h)", "max_min_fairness", 2.0, null, 23.47],
    ["continuous single-GPU", "mean JCT (h)", "max_min_fairness_perf", 2.0, null, 16.95],
    ["continuous single-GPU", "mean JCT (h)", "finish_time_fairness_perf", 2.0, null, 17.07],
    ["continuous single-GPU", "mean JCT (h)", "gandiva", 2.0, null, 17.61]
  ]
})json";

TEST_CASE("gavel: mean completion times at light load are those of its simulator within 2 %") {
  if (!std::filesystem::exists(std::string(validation) + "gavel_job_throughput.json")) {
    MESSAGE("no shared tables");
    return;
  }
  const std::string path =
      (std::filesystem::temp_directory_path() / "foretrace_curves.json").string();
  std::ofstream(path) << light_load;
  const auto table = read_truth_table(path);
  const auto two = read_truth_table(std::string(validation) + "gavel_job_throughput.json");
  const auto one = read_truth_table(std::string(validation) + "gavel_p100_one_worker.json");
  std::filesystem::remove(path);
  REQUIRE(table.ok());
  REQUIRE(two.ok());
  REQUIRE(one.ok());
  const auto score = gavel::score_gavel_curves(*table, {&*two, &*one});
  REQUIRE_MESSAGE(score.ok(), score.error().message);
  CHECK(score->points.size() == 6);
  CHECK(score->skipped.size() == 1);
  for (const TruthPoint& point : score->points) {
    CAPTURE(table->row(point.row).text("policy"));
    CHECK(std::abs(point.predicted / point.measured - 1) <= 0.02);
  }
}

}  // namespace
}  // namespace foretrace::scheduling
