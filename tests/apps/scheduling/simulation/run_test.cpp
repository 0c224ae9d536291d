#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "apps/scheduling/components.h"
#include "sim/core/mersenne.h"
#include "tests/apps/scheduling/jobs_builder.h"

namespace foretrace::scheduling::test {
namespace {

TEST_CASE("run: ticks let jobs start and hand on what they held at multiples of the period only") {
  // Ticks of 10: job 0 comes at 1, starts at 10, ends at 25; job 1 gets its place at 30.
  Jobs jobs;
  jobs.nodes("a", 1, 1).job(1, 1, 15).job(2, 1, 5);
  CHECK(jobs.ends("fifo", "", {.clock = Clock::ticks, .period_ns = 10 * second}) == Times{25, 35});
}

TEST_CASE("run: a phase ends at the nearest whole quantum, a half at the even one") {
  // Phases of 1.4, 1.5 and 2.5 s on a quantum of 1 s: 1 + 2 + 2.
  Jobs jobs;
  jobs.nodes("a", 1, 1).job(0, 1, 0);
  jobs.last().phases = {1.4, 1.5, 2.5};
  CHECK(jobs.ends("fifo", "", {.phase_quantum_ns = second}) == Times{5});
  CHECK(jobs.ends("fifo") == Times{5.4});
  // However often anybody looks: from the first tick at 0.7 s.
  CHECK(jobs.ends(
            "fifo", "",
            {.clock = Clock::ticks, .period_ns = second / 10 * 7, .phase_quantum_ns = second}) ==
        Times{5.7});
}

TEST_CASE("run: leases end after whole steps, the next round begins at the last stop") {
  // Rounds of 10 s, 0.3 steps/s: 3 whole steps take 10 s; a rate of 0.4 gives 4 steps, also 10 s;
  // 0.25 gives 2 steps, 8 s: alone the next round begins at 8.
  Jobs jobs;
  jobs.nodes("a", 1, 1).job_of("x", 1, 6, {0.25});
  CHECK(jobs.ends("fifo", "", leases(10)) == Times{24});  // 3 rounds of 2 steps
}

TEST_CASE("run: in leases a job that comes back loses the restart, but not in the first round") {
  // Rounds of 100 s, restart 20 s, 1 step/s. Round 0: job 0 does 100 for free. Round 1: job 1 comes
  // in and does 80. Round 2: it has had less time and stays, 80 in 80 s are its end. Round 3, from
  // 280: job 0 comes back and does 80. Round 4: it stays, 70 in 70 s are its end.
  Jobs jobs;
  jobs.nodes("a", 1, 1).job(0, 1, 250).job(0, 1, 160);
  RunOptions options = leases(100);
  options.restart_ns = 20 * second;
  options.restart_slack_ns = 5 * second;
  options.restarts_in_first_round = false;
  CHECK(jobs.ends("max_min_fairness", "reset='0 s'", options) == Times{450, 280});
}

TEST_CASE("run: in leases a job does a step in every round, also one that lost the restart") {
  // Steps of 200 s in rounds of 100 s: job 0, job 1 twice since it lost 20 s, job 0.
  Jobs jobs;
  jobs.nodes("a", 1, 1).job_of("x", 1, 2, {0.005}).job_of("x", 1, 2, {0.005});
  RunOptions options = leases(100);
  options.restart_ns = 20 * second;
  options.restarts_in_first_round = false;
  CHECK(jobs.ends("max_min_fairness", "reset='0 s'", options) == Times{800, 600});
}

TEST_CASE("run: jobs that get nowhere are an error, not an endless loop") {
  // A node that fails again at once whenever it is repaired.
  Jobs jobs;
  jobs.nodes("a", 1, 1).job(0, 1, 100);
  RunOptions options{.failures = {.mean_between_ns = 1, .repair_ns = second, .seed = 1},
                     .most_idle_steps = 1000};
  for (const Clock clock : {Clock::events, Clock::ticks, Clock::leases}) {
    options.clock = clock;
    options.period_ns = 10 * second;
    const auto outcome = jobs.run("fifo", "", options);
    REQUIRE_FALSE(outcome.ok());
    CHECK(outcome.error().message ==
          "job 0: no job arrived or ended in 1000 decisions and changes of nodes; try a longer "
          "period, a shorter restart or fewer failures");
  }
}

TEST_CASE("run: jobs of more rounds than a run may have are refused before it begins") {
  Jobs jobs;
  jobs.nodes("a", 1, 1).job(0, 1, 1e9);
  Jobs many;
  many.nodes("a", 1, 1);
  for (int i = 0; i < 300; ++i) many.job(i, 1, 1e6);
  RunOptions options{.period_ns = 10 * second};
  for (const Clock clock : {Clock::ticks, Clock::leases}) {
    options.clock = clock;
    const auto outcome = jobs.run("max_min_fairness", "", options);
    REQUIRE_FALSE(outcome.ok());
    CHECK(outcome.error().message ==
          "job 0: takes 1e+08 periods of 10 s at its fastest, expected at most 10000000: a longer "
          "period or shorter jobs");
    const auto long_queue = many.run("max_min_fairness", "", options);
    REQUIRE_FALSE(long_queue.ok());
    CHECK(long_queue.error().message ==
          "job 200: with the jobs before it takes 2e+07 periods of 10 s at their fastest, expected "
          "at most 20000000: a longer period or shorter jobs");
  }
  options.period_ns = 1'000'000 * second;
  CHECK(jobs.run("max_min_fairness", "", options).ok());
}

TEST_CASE("run: what a policy decides costs its events, not the periods between them") {
  // 2.5e8 periods: asked in each of them, no machine would see the end.
  for (const Clock clock : {Clock::ticks, Clock::leases}) {
    for (const char* policy : {"fifo", "fjf", "sjf", "srtf", "srsf", "las"}) {
      CAPTURE(std::string(policy));
      Jobs jobs;
      jobs.nodes("a", 1, 2).job(0, 1, 1e9).job(0, 1, 2e9).job(1000, 1, 1.5e9);
      const auto outcome = jobs.run(policy, "", {.clock = clock, .period_ns = 10 * second});
      REQUIRE_MESSAGE(outcome.ok(), outcome.error().message);
      CHECK(outcome->decisions >= 200'000'000);
      if (std::string_view(policy) == "fifo") {
        CHECK(static_cast<double>(outcome->jobs[JobId{0}].end_ns) ==
              doctest::Approx(1e18).epsilon(1e-7));
        CHECK(static_cast<double>(outcome->jobs[JobId{1}].end_ns) ==
              doctest::Approx(2e18).epsilon(1e-7));
      }
    }
  }
}

/// The same policy, but asked in every period.
class Asked final : public Policy {
 public:
  explicit Asked(Policy& policy) : policy_(&policy) {}
  void on_arrival(const View& view, JobId job) override { policy_->on_arrival(view, job); }
  void on_end(const View& view, JobId job) override { policy_->on_end(view, job); }
  void on_run(const Grant& grant, std::int64_t ns) override { policy_->on_run(grant, ns); }
  Status decide(const View& view, Offer& offer) override { return policy_->decide(view, offer); }
  [[nodiscard]] std::int64_t next_decision_ns(const View& view) const override {
    return policy_->next_decision_ns(view);
  }

