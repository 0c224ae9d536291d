#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "apps/scheduling/schedule.h"

namespace foretrace::scheduling::test {
namespace {

struct Machine4 {
  double arrival_s;
  double cpus;
  double duration_s;
};

// Two or more servers of 4 cores, each of the placements once.
std::vector<ScheduleRun> runs_of(const std::string& placements, const std::vector<Machine4>& jobs,
                                 int servers = 2) {
  std::string rows;
  for (const Machine4& job : jobs) {
    rows += std::string(rows.empty() ? "" : ", ") + "[" + std::to_string(job.arrival_s) + ", 0, " +
            std::to_string(job.cpus) + ", " + std::to_string(job.duration_s) + "]";
  }
  const auto schedule = parse_schedule(
      R"({"schema": "foretrace.schedule/1", "policy": "fjf", "placements": [)" + placements +
          R"(], "drop_what_does_not_fit": true, "cluster": {"nodes": [{"count": )" +
          std::to_string(servers) + R"(, "kind": "server", "gpus": 0, "cpus": 4}]}, "jobs":
      {"columns": ["arrival_s", "gpus", "cpus", "duration_s"], "rows": [)" +
          rows + "]}}",
      "mine.json");
  REQUIRE_MESSAGE(schedule.ok(), schedule.error().message);
  auto runs = run_schedule(*schedule);
  REQUIRE_MESSAGE(runs.ok(), runs.error().message);
  return std::move(*runs);
}

std::size_t node_of_job(const ScheduleRun& run, std::size_t job) {
  for (const Bar& bar : run.outcome.bars) {
    if (bar.job == make_id<JobId>(job)) return index(bar.slices.front().node);
  }
  return 99;
}

// 2 cores for 100 s on server 0, 3 cores for 10 s on server 1, and at 5 s 1 core for 95 s.
const std::vector<Machine4> crossing = {{0, 2, 100}, {0, 3, 10}, {5, 1, 95}};

TEST_CASE("lifetime_alignment: a job goes where jobs stay as long") {
  // At 5 s server 0 has 2 cores free and is used until 100 s, server 1 has 1 free until 10 s. Best
  // fit fills server 1 and keeps it until 100 s; alignment takes server 0.
  const auto runs = runs_of(R"("vector_best_fit", "lifetime_alignment")", crossing);
  REQUIRE(runs.size() == 2);
  CHECK(node_of_job(runs[0], 2) == 1);
  CHECK(node_of_job(runs[1], 2) == 0);
  // Best fit: both servers for 100 s. Aligned: 100 s and 10 s, of 100 s.
  REQUIRE(runs[0].metrics.nodes);
  CHECK(runs[0].metrics.nodes->mean_used == doctest::Approx(2));
  CHECK(runs[0].metrics.nodes->empty_share == doctest::Approx(0));
  CHECK(runs[1].metrics.nodes->mean_used == doctest::Approx(1.1));
  CHECK(runs[1].metrics.nodes->empty_share == doctest::Approx(0.45));
  // Core seconds: 2 x 100 + 3 x 10 + 1 x 95 = 325, of 800 or of 440.
  CHECK(runs[0].metrics.nodes->cpu_density.value_or(0) == doctest::Approx(325.0 / 800));
  CHECK(runs[1].metrics.nodes->cpu_density.value_or(0) == doctest::Approx(325.0 / 440));
  CHECK_FALSE(runs[1].metrics.nodes->memory_density);
}

TEST_CASE("lifetime_alignment: an empty node is the last resort, and the fullest of equal ones") {
  // Jobs of 50 s on servers that are used until 10 s: still better than a third server.
  const auto runs = runs_of(R"("lifetime_alignment")", {{0, 3, 10}, {0, 2, 10}, {1, 1, 50}}, 3);
  CHECK(node_of_job(runs[0], 0) == 0);
  CHECK(node_of_job(runs[0], 1) == 1);
  CHECK(node_of_job(runs[0], 2) == 0);  // both end at 10 s; server 0 has the least left
}

TEST_CASE("lifetime_alignment: what finds no room is dropped and counted") {
  const auto runs = runs_of(R"("lifetime_alignment")", {{0, 4, 10}, {0, 4, 10}, {1, 1, 5}});
  CHECK(runs[0].metrics.dropped == 1);
  CHECK(runs[0].metrics.jobs == 2);
}

TEST_CASE("lifetime_alignment: ends within a grain count as equal") {
  // Server 0 is used until 100 s, server 1 until 96 s; a job until 97 s fits the first exactly,
  // with a grain of 10 s both, and server 1 has less left.
  const std::vector<Machine4> jobs = {{0, 2, 100}, {0, 3, 96}, {1, 1, 96}};
  const auto runs = runs_of(
      R"("lifetime_alignment", {"name": "lifetime_alignment", "parameters": {"grain": "10 s"}})",
      jobs);
  CHECK(node_of_job(runs[0], 2) == 0);
  CHECK(node_of_job(runs[1], 2) == 1);
}

TEST_CASE(
    "lifetime_alignment: right predictions need fewer servers than best fit, wrong ones more") {
  // Short jobs and some that stay, on 60 servers. No rule is best on every sequence of jobs; this
  // one has lifetimes of all lengths.
  const auto schedule = parse_schedule(
      R"({"schema": "foretrace.schedule/1", "policy": "fjf", "drop_what_does_not_fit": true,
          "placements": ["vector_best_fit", "lifetime_alignment",
            {"name": "lifetime_alignment", "parameters": {"error": "50"}}],
          "cluster": {"nodes": [{"count": 60, "kind": "server", "gpus": 0, "cpus": 64}]},
          "jobs": {"generate": {"jobs": 1500, "seed": 3, "mean_gap": "1 min",
            "durations": [{"share": 0.8, "from": "10 min", "to": "2 h"},
                          {"share": 0.2, "from": "12 h", "to": "72 h"}],
            "sizes": [{"share": 0.5, "gpus": 0, "cpus": 4}, {"share": 0.3, "gpus": 0, "cpus": 8},
                      {"share": 0.2, "gpus": 0, "cpus": 16}]}}})",
      "mine.json");
  REQUIRE_MESSAGE(schedule.ok(), schedule.error().message);
  const auto runs = run_schedule(*schedule);
  REQUIRE_MESSAGE(runs.ok(), runs.error().message);
  REQUIRE(runs->size() == 3);
  for (const ScheduleRun& run : *runs) CHECK(run.metrics.dropped == 0);
  const double best_fit = (*runs)[0].metrics.nodes->mean_used;
  CHECK((*runs)[1].metrics.nodes->mean_used < best_fit);
  CHECK((*runs)[2].metrics.nodes->mean_used > (*runs)[1].metrics.nodes->mean_used);
}

TEST_CASE("lifetime_alignment: one clear line for a wrong parameter") {
  const auto schedule = parse_schedule(
      R"({"schema": "foretrace.schedule/1", "policy": "fjf", "placement":
          {"name": "lifetime_alignment", "parameters": {"eror": "1"}},
          "cluster": {"nodes": [{"kind": "a"}]},
          "jobs": {"columns": ["arrival_s", "duration_s"], "rows": [[0, 1]]}})",
      "mine.json");
  REQUIRE_FALSE(schedule.ok());
  CHECK(schedule.error().message.find("did you mean 'error'") != std::string::npos);
}

}  // namespace
}  // namespace foretrace::scheduling::test
