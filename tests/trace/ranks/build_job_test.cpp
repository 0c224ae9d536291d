#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "sim/engine/pull/pull.h"
#include "sim/graph/validate.h"
#include "tests/trace/ranks/real_jobs.h"
#include "trace/ranks/job.h"

namespace foretrace::trace {
namespace {

/// Replay of every rank's steps against the recording.
struct Errors {
  double mean = 0;
  double worst = 0;
};
Errors step_errors(const BuiltJob& job, const Timeline& timeline) {
  const auto& steps = job.built.graph.context().steps;
  Errors errors;
  std::size_t count = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const MeasuredStep& measured = job.built.steps[i];
    const auto recorded = static_cast<double>(measured.end_ns - measured.start_ns);
    const auto simulated =
        static_cast<double>(timeline.start_ns(steps[i].end) - timeline.start_ns(steps[i].begin));
    const double error = std::abs(simulated / recorded - 1);
    errors.mean += error;
    errors.worst = std::max(errors.worst, error);
    ++count;
  }
  errors.mean /= static_cast<double>(std::max<std::size_t>(1, count));
  return errors;
}

}  // namespace

TEST_CASE("job: recorded jobs replay to 0.2 % mean and 1 % worst step on every rank") {
  if (recordings().empty()) {
    MESSAGE("no recordings here: skipped");
    return;
  }
  const std::map<std::string, std::uint32_t> matched = {{"tp8", 84},   {"dlrm8", 8}, {"str", 31},
                                                        {"nostr", 31}, {"fp32", 30}, {"qcomm", 27},
                                                        {"tp2", 13}};
  for (const RealJob& job : real_jobs()) {
    INFO(job.name);
    auto traces = read_real_job(job.name);
    REQUIRE_MESSAGE(traces.ok(), (traces.ok() ? std::string() : traces.error().message));
    auto built = build_job(*traces);
    REQUIRE_MESSAGE(built.ok(), (built.ok() ? std::string() : built.error().message));
    CHECK(validate(built->built.graph).ok());
    std::uint32_t found = 0;
    for (const JobCommunicator& communicator : built->matching.communicators) {
      found += communicator.matched;
      CHECK(communicator.method >= MatchMethod::order);
    }
    CHECK(found == matched.at(job.name));
    const Errors errors = step_errors(*built, simulate(built->built.graph));
    const auto& flags = built->built.honesty.flags;
    const bool shared = std::any_of(flags.begin(), flags.end(), [](const std::string& flag) {
      return flag.find("shared device") != std::string::npos;
    });
    CHECK(shared == (job.name == "tp2"));  // its device is time-sliced with another process
    if (!shared) {
      CHECK(errors.mean <= 0.002);
      CHECK(errors.worst <= 0.01);
    }
  }
}

TEST_CASE("job: with typical latencies instead of recorded ones jobs still replay to 2 %") {
  if (recordings().empty()) {
    MESSAGE("no recordings here: skipped");
    return;
  }
  BuildOptions options;
  options.constant_latency = true;
  for (const RealJob& job : real_jobs()) {
    auto traces = read_real_job(job.name);
    REQUIRE(traces.ok());
    auto built = build_job(*traces, options);
    REQUIRE(built.ok());
    const Errors errors = step_errors(*built, simulate(built->built.graph));
    CHECK(errors.worst <= 0.02);
  }
}

TEST_CASE("job: transfers run at bandwidths that the links have, whoever waits for whom") {
  if (recordings().empty()) {
    MESSAGE("no recordings here: skipped");
    return;
  }
  auto traces = read_real_job("tp8");
  REQUIRE(traces.ok());
  auto built = build_job(*traces);
  REQUIRE(built.ok());
  std::vector<double> large;
  std::int64_t waiting = 0;
  std::int64_t transfer = 0;
  for (const MatchedCollective& collective : built->matching.collectives) {
    for (const WaitSplit& split :
         split_waiting(collective, built->collectives, built->matching.clocks)) {
      waiting += split.wait_ns;
      transfer += split.transfer_ns;
      if (collective.bytes > 60'000'000) {
        large.push_back(bus_factor(collective.kind, 8) * static_cast<double>(collective.bytes) /
                        static_cast<double>(split.transfer_ns));
      }
    }
  }
  std::sort(large.begin(), large.end());
  REQUIRE(large.size() > 100);
  // 67.1 MB, 8 x A100 on NVSwitch: 300 GB/s per direction at best, two thirds of it in use.
  CHECK(large[large.size() / 2] > 190);
  CHECK(large[large.size() / 2] < 210);
  CHECK(large[large.size() * 95 / 100] < 300);
  // 88 % of the time that collectives run is waiting for the last to arrive.
  CHECK(static_cast<double>(waiting) / static_cast<double>(waiting + transfer) ==
        doctest::Approx(0.88).epsilon(0.02));
}

}  // namespace foretrace::trace
