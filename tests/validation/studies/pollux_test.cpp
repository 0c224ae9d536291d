#include "tests/validation/studies/pollux.h"

#include <cmath>
#include <filesystem>
#include <map>
#include <string>

#include <doctest/doctest.h>

namespace foretrace::scheduling {
namespace {

TEST_CASE("pollux: completion times under Tiresias are those of the artefact within 1 %") {
  const std::string folder = FORETRACE_SHARED_DIR "/validation/sched_pollux_";
  if (!std::filesystem::exists(folder + "jobs.json")) {
    MESSAGE("no shared tables");
    return;
  }
  const auto jobs = read_truth_table(folder + "jobs.json");
  const auto times = read_truth_table(folder + "iter_time.json");
  const auto work = read_truth_table(folder + "work.json");
  REQUIRE(jobs.ok());
  REQUIRE(times.ok());
  REQUIRE(work.ok());
  const auto score = pollux::score_pollux(*jobs, *times, *work);
  REQUIRE_MESSAGE(score.ok(), score.error().message);
  CHECK(score->points.size() == 480);
  std::map<std::string, std::pair<double, double>> sums;
  int exact = 0;
  for (const TruthPoint& point : score->points) {
    auto& sum = sums[jobs->row(point.row).text("workload")];
    sum.first += point.predicted;
    sum.second += point.measured;
    exact += std::abs(point.predicted - point.measured) < 0.5 ? 1 : 0;
  }
  for (const auto& [workload, sum] : sums) {
    CHECK(sum.first == doctest::Approx(sum.second).epsilon(0.001));
  }
  CHECK(exact >= 476);
}

}  // namespace
}  // namespace foretrace::scheduling
