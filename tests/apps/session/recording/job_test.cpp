// Jobs of several ranks through the driver: steps counted from the end, what communication costs.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "apps/questions/compare/communication.h"
#include "apps/session/predict.h"
#include "apps/session/replay/analysis.h"
#include "tests/apps/support/json_schema.h"
#include "tests/apps/support/program.h"

namespace foretrace::test {
namespace {

using nlohmann::json;

const std::string fixture = std::string(FORETRACE_SOURCE_DIR) + "/tests/fixtures/job";

/// A trace of a rank of two that launches this many all-reduces, irregularly spaced.
std::string rank_trace(int rank, int count) {
  std::string events;
  int at = 0;
  for (int i = 0; i < count; ++i) {
    at += 2000 + 317 * ((i * 7) % 5);
    const std::string id = std::to_string(i + 1);
    events += R"({"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":)" +
              std::to_string(at) + R"(,"dur":5,"args":{"correlation":)" + id + "}},";
    events += R"({"ph":"X","cat":"kernel","name":"ncclDevKernel_AllReduce_Sum_f32_RING_LL",)"
              R"("pid":0,"tid":20,"ts":)" +
              std::to_string(at + 7) +
              R"(,"dur":100,"args":{"device":0,"stream":20,"correlation":)" + id + "}},";
  }
  events.back() = ' ';
  return R"({"schemaVersion":1,"distributedInfo":{"rank":)" + std::to_string(rank) +
         R"(,"world_size":2},"traceEvents":[)" + events + "]}";
}

/// Two ranks with steps of the given lengths, one host task each, on one graph.
TaskGraph graph_of(const std::vector<std::vector<std::int64_t>>& ranks) {
  GraphBuilder builder;
  Work work;
  work.kind = TaskKind::mark;
  const WorkId mark = builder.add_work(work);
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const auto id = static_cast<std::int32_t>(rank);
    const LaneId lane = builder.add_lane({.kind = LaneKind::host_thread, .rank = id, .name = "h"});
    TaskId before = builder.add_task({.lane = lane, .work = mark, .kind = TaskKind::mark});
    for (const std::int64_t length : ranks[rank]) {
      const TaskId end = builder.add_task(
          {.lane = lane, .work = mark, .kind = TaskKind::mark, .segment_ns = length});
      builder.add_step({.rank = id, .number = length, .begin = before, .end = end});
      before = end;
    }
  }
  auto graph = std::move(builder).build();
  REQUIRE(graph.ok());
  return std::move(graph).value();
}

}  // namespace

TEST_CASE("steps of a job are medians over ranks, counted from the last one back") {
  // Rank 0 recorded one step more at the front. Common: (20, 30), (21, 31), (25, 33).
  const TaskGraph graph = graph_of({{90, 20, 30}, {21, 31}, {25, 33}});
  const auto run = simulate_run(graph);
  REQUIRE(run.ok());
  CHECK(run->steps.host_ns == std::vector<std::int64_t>{21, 31});
  constexpr auto host = static_cast<std::size_t>(StepLimit::host);
  REQUIRE(run->steps.median_rank.size() == 2);
  CHECK(run->steps.median_rank[0][host] == 1);
  CHECK(run->steps.median_rank[1][host] == 1);
  CHECK(run->steps.rank_steps[0] == std::vector<std::size_t>{1, 0, 0});
  REQUIRE(run->steps.ranks.size() == 3);
  CHECK(run->steps.ranks[0].host_ns == std::vector<std::int64_t>{90, 20, 30});
  CHECK(run->steps.ranks[1].first_step == 3);
  CHECK(run->answer.step_ns == 26);  // (21 + 31) / 2
  // The step's stretch is that of the rank in the middle.
  const StepScope scope = scope_of(graph, run->steps, run->answer, 1);
  CHECK(scope.rank == 1);
  CHECK(scope.begin_ns == 21);
  CHECK(scope.end_ns == 52);
}

TEST_CASE("one rank stays what it was") {
  const auto run = simulate_run(graph_of({{90, 20, 30}}));
  REQUIRE(run.ok());
  CHECK(run->steps.ranks.empty());
  CHECK(run->steps.host_ns == std::vector<std::int64_t>{90, 20, 30});
}

