#include "apps/scheduling/schedule.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "apps/report/pages/cluster/schedule.h"
#include "apps/report/writers.h"
#include "sim/core/mersenne.h"

namespace foretrace::scheduling {
namespace {

std::string file(const std::string& nodes, const std::string& jobs, const std::string& rest = "") {
  return R"({"schema": "foretrace.schedule/1", "cluster": {"nodes": )" + nodes +
         R"(}, "throughput": {"columns": ["model", "batch", "kind", "gpus", "steps_per_s"],
             "rows": [["x", 8, "a", 1, 2.0]]}, "jobs": {"generate": )" +
         jobs + R"(}, "policy": "fifo")" + rest + "}";
}

const std::string nodes = R"([{"kind": "a", "gpus": 4}])";
const std::string durations = R"("jobs": 3, "durations": [{"from": "1 min", "to": "1 h"}])";

std::string mistake(const std::string& text) {
  const auto read = parse_schedule(text, "run.json");
  return read.ok() ? "" : read.error().message;
}

TEST_CASE("schedule: a run is read with its jobs") {
  const auto read = parse_schedule(file(nodes, "{" + durations + "}"), "run.json");
  REQUIRE_MESSAGE(read.ok(), read.error().message);
  CHECK(read->workload.jobs.size() == 3);
  const auto runs = run_schedule(*read);
  REQUIRE_MESSAGE(runs.ok(), runs.error().message);
  CHECK(runs->front().outcome.jobs.size() == 3);
}

TEST_CASE("schedule: the first mistake is told, not what follows from it") {
  CHECK(mistake(file(R"([{"kind": "a", "gpus": 400}])", "{" + durations + "}")) ==
        "run.json: /cluster/nodes/0/gpus: got 400, expected 0 to 64");
}

TEST_CASE("schedule: sizes of jobs that no type can have are a mistake") {
  CHECK(mistake(file(nodes, "{" + durations + R"(, "sizes": [{"gpus": 4}]})")) ==
        "run.json: /jobs/generate/sizes: no type has rates on all of these numbers of the "
        "reference kind");
  CHECK(mistake(file(nodes, "{" + durations + R"(, "sizes": 4})")) ==
        "run.json: /jobs/generate/sizes: got the number 4, expected a list of objects");
}

TEST_CASE("schedule: a job comes once the group that it waits for is over, or dropped") {
  const auto run_of = [](const std::string& rows, const std::string& rest) {
    const auto read = parse_schedule(R"({"schema": "foretrace.schedule/1", "cluster": {"nodes": )" +
                                         nodes + R"(}, "jobs":
            {"columns": ["name", "gpus", "duration_s", "group", "after"], "rows": )" +
                                         rows + R"(}, "policy": "fifo")" + rest + "}",
                                     "run.json");
    REQUIRE_MESSAGE(read.ok(), read.error().message);
    auto runs = run_schedule(*read);
    REQUIRE_MESSAGE(runs.ok(), runs.error().message);
    return std::move(runs->front());
  };
  // The second one comes at 30 s and starts at once: 30 s and 10 s, and nobody waits.
  const ScheduleRun both = run_of(R"([["a", 1, 30, "g", ""], ["b", 1, 10, "", "g"]])", "");
  CHECK(both.metrics.makespan_s == 40);
  CHECK(both.metrics.completion_s.mean == 20);
  CHECK(both.metrics.waiting_s.mean == 0);
  // Nothing has room for the first one.
  const ScheduleRun dropped = run_of(R"([["a", 8, 30, "g", ""], ["b", 1, 10, "", "g"]])",
                                     R"(, "drop_what_does_not_fit": true)");
  CHECK(dropped.metrics.dropped == 1);
  CHECK(dropped.metrics.jobs == 1);
}

TEST_CASE("schedule: lists of policies and placements have an end") {
  const auto list_of = [](const std::string& name, std::size_t count) {
    std::string list;
    for (std::size_t i = 0; i < count; ++i) list += (i > 0 ? ", \"" : "\"") + name + "\"";
    return "[" + list + "]";
  };
  const std::string jobs = "{" + durations + "}";
  CHECK(mistake(file(nodes, jobs, ", \"placements\": " + list_of("pack", 101))) ==
        "run.json: /placements: got 101, expected 1 to 100");
  std::string both = file(nodes, jobs, ", \"placements\": " + list_of("pack", 26));
  const std::string one = R"("policy": "fifo")";
  both.replace(both.find(one), one.size(), "\"policies\": " + list_of("fifo", 40));
  CHECK(mistake(both) ==
        "run.json: /placements: got 26 for 40 policies, expected at most 1000 runs in all");
}

TEST_CASE("schedule: ticks need a period above 0") {
  const std::string jobs = "{" + durations + "}";
  CHECK(mistake(file(nodes, jobs, R"(, "clock": {"decide": "ticks"})")) ==
        "run.json: /clock/period: missing key, expected a time above 0 such as \"360 s\"");
  CHECK(mistake(file(nodes, jobs, R"(, "clock": {"decide": "ticks", "period": "0 s"})")) ==
        "run.json: /clock/period: expected a time above 0 such as \"360 s\"");
}

TEST_CASE("schedule: jobs that come too late to be counted are a mistake of their gap") {
  const std::string jobs = R"({"jobs": 3000, "mean_gap": "100000 min",
                               "durations": [{"from": "1 min", "to": "1 h"}]})";
  const std::string said = mistake(file(nodes, jobs));
  CHECK(said.starts_with("run.json: /jobs/generate/mean_gap: got 6e+15 ns, with which "));
  CHECK(said.ends_with(" of 3000 jobs come within 4e+18 ns, expected all of them"));
  CHECK(
      mistake(file(nodes, R"({"jobs": 3, "durations": [{"from": "1 h", "to": "1e10 s"}]})")) ==
      "run.json: /jobs/generate/durations/0/to: got 1e+19 ns, expected a value from 0 to 4e+18 ns");
  CHECK(mistake(file(nodes, "{" + durations + "}", R"(, "restart": "1e10 s")")) ==
        "run.json: /restart: got 1e+19 ns, expected a value from 0 to 4e+18 ns");
}

