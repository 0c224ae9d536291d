#include "apps/scheduling/sources/trials.h"

#include <map>
#include <string>

#include <doctest/doctest.h>

#include "apps/scheduling/schedule.h"

namespace foretrace::scheduling::test {
namespace {

Result<Schedule> search_of(const std::string& search) {
  return parse_schedule(R"({"schema": "foretrace.schedule/1", "policy": "fifo",
                            "cluster": {"nodes": [{"kind": "a", "gpus": 4}]},
                            "jobs": {"search": )" +
                            search + "}}",
                        "mine.json");
}

Workload workload_of(const std::string& search) {
  auto schedule = search_of(search);
  REQUIRE_MESSAGE(schedule.ok(), schedule.error().message);
  return std::move(schedule->workload);
}

// Jobs and steps of each group; "" without one.
std::map<std::string, std::pair<int, double>> groups_of(const Workload& workload) {
  std::map<std::string, std::pair<int, double>> groups;
  for (const Job& job : workload.jobs.values()) {
    auto& group = groups[job.group < 0 ? "" : workload.groups[static_cast<std::size_t>(job.group)]];
    ++group.first;
    group.second += job.steps();
  }
  return groups;
}

TEST_CASE("trials: a grid runs every trial to the end") {
  const Workload workload = workload_of(R"({"kind": "grid", "trials": 5, "rungs": 3, "steps": 2})");
  // 2 x 3^2 steps each.
  CHECK(groups_of(workload)[""] == std::pair{5, 90.0});
}

TEST_CASE("trials: a key that the search has no use for is a mistake") {
  const auto told = [](const std::string& search) { return search_of(search).error().message; };
  CHECK(told(R"({"kind": "grid", "trials": 5, "noise": 0.1})").find("/jobs/search/noise: ") !=
        std::string::npos);
  CHECK(told(R"({"kind": "hyperband", "trials": 5})").find("/jobs/search/trials: ") !=
        std::string::npos);
}

TEST_CASE("trials: in halving one in eta goes on, with eta times the steps in all") {
  const Workload workload =
      workload_of(R"({"kind": "halving", "trials": 9, "rungs": 3, "steps": 1})");
  auto groups = groups_of(workload);
  CHECK(groups["rung 1"] == std::pair{9, 9.0});
  CHECK(groups["rung 2"] == std::pair{3, 6.0});  // 3 - 1 steps each
  CHECK(groups["rung 3"] == std::pair{1, 6.0});  // 9 - 3
  const Job& last = workload.jobs.values().back();
  CHECK(workload.groups[static_cast<std::size_t>(last.after)] == "rung 2");
}

TEST_CASE("trials: HyperBand's brackets are those of its table") {
  // R = 81, eta = 3 of the paper: 81, 34, 15, 8, 5 trials.
  CHECK(bracket_trials(5, 3, 0) == 81);
  CHECK(bracket_trials(5, 3, 1) == 34);
  CHECK(bracket_trials(5, 3, 2) == 15);
  CHECK(bracket_trials(5, 3, 3) == 8);
  CHECK(bracket_trials(5, 3, 4) == 5);
  auto groups = groups_of(workload_of(R"({"kind": "hyperband", "rungs": 5, "steps": 1})"));
  // Its second bracket: 34 at 3, 11 at 9, 3 at 27, 1 at 81.
  CHECK(groups["bracket 2, rung 2"] == std::pair{34, 34 * 3.0});
  CHECK(groups["bracket 2, rung 3"] == std::pair{11, 11 * 6.0});
  CHECK(groups["bracket 2, rung 4"] == std::pair{3, 3 * 18.0});
  CHECK(groups["bracket 2, rung 5"] == std::pair{1, 54.0});
  CHECK(groups["bracket 5, rung 5"] == std::pair{5, 5 * 81.0});
}

TEST_CASE("trials: asha does the work of halving without waiting") {
  const std::string rest = R"("trials": 27, "rungs": 3, "steps": 1, "spread": 1, "seed": 4})";
  const Workload halving = workload_of(R"({"kind": "halving", )" + rest);
  const Workload asha = workload_of(R"({"kind": "asha", )" + rest);
  double steps[2] = {0, 0};
  for (const Job& job : halving.jobs.values()) steps[0] += job.steps();
  for (const Job& job : asha.jobs.values()) {
    steps[1] += job.steps();
    CHECK(job.after == -1);
  }
  CHECK(asha.jobs.size() == 27);
  CHECK(steps[0] == doctest::Approx(steps[1]));
}

TEST_CASE("trials: noise of scores changes who goes on, and not how many") {
  const std::string rest = R"("kind": "halving", "trials": 27, "rungs": 3, "spread": 1, "noise": )";
  const Workload sure = workload_of("{" + rest + "0}");
  const Workload noisy = workload_of("{" + rest + "10}");
  REQUIRE(sure.jobs.size() == noisy.jobs.size());
  bool differs = false;
  for (std::size_t i = 0; i < sure.jobs.size(); ++i) {
    differs |= sure.jobs[make_id<JobId>(i)].name != noisy.jobs[make_id<JobId>(i)].name;
  }
  CHECK(differs);
}

TEST_CASE("trials: one clear line for every mistake") {
  const auto says = [](const std::string& search, const std::string& what) {
    const auto schedule = search_of(search);
    const std::string message = schedule.ok() ? "" : schedule.error().message;
    CAPTURE(message);
    return message.find(what) != std::string::npos;
  };
  CHECK(says(R"({"kind": "halvin"})", "did you mean 'halving'"));
  CHECK(says(R"({"kind": "hyperband", "trials": 3})", "/jobs/search/trials: HyperBand's brackets"));
  CHECK(says(R"({"kind": "hyperband", "rungs": 20})", "/jobs/search/rungs: expected at most"));
  CHECK(says(R"({"kind": "grid", "type": "x"})", "/jobs/search/type: no rates of 'x'"));
  CHECK(says(R"({"kind": "grid", "least_gpus": 3, "most_gpus": 2})", "larger than most_gpus"));
}

}  // namespace
}  // namespace foretrace::scheduling::test
