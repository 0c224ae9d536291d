#include "tests/validation/studies/tiresias.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include <doctest/doctest.h>

namespace foretrace::scheduling {
namespace {

TEST_CASE("tiresias: finish times of all policies equal those of the published simulator") {
  const std::string path = FORETRACE_SHARED_DIR "/validation/sched_tiresias_60job.json";
  if (!std::filesystem::exists(path)) {
    MESSAGE("no shared tables");
    return;
  }
  const auto table = read_truth_table(path);
  REQUIRE(table.ok());
  const auto score = tiresias::score_tiresias(*table);
  REQUIRE(score.ok());
  CHECK(score->skipped.empty());
  CHECK(score->points.size() == 300);
  std::map<std::string, int> wrong;
  for (const TruthPoint& point : score->points) {
    if (std::abs(point.predicted - point.measured) > 1e-6) ++wrong[point.column];
  }
  for (const auto& [column, count] : wrong) MESSAGE(column << " " << count);
  CHECK(wrong.empty());
}

}  // namespace
}  // namespace foretrace::scheduling