 private:
  Policy* policy_;
};

TEST_CASE("law: periods that are passed over end as those in which a policy is asked") {
  std::uint64_t seed = 0;
  for (const Clock clock : {Clock::ticks, Clock::leases}) {
    for (const char* policy : {"fifo", "fjf", "sjf", "srtf", "srsf", "las"}) {
      for (int round = 0; round < 25; ++round, ++seed) {
        CAPTURE(std::string(policy));
        CAPTURE(seed);
        Random random(seed);
        Jobs jobs;
        jobs.nodes("a", 2, 4).nodes("b", 1, 4);
        double arrival_s = 0;
        for (int j = 0; j < 12; ++j) {
          arrival_s += static_cast<double>(random.below(20'000));
          const auto gpus = static_cast<int>(1 + random.below(4));
          jobs.job(arrival_s, gpus, static_cast<double>(1 + random.below(200'000)));
        }
        RunOptions options{.clock = clock, .period_ns = 60 * second};
        options.restart_ns = random.below(2) == 0 ? 0 : 20 * second;
        if (random.below(2) == 0) {
          options.failures = {
              .mean_between_ns = 40'000 * second, .repair_ns = 900 * second, .seed = seed};
        }
        const auto passed_over = jobs.run(policy, "", options);
        REQUIRE_MESSAGE(passed_over.ok(), passed_over.error().message);
        auto made = make_policy(policy, "");
        REQUIRE(made.ok());
        Asked asked(**made);
        auto placed =
            make_placement("pack", "", {.cluster = &jobs.cluster, .workload = &jobs.workload});
        REQUIRE(placed.ok());
        const auto each =
            run({&jobs.cluster, &jobs.workload, &jobs.throughput, &asked, placed->get()}, options);
        REQUIRE_MESSAGE(each.ok(), each.error().message);
        CHECK(passed_over->decisions == each->decisions);
        CHECK(passed_over->rounds == each->rounds);
        CHECK(passed_over->leases == each->leases);
        CHECK(passed_over->extended_leases == each->extended_leases);
        for (std::size_t j = 0; j < each->jobs.size(); ++j) {
          const JobState& is = passed_over->jobs[make_id<JobId>(j)];
          const JobState& was = each->jobs[make_id<JobId>(j)];
          CHECK(std::abs(is.end_ns - was.end_ns) <= 1000);  // rests add up by other steps
          CHECK(is.starts == was.starts);
          CHECK(is.preemptions == was.preemptions);
          CHECK(is.failures == was.failures);
        }
      }
    }
  }
}

TEST_CASE("run: a period beyond the end of time is an error") {
  Jobs jobs;
  jobs.nodes("a", 1, 1).job(0, 2, 1e9).nodes("a", 1, 1);
  RunOptions options{.clock = Clock::ticks, .period_ns = never_ns / 2 + 1};
  CHECK_FALSE(jobs.run("fifo", "", options).ok());
}

TEST_CASE("run: a node that goes down stops its jobs, which go back to their checkpoint") {
  // One node of 1, down from 10 to 15. Checkpoints every 4 s: 8 of 20 s are kept, 12 follow
  // from 15.
  Jobs jobs;
  jobs.nodes("a", 1, 1).job(0, 1, 20);
  RunOptions options{.checkpoint_ns = 4 * second};
  options.outages.push_back({NodeId{0}, 10 * second, 15 * second});
  CHECK(jobs.ends("fifo", "", options) == Times{27});
  const auto outcome = jobs.run("fifo", "", options);
  CHECK(outcome->jobs[JobId{0}].failures == 1);
  CHECK(outcome->jobs[JobId{0}].preemptions == 0);
}

TEST_CASE("run: random failures are the same for a seed and other ones for another") {
  Jobs jobs;
  jobs.nodes("a", 4, 1);
  for (int i = 0; i < 12; ++i) jobs.job(0, 1, 100);
  RunOptions options{
      .failures = {.mean_between_ns = 80 * second, .repair_ns = 5 * second, .seed = 1}};
  const Times first = jobs.ends("fjf", "", options);
  CHECK(first == jobs.ends("fjf", "", options));
  options.failures.seed = 2;
  CHECK(first != jobs.ends("fjf", "", options));
}

TEST_CASE("run: time on accelerators, its price and its use are counted") {
  // 2 of 4 accelerators for an hour at 3 an hour.
  Jobs jobs;
  jobs.nodes("a", 1, 4).job(0, 2, 3600);
  jobs.cluster.kinds[KindId{0}].price_per_hour = 3;
  const auto outcome = jobs.run("fifo");
  REQUIRE(outcome.ok());
  CHECK(outcome->jobs[JobId{0}].cost == doctest::Approx(6));
  CHECK(outcome->held_s[KindId{0}] == doctest::Approx(7200));
  CHECK(outcome->up_s[KindId{0}] == doctest::Approx(4 * 3600));
  REQUIRE(outcome->bars.size() == 1);
  // Times are rounded to 1 part in 10^12.
  CHECK(std::abs(outcome->bars[0].end_ns - outcome->bars[0].begin_ns - 3600 * second) <= 4);
}

TEST_CASE("run: events tell what happened in the order of time") {
  Jobs jobs;
  jobs.nodes("a", 1, 1).job(0, 1, 10).job(1, 1, 3);
  const auto outcome = jobs.run("srtf");
  std::string text;
  for (const Event& event : outcome->events) {
    text += std::to_string(event.time_ns / second) + " " + std::string(to_string(event.kind)) +
            " " + std::to_string(index(event.job)) + "; ";
  }
  CHECK(text ==
        "0 arrive 0; 0 start 0; 1 arrive 1; 1 stop 0; 1 start 1; 4 finish 1; 4 start 0; 13 finish "
        "0; ");
}

TEST_CASE("run: a job that can run nowhere is an error that names it") {
  Jobs jobs;
  jobs.nodes("a", 1, 2).job(0, 3, 10);
  CHECK(jobs.run("fifo").error().message ==
        "job 0: asks for more accelerators than any kind has (3 accelerators, runs seconds)");
  Jobs unknown;
  unknown.nodes("a", 1, 2).job_of("x", 1, 10, {0});
  CHECK(unknown.run("fifo").error().message ==
        "job 0: has no throughput on any kind that it may use (1 accelerators, runs x)");
}

TEST_CASE("run: a policy that never starts a job is an error, not an endless loop") {
  // The only node is down for ever.
  Jobs jobs;
  jobs.nodes("a", 1, 1).job(0, 1, 10);
  RunOptions options;
  options.outages.push_back({NodeId{0}, 0, 1});
  options.outages.push_back({NodeId{0}, 0, never_ns});
  CHECK_FALSE(jobs.run("fifo", "", options).ok());
}

TEST_CASE("run: jobs that do not fit are dropped where that is asked for") {
  Jobs jobs;
  jobs.nodes("a", 1, 2).job(0, 2, 10).job(1, 1, 5).job(20, 1, 5);
  const auto outcome = jobs.run("fjf", "", {.drops_what_does_not_fit = true});
  REQUIRE(outcome.ok());
  CHECK(outcome->jobs[JobId{1}].status == JobStatus::dropped);
  CHECK(outcome->jobs[JobId{2}].end_ns == 25 * second);
}

TEST_CASE("run: the run ends once the jobs that count have ended") {
  Jobs jobs;
  jobs.nodes("a", 1, 1).job(0, 1, 10).job(0, 1, 10).job(0, 1, 10);
  const auto outcome = jobs.run("fifo", "", {.until = {JobId{1}}});
  REQUIRE(outcome.ok());
  CHECK(outcome->jobs[JobId{1}].end_ns == 20 * second);
  CHECK(outcome->jobs[JobId{2}].end_ns == -1);
}

}  // namespace
}  // namespace foretrace::scheduling::test
