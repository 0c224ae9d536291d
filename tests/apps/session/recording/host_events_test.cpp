#include "apps/session/recording/host_events.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "apps/session/predict.h"
#include "apps/session/recording/unprofiled_step.h"
#include "apps/session/recording/without_events.h"
#include "apps/session/replay/lighter_host.h"
#include "models/whatifs/what_if_spec.h"
#include "tests/apps/session/profiled_recording.h"

namespace foretrace {
namespace {

using test::profiled_recording;

std::vector<WhatIf> scaled(const std::string& select, const std::string& factor) {
  Result<WhatIf> what_if = check_what_if({"scale", {{"select", select}, {"factor", factor}}});
  REQUIRE(what_if.ok());
  return {*std::move(what_if)};
}

Prediction predicted(const Recording& recording, const std::vector<WhatIf>& stack) {
  Result<Prediction> prediction = predict(recording, stack);
  REQUIRE_MESSAGE(prediction.ok(), (prediction.ok() ? std::string() : prediction.error().message));
  return *std::move(prediction);
}

/// Fields of the rows of a table below examples/traces.
std::vector<std::vector<std::string>> rows_of(const std::string& file) {
  std::ifstream in(std::string(FORETRACE_SOURCE_DIR) + "/examples/traces/" + file);
  std::vector<std::vector<std::string>> rows;
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line)) {
    std::vector<std::string>& fields = rows.emplace_back(1);
    for (const char c : line) {
      if (c == ',') {
        fields.emplace_back();
      } else {
        fields.back() += c;
      }
    }
  }
  return rows;
}

double median_of(const std::vector<std::string>& row) {
  std::array<double, 3> rounds = {std::stod(row[5]), std::stod(row[6]), std::stod(row[7])};
  std::sort(rounds.begin(), rounds.end());
  return rounds[1];
}

}  // namespace

TEST_CASE("host events: what one is taken to cost is what nine of ten measured settings cost") {
  std::vector<double> costs_us;
  for (const char* const file : {"h200/overhead.csv", "h100_host/overhead.csv"}) {
    std::map<std::string, double> off_ms;
    for (const std::vector<std::string>& row : rows_of(file)) {
      REQUIRE(row.size() == 9);
      if (row[4] == "off") off_ms[row[1]] = median_of(row);
    }
    for (const std::vector<std::string>& row : rows_of(file)) {
      if (row[4] == "off" || row[4] == "cpu_only") continue;
      costs_us.push_back((median_of(row) - off_ms.at(row[1])) * 1e3 / std::stod(row[8]));
    }
  }
  REQUIRE(costs_us.size() == 32);
  std::sort(costs_us.begin(), costs_us.end());
  const double quantile = costs_us[27] + 0.9 * (costs_us[28] - costs_us[27]);  // 0.9 x 31 = 27.9
  CHECK(static_cast<double>(likely_event_ns) == doctest::Approx(quantile * 1e3).epsilon(0.01));
}

// The device limits: 20 kernels of 40 us a step, where the host needs 500 us. With kernels of 2 us
// the host limits. Of its pieces of 25 us, 5 in the launch, one of two has no records and waits:
//   plain  launch 1.25, before it 20 - 2 x 3.9 = 12.2                               13.45
//   other  launch 1.25, before the record 12 - 7.8 = 4.2, record and wait 0.25 each,
//          between and behind them 1 + 5 without an event                           11.95
// and the step's mark takes 3.9 once: 10 x 13.45 + 10 x 11.95 - 3.9 = 250.1.
TEST_CASE("host events: the low end allows for the profiler where the host limits the prediction") {
  const Recording recording = profiled_recording(40);
  const Prediction prediction = predicted(recording, scaled("kind=kernel", "0.05"));
  CHECK(prediction.run.answer.step_ns == 500'000);
  CHECK(prediction.profiler_event_ns == likely_event_ns);
  CHECK(prediction.faster.profiler == doctest::Approx(std::log(500 / 250.1)).epsilon(0.01));
  CHECK(prediction.slower.profiler == 0);
  CHECK(prediction.low_ns <= 250'500);
  // The other end is where it was.
  CHECK(prediction.high_ns == std::llround(500e3 * std::exp(prediction.slower.total())));
  // A doubt of the change leaves the profiler's part alone.
  RangeSide side{.rest = 0.03, .doubt = 2, .profiler = 0.4};
  CHECK(side.total() == doctest::Approx(std::hypot(0.06, 0.4)));
}

TEST_CASE(
    "host events: nothing is allowed for where the profiler's work does not move the answer") {
  const auto part = [](const Recording& recording, const char* factor) {
    const Prediction prediction = predicted(recording, scaled("kind=kernel", factor));
    CHECK(prediction.profiler_event_ns == (prediction.faster.profiler > 0 ? likely_event_ns : 0));
    return prediction.faster.profiler;
  };
  const Recording device = profiled_recording(40);
  CHECK(part(device, "0.9") == 0);  // 20 x 36 us: the device limits
  // 20 x 24 us is just less than the host's 500: with any other host the device limits.
  CHECK(part(device, "0.6") == doctest::Approx(std::log(500.0 / 480)).epsilon(0.1));
  // It is in the recorded step and in the predicted one, and leaves what they are to each other.
  CHECK(part(profiled_recording(2), "0.5") == 0);
  Recording other = profiled_recording(40);
  other.events.info.format = "xplane";
  CHECK(part(other, "0.05") == 0);
  Recording unprofiled = profiled_recording(2);
  REQUIRE(take_out_profiler(380'000, unprofiled).ok());
  CHECK(part(unprofiled, "0.5") == 0);
}

TEST_CASE("host events: a host that a what-if changed loses the share that it loses as recorded") {
  const Recording recording = profiled_recording(2);
  const HostEvents events = host_events(recording);
  const TaskGraph& recorded = recording.graph();
  const TaskGraph lighter = without_events(recorded, events, likely_event_ns);
  const Prediction twice = predicted(recording, scaled("kind=launch", "2"));
  const TaskGraph light = without_events(twice.graph, twice.origin, recorded, lighter);
  std::size_t shorter = 0;
  for (std::size_t i = 0; i < recorded.size(); ++i) {
    const auto task = make_id<TaskId>(i);
    const double ratio = recorded.duration_ns(task) == 0
                             ? 1
                             : static_cast<double>(lighter.duration_ns(task)) /
                                   static_cast<double>(recorded.duration_ns(task));
    CHECK(static_cast<double>(light.duration_ns(task)) ==
          doctest::Approx(static_cast<double>(twice.graph.duration_ns(task)) * ratio));
    shorter += light.duration_ns(task) < twice.graph.duration_ns(task) ? 1 : 0;
  }
  CHECK(shorter >= 40);  // the launches of two steps
  // What has no origin was not recorded: it has no events.
  const std::vector<TaskId> none_of_them(recorded.size(), none<TaskId>);
  const TaskGraph same = without_events(twice.graph, none_of_them, recorded, lighter);
  for (std::size_t i = 0; i < recorded.size(); ++i) {
    CHECK(same.segment_ns(make_id<TaskId>(i)) == twice.graph.segment_ns(make_id<TaskId>(i)));
  }
}

}  // namespace foretrace
