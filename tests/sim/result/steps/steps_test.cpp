#include "sim/result/steps/steps.h"

#include <algorithm>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "sim/engine/pull/pull.h"
#include "sim/result/steps/step_breakdown.h"
#include "sim/result/summary.h"
#include "tests/sim/graph/step_graph.h"

namespace foretrace {
namespace {

/// Host steps that follow each other, and where the device begins with each of them. The device is
/// busy all the time from its first step to its last, but for `idle` in each.
StepTimes steps(std::vector<std::int64_t> host, const std::vector<std::int64_t>& device,
                std::int64_t idle = 0) {
  StepTimes times;
  std::int64_t begin = 0;
  std::int64_t device_begin = 5;
  for (std::size_t i = 0; i < host.size(); ++i) {
    times.numbers.push_back(static_cast<std::int64_t>(10 + i));
    times.begin_ns.push_back(begin);
    begin += host[i];
    const std::int64_t work = i < device.size() ? device[i] - idle : 0;
    times.device.push_back({.begin_ns = device_begin,
                            .end_ns = device_begin + work,
                            .work_ns = work,
                            .occupied_ns = work,
                            .operations = 100});
    times.reach_ns.push_back(std::max(host[i], times.device[i].end_ns - times.begin_ns[i]));
    device_begin += i < device.size() ? device[i] : 0;
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
  CHECK_FALSE(answer.device_limits());
  CHECK(answer.step_ns == 100);
  CHECK(answer.middle == std::array<std::size_t, 2>{0, 3});
}

TEST_CASE("the device period answers where the host runs ahead") {
  // The host takes 10 per step and never waits, the device 15: 15 is the throughput.
  const StepAnswer answer = *answer_of(steps({10, 10, 10}, {15, 15}), {});
  CHECK(answer.limit == StepLimit::device_period);
  CHECK(answer.step_ns == 15);
  CHECK(answer.host_ns == 10);
}

TEST_CASE("a device that is slower by less than the jitter of a first launch does not limit") {
  // It idles for 50 of every period, so that its work alone does not limit either.
  CHECK_FALSE(answer_of(steps({1000, 1000, 1000}, {1015, 1015}, 50), {})->device_limits());
  CHECK(answer_of(steps({1000, 1000, 1000}, {1025, 1025}, 50), {})->device_limits());
}

TEST_CASE("steps that merely overlap on an idle device are not limited by its period") {
  // The first operation of a step comes 10 later in each: the device idles for 50 of 110.
  const StepAnswer answer = *answer_of(steps({100, 100, 100}, {110, 110}, 50), {});
  CHECK(answer.limit == StepLimit::host);
  CHECK(answer.step_ns == 100);
}

TEST_CASE("a device that idles by itself limits where the host had done all of a step before") {
  // The host takes 10 per step; the device works for 10 and waits for 20 without any host.
  const StepAnswer answer = *answer_of(steps({10, 10, 10}, {30, 30}, 20), {});
  CHECK(answer.limit == StepLimit::device_period);
  CHECK(answer.step_ns == 30);
}

TEST_CASE("a step is never shorter than the device work that it launches") {
  // An upload opens every step on time, so periods say 100; but the device has 130 to do in each.
  StepTimes times = steps({100, 100, 100}, {100, 100});
  for (DeviceStep& step : times.device) {
    step.work_ns = 130;
  }
  const StepAnswer answer = *answer_of(times, {});
  CHECK(answer.limit == StepLimit::device_work);
  CHECK(answer.step_ns == 130);
  CHECK(answer_of(times, *parse_step_choice("12"))->step_ns == 130);
}

TEST_CASE("a lone step ends with its device work") {
  StepTimes times = steps({10}, {});
  times.device[0] = {
      .begin_ns = 5, .end_ns = 60, .work_ns = 50, .occupied_ns = 50, .operations = 4};
  times.reach_ns = {60};
  const StepAnswer answer = *answer_of(times, {});
  CHECK(answer.limit == StepLimit::device_end);
  CHECK(answer.step_ns == 60);
  CHECK(answer.host_ns == 10);
  CHECK(answer_of(times, *parse_step_choice("10"))->step_ns == 60);
}

TEST_CASE("pieces of steps at the ends of a window are left out of the medians") {
  // The host runs ahead: 15 on the device. The last step holds nothing, the first next to nothing.
  StepTimes times = steps({1, 30, 30, 30, 1}, {45, 45, 45, 45});
  times.device[0].operations = 2;
  times.device[4] = {};
  times.device_ns = {45, 45, 45, -1};
  const StepAnswer answer = *answer_of(times, {});
  CHECK(answer.left_out == 2);
  CHECK(answer.limit == StepLimit::device_period);
  CHECK(answer.step_ns == 45);
  // One step and a piece of another: the step is alone.
  StepTimes two = steps({30, 1}, {45});
  two.device[1] = {};
  two.device_ns = {-1};
  CHECK(answer_of(two, {})->left_out == 1);
  CHECK(answer_of(two, {})->limit == StepLimit::device_end);
  CHECK(answer_of(two, {})->step_ns == 50);  // the device began at 5
}

TEST_CASE("a device that falls behind only until a queue is full does not limit") {
  // The host fills the queue in two short steps, then both take 100: the median host step is right.
  const StepAnswer answer = *answer_of(steps({35, 70, 100, 100, 100}, {100, 100, 100, 100}), {});
  CHECK_FALSE(answer.device_limits());
  CHECK(answer.step_ns == 100);
}

TEST_CASE("steps without device work are left out of the device period") {
  StepTimes times = steps({10, 10, 10, 10}, {10, 10, 12});
  times.device_ns = {-1, -1, 12};
  times.device[0] = times.device[1] = {};
  CHECK(answer_of(times, {})->device_ns == 12);
  times.device_ns = {-1, -1, -1};
  times.device.assign(4, {});
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
        "step 99: the trace has the steps 10, 11, 12");
  CHECK(answer_of(steps({}, {}), *parse_step_choice("3")).error().message ==
        "step 3: the trace has no steps");
  CHECK(parse_step_choice("3x").error().message ==
        "step: got '3x', expected median, all or a step number");
}

/// A host that launches everything in advance, and streams that work at their own rates, each in
/// every step or in every second, third or fourth; with `copies` every second stream copies.
struct Rates {
  TaskGraph graph;
  std::int64_t busiest_ns = 0;  ///< of the streams and the host, per step
  std::int64_t all_ns = 0;      ///< of all of them, one after the other
};
Rates run_at_rates(std::uint32_t seed, std::size_t steps, bool copies = false) {
  std::mt19937 random(seed);
  const auto below = [&](std::uint32_t most) { return static_cast<std::int64_t>(random() % most); };
  const auto streams = static_cast<std::size_t>(1 + below(4));
  std::vector<std::vector<std::int64_t>> works(streams);  // of one step
  std::vector<std::size_t> periods;
  std::int64_t busiest = 0;
  std::int64_t all = 0;
  for (std::vector<std::int64_t>& work : works) {
    periods.push_back(&work == &works.front() ? 1 : 1 + static_cast<std::size_t>(below(4)));
    std::int64_t sum = 0;
    for (std::int64_t i = 1 + below(6); i > 0; --i) {
      work.push_back(1'000'000 + below(4'000'000));
      sum += work.back();
    }
    busiest = std::max(busiest, sum / static_cast<std::int64_t>(periods.back()));
    all += sum;
  }
  std::int64_t least_host = std::numeric_limits<std::int64_t>::max();
  const std::int64_t launch = below(3) == 0 ? 2'000'000 : 5'000;
  std::string text;
  std::vector<test::TextStep> marks;
  for (std::size_t step = 0; step < steps; ++step) {
    text += fmt::format("h:b{}(0) ", step);
    std::string device;
    std::int64_t host = 0;
    for (std::size_t s = 0; s < streams; ++s) {
      for (std::size_t i = 0; step % periods[s] == s % periods[s] && i < works[s].size(); ++i) {
        const std::string name = fmt::format("{}_{}_{}", step, s, i);
        text += fmt::format("h:l{}({}) s{}:k{}({}){}<l{} ", name, launch, s, name, works[s][i],
                            copies && s % 2 == 1 ? "=copy" : "", name);
        device += " k" + name;
        host += launch;
      }
    }
    text += fmt::format("h:e{}(0) ", step);
    marks.push_back({fmt::format("b{}", step), fmt::format("e{}", step), device});
    least_host = std::min(least_host, host);
    all += host / static_cast<std::int64_t>(steps) + 1;
  }
  busiest = std::max(busiest, least_host);
  return {test::with_steps(test::graph(text), marks), busiest, all};
}

TEST_CASE("the step is never below the work that the busiest stream or the host has in each") {
  for (std::uint32_t seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed);
    const Rates rates = run_at_rates(seed, 12);
    const StepTimes times = simulated_steps(rates.graph, simulate(rates.graph));
    const StepAnswer answer = *answer_of(times, {});
    CHECK(answer.step_ns >= rates.busiest_ns);
    CHECK(answer.step_ns <= rates.all_ns);
  }
}

TEST_CASE("law: parts of a step add up to it, and keep the shares of the stretch they are of") {
  int longer = 0;
  for (std::uint32_t seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed);
    const Rates rates = run_at_rates(seed, 12, true);
    const Timeline timeline = simulate(rates.graph);
    const StepTimes times = simulated_steps(rates.graph, timeline);
    const StepAnswer answer = *answer_of(times, {});
    const Breakdown parts = step_breakdown(rates.graph, timeline, times, answer);
    CHECK(parts.total_ns() == answer.step_ns);
    if (answer.limit != StepLimit::device_work || answer.step_ns <= answer.work_ns + 10) continue;
    // The busiest stream has more to do per step than the device in the middle one.
    double work = 0;
    double computes = 0;
    for (const std::size_t at : answer.middle) {
      const StepScope scope = scope_of(rates.graph, times, answer, at);
      const Window window{scope.begin_ns, scope.end_ns, scope.rank, no_device, scope.work_of};
      const auto all = static_cast<double>(times.device[at].work_ns);
      work += all;
      const Breakdown busy = summarize(rates.graph, timeline, window).breakdown;
      const auto both = static_cast<double>(busy.compute_ns + busy.memory_copy_ns);
      computes += static_cast<double>(busy.compute_ns) * (both > all ? all / both : 1);
    }
    if (work == 0) continue;  // the stream works in other steps
    longer += computes < work ? 1 : 0;
    CHECK(static_cast<double>(parts.compute_ns) / static_cast<double>(answer.step_ns) ==
          doctest::Approx(computes / work).epsilon(1e-5));
  }
  CHECK(longer > 10);
}

