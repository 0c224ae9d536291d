// What is exported as Chakra traces and read back takes as long as the scenario.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "apps/plans/chakra_job.h"
#include "apps/session/nodes/node_answer.h"
#include "models/jobs/figures/scenario_answer.h"
#include "models/jobs/program/sharded_passes.h"
#include "tests/laws/support/random_job.h"

namespace foretrace {
namespace {

namespace fs = std::filesystem;

// Of all ranks together: larger jobs take longer, and show nothing else.
constexpr double most_nodes = 60000;

// Traces have whole microseconds.
constexpr double rounding_ns = 1000;

// A scenario leaves out that the stages of a pipeline add up the norm of their gradients: one
// number.
double norm_ns(const Job& job) {
  if (!job.trains() || job.plan.pipeline == 1) return 0;
  return scaled_collective_ns(*job.cluster, axis_of(job.plan, Axis::pipeline),
                              {CollectiveKind::all_reduce, 4, {}}, no_scale());
}

// Differences begin with what the traces then are: shorter or longer.
bool says(const ChakraExport& exported, std::string_view word) {
  return std::any_of(exported.differences.begin(), exported.differences.end(),
                     [word](const std::string& one) { return one.starts_with(word); });
}

bool is_small(const Job& job) {
  const double passes = job.micro_batches() * (job.trains() ? 2.0 : 1.0);
  return passes * job.model->layers * 8 * job.ranks() / job.plan.pipeline < most_nodes;
}

/// A folder that is gone at the end.
struct Folder {
  fs::path path;
  explicit Folder(std::uint64_t number)
      : path(fs::temp_directory_path() / fmt::format("foretrace_export_law_{}", number)) {
    fs::remove_all(path);
    fs::create_directory(path);
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
};

TEST_CASE("jobs: an exported scenario takes as long when it is read back") {
  test::RandomJobs jobs;
  int alike = 0;
  // Files are written and read: of many jobs the ninth part.
  for (std::uint64_t number = 0; number < test::law_jobs(900) / 9; ++number) {
    const test::RandomJob drawn = jobs.draw(number);
    const Job& job = drawn.scenario.job;
    if (!is_small(job)) continue;
    const Folder folder(number);
    const auto exported = export_chakra(
        drawn.scenario, [&](const std::string& name, const std::string& bytes) -> Status {
          std::ofstream(folder.path / name, std::ios::binary) << bytes;
          return ok_status();
        });
    if (!exported.ok()) continue;
    const auto answer = answer_scenario(drawn.scenario);
    REQUIRE(answer.ok());
    NodeScenario nodes;
    nodes.path = "law";
    nodes.traces = {folder.path.generic_string()};
    nodes.cluster = *job.cluster;
    const auto back = answer_nodes(nodes);
    CAPTURE(drawn.text);
    REQUIRE_MESSAGE(back.ok(), back.error().message);
    CAPTURE(number);
    const auto scenario_ns = static_cast<double>(answer->step_ns);
    const auto traces_ns = static_cast<double>(back->run.answer.step_ns);
    const bool is_alike = exported->differences.empty();
    alike += is_alike ? 1 : 0;
    // What is named to differ has the direction alone.
    const double off = is_alike ? 0.005 : 0.02;
    const double norm = norm_ns(job) + rounding_ns;
    if (!says(*exported, "shorter")) CHECK(traces_ns > (1 - off) * scenario_ns - rounding_ns);
    if (!says(*exported, "longer")) CHECK(traces_ns < (1 + off) * scenario_ns + norm);
  }
  CHECK(alike > 20);
}

}  // namespace
}  // namespace foretrace
