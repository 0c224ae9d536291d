#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "apps/scheduling/schedule.h"
#include "tests/apps/scheduling/jobs_builder.h"

namespace foretrace::scheduling::test {
namespace {

// Trials on 1 to 8 accelerators, each as fast as it has accelerators.
void add_trials(Jobs& jobs, int gpus, const std::vector<double>& steps) {
  jobs.nodes("a", 1, gpus);
  for (const double one : steps) {
    jobs.job_of("trial", 1, one, {1});
    jobs.last().least_gpus = 1;
    jobs.last().most_gpus = 8;
  }
  for (std::int32_t width = 2; width <= 8; ++width) {
    jobs.throughput.set(TypeId{0}, {.kind = KindId{0}, .gpus = width}, width);
  }
}

Times ends_of(const std::vector<double>& steps, std::string_view policy,
              std::string_view parameters = "") {
  Jobs jobs;
  add_trials(jobs, 8, steps);
  return jobs.ends(policy, parameters);
}

TEST_CASE("fluid: accelerators go with the work that is left") {
  // 12, 1 and 1 left of 14: levels 12/4.67 = 2, 0, 0, at least 1: weights 2, 1, 1 of 8
  // accelerators. The small ones end at 1/2 s on 2 each; the large one did 2 on 4 and has 10 left
  // for all 8.
  CHECK(ends_of({12, 1, 1}, "fluid", "least=1") == Times{0.5 + 10.0 / 8, 0.5, 0.5});
  // As in the paper's code small ones weigh 2: shares 8/3 each, 3, 3 and 2 whole ones.
  // The first ones get what is left over: 3, 3, 2. A small one ends at 1/3 s; then both that are
  // left get 4, and the other, with 1/3 left, ends 1/12 s later.
  CHECK(ends_of({12, 1, 1}, "fluid")[2] == doctest::Approx(5.0 / 12).epsilon(1e-6));
  CHECK(ends_of({12, 1, 1}, "fluid")[1] == doctest::Approx(1.0 / 3).epsilon(1e-6));
  CHECK(ends_of({12, 1, 1}, "fifo") == Times{12, 1, 1});
}

TEST_CASE("fluid: with more trials than fit those that run stay, then the longest start") {
  Jobs jobs;
  add_trials(jobs, 1, {5, 1, 7});
  jobs.workload.jobs[JobId{1}].arrival_ns = second;
  jobs.workload.jobs[JobId{2}].arrival_ns = second;
  CHECK(jobs.ends("fluid") == Times{5, 13, 12});
}

TEST_CASE("fluid: a job that is not elastic keeps what it asks for") {
  Jobs jobs;
  jobs.nodes("a", 1, 4).job(0, 2, 10);
  CHECK(jobs.ends("fluid") == Times{10});
  const auto outcome = jobs.run("fluid");
  REQUIRE(outcome.ok());
  CHECK(outcome->bars.front().gpus == 2);
}

TEST_CASE("fluid: nobody gets accelerators that are not known to help") {
  // Rates on 1, 2 and 3: 1, 1.5, 1.5: the third one stays idle.
  Jobs jobs;
  jobs.nodes("a", 1, 3).job_of("trial", 1, 3, {1});
  jobs.last().least_gpus = 1;
  jobs.last().most_gpus = 3;
  jobs.throughput.set(TypeId{0}, {.kind = KindId{0}, .gpus = 2}, 1.5);
  jobs.throughput.set(TypeId{0}, {.kind = KindId{0}, .gpus = 3}, 1.5);
  const auto outcome = jobs.run("fluid");
  REQUIRE(outcome.ok());
  CHECK(outcome->bars.front().gpus == 2);
  CHECK(outcome->end_ns == 2 * second);
}

TEST_CASE("fluid: weights the wrong way round are an error") {
  const auto policy = make_policy("fluid", "least=5,most=4");
  REQUIRE_FALSE(policy.ok());
  CHECK(policy.error().message.find("'most' is below 'least'") != std::string::npos);
}

Result<Schedule> rungs(const std::string& rows) {
  return parse_schedule(
      R"({"schema": "foretrace.schedule/1", "policy": "fifo",
          "cluster": {"nodes": [{"kind": "a", "gpus": 2}]},
          "jobs": {"columns": ["arrival_s", "duration_s", "group", "after"], "rows": [)" +
          rows + "]}}",
      "mine.json");
}

TEST_CASE("groups: a job comes when all of the group that it waits for are over") {
  // 0: 0 to 1, 1: 0 to 2, 2: 1 to 4. An accelerator is free from 2 on, but the next rung begins at
  // 4: both of it end at 8 and 5, and the last at 9.
  const auto schedule = rungs(R"([0, 1, "r0", ""], [0, 2, "r0", ""], [0, 3, "r0", ""],
                                 [0, 4, "r1", "r0"], [0, 1, "r1", "r0"], [0, 1, "", "r1"])");
  REQUIRE_MESSAGE(schedule.ok(), schedule.error().message);
  const auto runs = run_schedule(*schedule);
  REQUIRE_MESSAGE(runs.ok(), runs.error().message);
  Times ends;
  for (const JobState& state : runs->front().outcome.jobs.values()) {
    ends.push_back(static_cast<double>(state.end_ns) / 1e9);
  }
  CHECK(ends == Times{1, 2, 4, 8, 5, 9});
}

TEST_CASE("groups: a group waits for those above it only") {
  const auto later = rungs(R"([0, 1, "r0", "r1"], [0, 2, "r1", ""])");
  REQUIRE_FALSE(later.ok());
  CHECK(later.error().message.find("expected a group of a row above, before its own") !=
        std::string::npos);
  const auto circle = rungs(R"([0, 1, "r0", ""], [0, 2, "r1", "r0"], [0, 2, "r0", "r1"])");
  REQUIRE_FALSE(circle.ok());
  const auto wrong = rungs(R"([0, 1, "first", ""], [0, 2, "", "firts"])");
  REQUIRE_FALSE(wrong.ok());
  CHECK(wrong.error().message.find("did you mean 'first'") != std::string::npos);
}

}  // namespace
}  // namespace foretrace::scheduling::test