TEST_CASE("a made-up job is matched, its stalls are found and its bandwidth is right") {
  const auto session = open(fixture);
  REQUIRE_MESSAGE(session.ok(), (session.ok() ? std::string() : session.error().message));
  REQUIRE(session->recording().job != nullptr);
  CHECK(std::abs(session->replay().worst_step_error) < 1e-4);
  const Communication cost = communication_of(*session);
  CHECK(cost.collectives == 180);  // 45 on each of 4 ranks
  CHECK(cost.matched == 180);
  REQUIRE(cost.rows.size() == 1);
  CHECK(cost.rows[0].kind == CollectiveKind::all_reduce);
  CHECK(cost.rows[0].bytes == 4 << 20);
  CHECK(cost.rows[0].count == 45);
  // 40 to 50 us after the last arrival: 2 * 3/4 * 4 MiB in 45 us are 140 GB/s.
  CHECK(cost.rows[0].median_transfer_ns == doctest::Approx(45'000).epsilon(0.1));
  CHECK(cost.rows[0].bus_bandwidth == doctest::Approx(140e9).epsilon(0.1));
  // Rank 2 stalls for 30 ms in each of 3 steps, and the others wait for it.
  REQUIRE_FALSE(cost.stalls.empty());
  CHECK(cost.stalls[0].rank == 2);
  CHECK(cost.stalls[0].count == 3);
  CHECK(cost.stalls[0].median_ns == doctest::Approx(30e6).epsilon(0.01));
  REQUIRE(cost.ranks.size() == 4);
  CHECK(cost.ranks[2].late_ns > 80'000'000);
  CHECK(cost.ranks[0].exposed_waiting_ns > 85'000'000);
  CHECK(cost.ranks[2].exposed_waiting_ns < 5'000'000);
  // What nobody waiting would save is what the stalls cost.
  const Analysis& analysis = session->analysis();
  REQUIRE(analysis.free_waiting_ns.has_value());
  CHECK(*analysis.free_waiting_ns > 25'000'000);
}

TEST_CASE("documents of a job follow their schemas") {
  for (const char* const command : {"simulate", "inspect --communication"}) {
    const bool simulate = std::string(command) == "simulate";
    const Ran ran = run_program(std::string(command) + " '" + fixture + "' --json");
    INFO(ran.err);
    REQUIRE(ran.code == 0);
    const json document = json::parse(ran.out);
    const char* const schema = simulate ? "result-2.json" : "communication-1.json";
    for (const std::string& violation : violations(read_schema(schema), document)) {
      FAIL_CHECK(schema << violation);
    }
    CHECK(document["ranks"].size() == 4);
    CHECK(document["communicators"][0]["matched"] == 45);
  }
}

TEST_CASE("pages of a job fit 100 columns and name its ranks") {
  for (const char* const command : {"simulate", "inspect --communication", "critical-path"}) {
    const Ran ran = run_program(std::string(command) + " '" + fixture + "'");
    INFO(command << ran.err);
    CHECK(ran.code == 0);
    CHECK(first_bad_line(ran.out).empty());
    CHECK(ran.out.find("4 ranks") != std::string::npos);
  }
  const Ran what_if =
      run_program("whatif '" + fixture + "' --apply \"scale:select='kind=collective',factor=0.5\"");
  CHECK(what_if.code == 0);
}

TEST_CASE("a job whose collectives cannot be matched has unknown waiting, not none") {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / "foretrace_unmatched_job";
  std::filesystem::create_directories(folder);
  std::string inputs;
  for (int rank = 0; rank < 2; ++rank) {
    const std::filesystem::path file = folder / (std::to_string(rank) + ".json");
    std::ofstream(file) << rank_trace(rank, rank == 0 ? 12 : 3);
    inputs += " '" + file.generic_string() + "'";
  }
  const Ran page = run_program("inspect --communication" + inputs);
  INFO(page.out << page.err);
  REQUIRE(page.code == 0);
  CHECK(page.out.find("0 of 15 collectives matched, waiting unknown") != std::string::npos);
  CHECK(page.out.find("0.0 us waiting") == std::string::npos);
  const Ran ran = run_program("inspect --communication --json" + inputs);
  const json document = json::parse(ran.out);
  REQUIRE(document["ranks"].size() == 2);
  for (const json& rank : document["ranks"]) {
    CHECK(rank["communication"]["exposed_waiting_ns"].is_null());
    CHECK(rank["communication"]["arrives_last"].is_null());
  }
  const Ran replay = run_program("simulate" + inputs);
  INFO(replay.out);
  CHECK(replay.out.find("waiting for late ranks") != std::string::npos);
  CHECK(replay.out.find("unknown") != std::string::npos);
  std::filesystem::remove_all(folder);
}

TEST_CASE("a job with a rank twice is refused in one line") {
  const Ran ran =
      run_program("simulate '" + fixture + "/rank0.json.gz' '" + fixture + "/rank0.json.gz'");
  CHECK(ran.code == 2);
  CHECK(ran.err.find("is rank 0, as") != std::string::npos);
}

}  // namespace foretrace::test
