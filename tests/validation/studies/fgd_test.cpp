#include "tests/validation/studies/fgd.h"

#include <cmath>
#include <filesystem>
#include <string>

#include <doctest/doctest.h>

namespace foretrace::scheduling {
namespace {

TEST_CASE("fgd: every placement allocates what the study reports within one point") {
  const std::string folder = FORETRACE_SHARED_DIR "/validation/sched_fgd_";
  if (!std::filesystem::exists(folder + "allocation.json")) {
    MESSAGE("no shared tables");
    return;
  }
  const auto table = read_truth_table(folder + "allocation.json");
  const auto nodes = read_truth_table(folder + "nodes.json");
  const auto pods = read_truth_table(folder + "pods.json");
  REQUIRE(table.ok());
  REQUIRE(nodes.ok());
  REQUIRE(pods.ok());
  const auto score = fgd::score_fgd(*table, *nodes, *pods);
  REQUIRE_MESSAGE(score.ok(), score.error().message);
  CHECK(score->points.size() == 30);
  for (const TruthPoint& point : score->points) {
    CAPTURE(table->row(point.row).text("policy"));
    CAPTURE(point.column);
    CHECK(std::abs(point.predicted - point.measured) <= 1);
  }
}

}  // namespace
}  // namespace foretrace::scheduling