/// Times of any size up to `most` seconds, as files write them.
std::string drawn_time(Random& random, double least, double most) {
  return fmt::format("\"{} s\"",
                     std::pow(10.0, random.uniform(std::log10(least), std::log10(most))));
}

/// Jobs of any length and distance, under any clock, with restarts and failures.
std::string extreme_mix(Random& random) {
  const double longest = std::pow(10.0, random.uniform(-9, 9.7));
  std::string rest = R"(, "restart": )" + drawn_time(random, 1e-9, longest);
  const char* const clocks[] = {"events", "ticks", "leases"};
  rest += fmt::format(R"(, "clock": {{"decide": "{}", "period": {}}})", clocks[random.below(3)],
                      drawn_time(random, std::max(2e-9, longest / 50), 4e9));
  if (random.below(2) == 0) {
    rest += fmt::format(R"(, "failures": {{"mean_time_between": {}, "repair": {}}})",
                        drawn_time(random, std::max(2e-9, longest / 50), 4e9),
                        drawn_time(random, 1e-9, 4e9));
  }
  if (random.below(2) == 0) rest += R"(, "drop_what_does_not_fit": true)";
  return file(R"([{"count": 2, "kind": "a", "gpus": 8}])",
              fmt::format(R"({{"jobs": 12, "seed": {}, "mean_gap": {},
                              "durations": [{{"from": "1 ns", "to": "{} s"}}]}})",
                          random.below(1000), drawn_time(random, 1e-9, 4e9), longest),
              rest);
}

TEST_CASE("schedule: a mix of jobs of any length either runs and is shown or is told in a line") {
  Random random(7);
  std::size_t shown = 0;
  for (int round = 0; round < 300; ++round) {
    const std::string text = extreme_mix(random);
    CAPTURE(text);
    const auto read = parse_schedule(text, "run.json");
    const auto runs =
        read.ok() ? run_schedule(*read) : Result<std::vector<ScheduleRun>>(read.error());
    if (!runs.ok()) {
      CHECK(runs.error().message.find('\n') == std::string::npos);
      CHECK(runs.error().code == ErrorCode::bad_config);
      continue;
    }
    CHECK(!report::json_of(report::schedule_page({*read, *runs})).empty());
    ++shown;
  }
  CHECK(shown > 50);
  CHECK(shown < 300);
}

}  // namespace
}  // namespace foretrace::scheduling
