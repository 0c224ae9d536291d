#include "apps/scheduling/schedule.h"

#include <string>

#include <doctest/doctest.h>

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

}  // namespace
}  // namespace foretrace::scheduling
