#include "tests/validation/tables/recorded_pipeline.h"

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "sim/engine/pull/pull.h"
#include "tests/configs.h"
#include "tests/validation/validate_tables.h"

using namespace foretrace;

namespace {

/// Two stages, two micro-batches, two data ranks: forward 10, backward 20, messages 1, at the end
/// a reduction of 5 that all data ranks of a stage meet for. Data rank 1 is slower by `late`.
std::vector<PipelineOperation> small_job(std::int64_t late) {
  std::vector<PipelineOperation> job;
  for (std::uint32_t data = 0; data < 2; ++data) {
    const std::int64_t extra = data == 1 ? late : 0;
    const auto add = [&](std::uint32_t stage, PipelineOp op, std::uint32_t number,
                         std::int64_t start, std::int64_t ns) {
      job.push_back({data, stage, op, number, start, ns});
    };
    for (std::uint32_t m = 0; m < 2; ++m) {
      // Stage 0: F0 F1 B0 B1; stage 1: F0 B0 F1 B1.
      add(0, PipelineOp::forward, m, m, 10 + extra);
      add(0, PipelineOp::forward_send, m, m, 1);
      add(1, PipelineOp::forward_receive, m, m, 1);
      add(1, PipelineOp::forward, m, 2 * m, 10);
      add(1, PipelineOp::backward, m, 2 * m + 1, 20);
      add(1, PipelineOp::backward_send, m, m, 1);
      add(0, PipelineOp::backward_receive, m, m, 1);
      add(0, PipelineOp::backward, m, 2 + m, 20);
    }
    for (std::uint32_t stage = 0; stage < 2; ++stage) {
      add(stage, PipelineOp::scatter_gradients, 0, 100, 5);
    }
  }
  return job;
}

std::int64_t span_of(const std::vector<PipelineOperation>& job) {
  const auto graph = recorded_pipeline(job, 2);
  REQUIRE_MESSAGE(graph.ok(), graph.error().message);
  return simulate(*graph).span_ns;
}

}  // namespace

TEST_CASE("recorded pipeline: stages wait for messages, and groups for their last rank") {
  // Stage 1: F0 from 11, B0 to 41, F1 to 51, B1 to 71; stage 0: B1 from 72 to 92, reduction to 97.
  CHECK(span_of(small_job(0)) == 97);
  // Two forwards of one data rank are later by 3 each: only the first is in the way.
  CHECK(span_of(small_job(3)) == 100);
}

TEST_CASE("recorded pipeline: an operation that is there twice is refused") {
  auto job = small_job(0);
  job.push_back(job.front());
  const auto graph = recorded_pipeline(job, 2);
  REQUIRE_FALSE(graph.ok());
  CHECK(graph.error().message == "forward-compute 0 of data rank 0, stage 0: appears twice");
  CHECK(pipeline_op("forward-comput").error().message.find("forward-compute") != std::string::npos);
}

TEST_CASE("recorded pipeline: replays of real jobs of 8 and 64 workers are the published ones") {
  const std::string folder = FORETRACE_SOURCE_DIR "/../shared/validation";
  if (!std::filesystem::exists(folder)) {
    MESSAGE("skipped: no published tables");
    return;
  }
  const auto report = validation::validate_tables(
      *foretrace::test::shipped(),
      {folder, {"pipeline_trace_bytedance_st", "pipeline_trace_bytedance_ar"}, ""});
  REQUIRE(report.ok());
  REQUIRE(report->tables.size() == 4);
  std::size_t replayed = 0;
  for (const TableResult& table : report->tables) {
    for (const TablePoint& point : table.points) {
      CAPTURE(table.name);
      CAPTURE(point.row);
      const double error = std::abs(error_of(point, false));
      if (table.name.ends_with("worker_means")) continue;
      CHECK(error < (point.column == "measured" ? 0.03 : 1e-3));
      ++replayed;
    }
  }
  CHECK(replayed >= 2 * 32 + 2 * 2 + 2);
}