/// Steps of 10 on the host; as many streams as the period take turns with `work`, and do `rest` in
/// the steps between. In step `exceptional` another stream does a thousand.
std::int64_t step_of_turns(int period, int steps, int work, int rest, int exceptional = -1) {
  std::string text;
  std::vector<test::TextStep> marks;
  for (int i = 0; i < steps; ++i) {
    text += fmt::format("h:b{}(0) ", i);
    std::string device;
    const auto launch = [&](const std::string& stream, int length) {
      const std::string name = fmt::format("{}_{}", i, stream);
      text += fmt::format("h:l{0}(1) {1}:k{0}({2})<l{0} ", name, stream, length);
      device += " k" + name;
    };
    for (int s = 0; s < period; ++s) {
      if (i % period == s || rest > 0) launch(fmt::format("s{}", s), i % period == s ? work : rest);
    }
    if (i == exceptional) launch("s9", 1000);
    text += fmt::format("h:e{}(0) ", i);
    marks.push_back({fmt::format("b{}", i), fmt::format("e{}", i), device});
  }
  const TaskGraph graph = test::with_steps(test::graph(text), marks);
  return answer_of(simulated_steps(graph, simulate(graph)), {})->step_ns;
}

TEST_CASE("a stream that works in every second, third or fourth step counts with its share") {
  for (int period = 1; period <= 4; ++period) {
    CAPTURE(period);
    CHECK(step_of_turns(period, 24, 60 * period, 0) == 60);
    // What it hardly does in between is part of it.
    CHECK(step_of_turns(period, 24, 60 * period, 1) == (60 * period + period - 1) / period);
    CHECK(step_of_turns(period, 24, 60 * period, 4) == (60 * period + 4 * (period - 1)) / period);
  }
  CHECK(step_of_turns(2, 8, 30, 0) == 15);
}

TEST_CASE("a stream that works in one step only is no limit of the others") {
  for (const int exceptional : {0, 5, 11}) {
    CHECK(step_of_turns(1, 12, 60, 0, exceptional) == 60);
  }
}

TEST_CASE("scatter is the usual distance from the median, whatever one outlier does") {
  // Median 100, distances 1 0 2 50 1: the middle one is 1.
  CHECK(scatter_of(steps({99, 100, 102, 150, 101}, {})) == doctest::Approx(1.0 / 101));
  CHECK(scatter_of(steps({1, 100}, {})) == 0);
  // A step of 1 without any of the work of the others is none.
  StepTimes times = steps({99, 100, 102, 150, 101, 1}, {});
  times.device[5] = {};
  CHECK(scatter_of(times) == doctest::Approx(1.0 / 101));
}

}  // namespace
}  // namespace foretrace
