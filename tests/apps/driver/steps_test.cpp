#include "apps/driver/steps.h"

#include <doctest/doctest.h>

namespace foretrace::driver {
namespace {

/// Host steps that follow each other, and where the device begins with each of them.
StepTimes steps(std::vector<std::int64_t> host, const std::vector<std::int64_t>& device) {
  StepTimes times;
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < host.size(); ++i) {
    times.numbers.push_back(static_cast<std::int64_t>(10 + i));
    times.begin_ns.push_back(begin);
    begin += host[i];
  }
  std::int64_t device_begin = 5;
  times.device_begin_ns.push_back(device_begin);
  for (const std::int64_t period : device) {
    device_begin += period;
    times.device_begin_ns.push_back(device_begin);
  }
  times.host_ns = std::move(host);
  times.device_ns = device;
  times.span_ns = 1000;
  return times;
}

TEST_CASE("the median of an even count is the mean of the middle two") {
  CHECK(median({5, 1, 9}) == 5);
  CHECK(median({1, 4, 2, 9}) == 3);  // (2 + 4) / 2
  CHECK(median({}) == 0);
}

TEST_CASE("the median host period answers where the device keeps up") {
  const StepAnswer answer = *answer_of(steps({100, 104, 90, 101}, {101, 100, 99}), {});
  CHECK(answer.host_ns == 100);  // (100 + 101) / 2, rounded down
  CHECK(answer.device_ns == 100);
  CHECK_FALSE(answer.device_limits);
  CHECK(answer.step_ns == 100);
  CHECK(answer.middle == std::array<std::size_t, 2>{0, 3});
}

TEST_CASE("the device period answers where the host runs ahead") {
  // The host takes 10 per step and never waits, the device 15: 15 is the throughput.
  const StepAnswer answer = *answer_of(steps({10, 10, 10}, {15, 15}), {});
  CHECK(answer.device_limits);
  CHECK(answer.step_ns == 15);
  CHECK(answer.host_ns == 10);
}

TEST_CASE("a device that is slower by less than the jitter of a first launch does not limit") {
  CHECK_FALSE(answer_of(steps({1000, 1000, 1000}, {1015, 1015}), {})->device_limits);
  CHECK(answer_of(steps({1000, 1000, 1000}, {1025, 1025}), {})->device_limits);
}

TEST_CASE("a device that falls behind only until a queue is full does not limit") {
  // The host fills the queue in two short steps, then both take 100: the median host step is right.
  const StepAnswer answer = *answer_of(steps({35, 70, 100, 100, 100}, {100, 100, 100, 100}), {});
  CHECK_FALSE(answer.device_limits);
  CHECK(answer.step_ns == 100);
}

TEST_CASE("steps without device work are left out of the device period") {
  StepTimes times = steps({10, 10, 10, 10}, {10, 10, 12});
  times.device_ns = {-1, -1, 12};
  times.device_begin_ns = {-1, -1, 25, 37};
  CHECK(answer_of(times, {})->device_ns == 12);
  times.device_ns = {-1, -1, -1};
  times.device_begin_ns = {-1, -1, -1, -1};
  CHECK(answer_of(times, {})->device_ns == -1);
}

TEST_CASE("without steps the span counts as one") {
  const StepAnswer answer = *answer_of(steps({}, {}), {});
  CHECK(answer.is_span);
  CHECK(answer.step_ns == 1000);
}

TEST_CASE("a step is chosen by its number, an unknown one is answered with those there are") {
  const StepTimes times = steps({10, 20, 30}, {10, 20});
  CHECK(answer_of(times, *parse_step_choice("11"))->step_ns == 20);
  CHECK(answer_of(times, *parse_step_choice("99")).error().message ==
        "--step 99: the trace has the steps 10, 11, 12");
  CHECK(answer_of(steps({}, {}), *parse_step_choice("3")).error().message ==
        "--step 3: the trace has no steps");
  CHECK(parse_step_choice("3x").error().message ==
        "--step: got '3x', expected median, all or a step number");
}

TEST_CASE("scatter is the usual distance from the median, whatever one outlier does") {
  // Median 100, distances 1 0 2 50 1: the middle one is 1.
  CHECK(scatter_of(steps({99, 100, 102, 150, 101}, {})) == doctest::Approx(1.0 / 101));
  CHECK(scatter_of(steps({1, 100}, {})) == 0);
}

}  // namespace
}  // namespace foretrace::driver
