#include "apps/driver/scheduler/schedule.h"

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

TEST_CASE("schedule: ticks need a period above 0") {
  const std::string jobs = "{" + durations + "}";
  CHECK(mistake(file(nodes, jobs, R"(, "clock": {"decide": "ticks"})")) ==
        "run.json: /clock/period: missing key, expected a time above 0 such as \"360 s\"");
  CHECK(mistake(file(nodes, jobs, R"(, "clock": {"decide": "ticks", "period": "0 s"})")) ==
        "run.json: /clock/period: expected a time above 0 such as \"360 s\"");
}

}  // namespace
}  // namespace foretrace::scheduling
