#include "models/jobs/schedules/execution.h"

#include <algorithm>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "tests/models/jobs/schedules/drawn.h"

using foretrace::check_shape;
using foretrace::execute;
using foretrace::Executed;
using foretrace::find_schedule;
using foretrace::finished;
using foretrace::LaunchTime;
using foretrace::most_in_flight;
using foretrace::orders_of;
using foretrace::PipelineTimes;
using foretrace::ScheduleInfo;
using foretrace::ScheduleShape;
using foretrace::sequence_of;
using foretrace::StepKind;
using foretrace::schedules::all;

namespace {

PipelineTimes equal_times(const ScheduleShape& shape, std::int64_t forward, std::int64_t backward) {
  PipelineTimes times;
  times.shape = shape;
  const std::size_t positions = std::size_t{shape.stages} * shape.chunks;
  times.forward.assign(positions, forward);
  times.backward.assign(positions, backward);
  times.send_forward.assign(positions - 1, 0);
  times.send_backward.assign(positions - 1, 0);
  return times;
}

Executed executed(const ScheduleInfo& schedule, const PipelineTimes& times) {
  const auto sequence = sequence_of(schedule, times.shape, orders_of(schedule, times.shape));
  REQUIRE_MESSAGE(sequence.ok(), (sequence.ok() ? "" : sequence.error().message));
  return execute(schedule, times, *sequence);
}

}  // namespace

TEST_CASE("schedules: every schedule does each step once and never waits in a circle") {
  for (const ScheduleInfo* schedule : all()) {
    CAPTURE(schedule->name);
    for (std::uint32_t stages = 1; stages <= 8; ++stages) {
      for (const std::uint32_t factor : {1U, 2U, 5U}) {
        for (std::uint32_t chunks = schedule->least_chunks;
             chunks <= std::min(schedule->most_chunks, schedule->least_chunks + 2); ++chunks) {
          const ScheduleShape shape{stages, stages * factor, chunks};
          if (!check_shape(*schedule, shape).ok()) continue;
          const auto sequence = sequence_of(*schedule, shape, orders_of(*schedule, shape));
          REQUIRE_MESSAGE(sequence.ok(), (sequence.ok() ? "" : sequence.error().message));
        }
      }
    }
  }
}

TEST_CASE("schedules: 1F1B looks as in the paper") {
  const auto schedule = find_schedule("1f1b");
  REQUIRE(schedule.ok());
  CHECK(foretrace::test::drawn(**schedule, {3, 4, 1}) ==
        "stage 0: F0 F1 F2 B0 F3 B1 B2 B3\n"
        "stage 1: F0 F1 B0 F2 B1 F3 B2 B3\n"
        "stage 2: F0 B0 F1 B1 F2 B2 F3 B3\n");
}

TEST_CASE("schedules: the bubble of GPipe and 1F1B is (p - 1) forward and backward passes") {
  for (const std::string_view name : {"gpipe", "1f1b"}) {
    const auto schedule = find_schedule(name);
    REQUIRE(schedule.ok());
    // (m + p - 1)(f + b) = (8 + 4 - 1) x (2 + 4)
    const PipelineTimes times = equal_times({4, 8, 1}, 2, 4);
    CHECK(executed(**schedule, times).makespan_ns == 66);
    CHECK(finished(**schedule, times).makespan_ns == 66);
  }
}

TEST_CASE("schedules: interleaving divides the bubble by the number of chunks") {
  const auto schedule = find_schedule("interleaved");
  REQUIRE(schedule.ok());
  // m v (f + b) + (p - 1)(f + b) = 8 x 2 x 6 + 3 x 6, each chunk half of a stage of 4 + 8
  const PipelineTimes times = equal_times({4, 8, 2}, 2, 4);
  CHECK(executed(**schedule, times).makespan_ns == 114);
  CHECK(finished(**schedule, times).makespan_ns == 114);
}

TEST_CASE("schedules: micro-batches in flight are as many as the papers say") {
  const auto one = find_schedule("1f1b");
  const auto gpipe = find_schedule("gpipe");
  const auto interleaved = find_schedule("interleaved");
  REQUIRE((one.ok() && gpipe.ok() && interleaved.ok()));
  for (std::uint32_t stage = 0; stage < 4; ++stage) {
    CHECK(most_in_flight((*one)->order({4, 8, 1}, stage)) == 4 - stage);
    CHECK(most_in_flight((*gpipe)->order({4, 8, 1}, stage)) == 8);
  }
  // Korthikanti et al.: L (1 + (p - 1) / (p v)) layers on the first stage, in chunks p v + p - 1
  CHECK(most_in_flight((*interleaved)->order({4, 8, 3}, 0)) == 4 * 3 + 3);
}

namespace {

bool all_are(const std::vector<std::int64_t>& values, std::int64_t wanted) {
  return std::all_of(values.begin(), values.end(),
                     [wanted](std::int64_t value) { return value == wanted; });
}

// Where the head comments of the formulas leave nothing out.
bool has_exact_formula(const ScheduleInfo& schedule, const PipelineTimes& times) {
  if (schedule.formula == nullptr || schedule.name == "gpipe") return true;
  const bool is_equal = all_are(times.forward, times.forward.front()) &&
                        all_are(times.backward, times.backward.front());
  const bool sends = !all_are(times.send_forward, 0) || !all_are(times.send_backward, 0);
  if (schedule.name != "1f1b") return is_equal && !sends;
  std::int64_t pass = 0;
  std::int64_t trip = times.forward.front() + times.backward.front();
  for (std::size_t i = 0; i < times.forward.size(); ++i) {
    pass = std::max({pass, times.forward[i], times.backward[i]});
    trip = std::min(trip, times.forward[i] + times.backward[i]);
  }
  if (!sends) return trip >= pass;
  const std::int64_t send = times.send_forward.front();
  return is_equal && all_are(times.send_forward, send) && all_are(times.send_backward, send) &&
         2 * send <= trip;
}

}  // namespace

TEST_CASE(
    "schedules: a formula is exact where nothing is left out, and with one chunk never long") {
  std::mt19937 random(7);
  const auto draw = [&random](int low, int high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  std::size_t exact = 0;
  std::size_t uneven = 0;
  for (int i = 0; i < 20000; ++i) {
    const ScheduleInfo* schedule =
        all()[static_cast<std::size_t>(draw(0, static_cast<int>(all().size()) - 1))];
    const auto stages = static_cast<std::uint32_t>(draw(1, 6));
    const auto chunks = static_cast<std::uint32_t>(
        draw(static_cast<int>(schedule->least_chunks),
             static_cast<int>(std::min(schedule->most_chunks, schedule->least_chunks + 2))));
    const ScheduleShape shape{stages, static_cast<std::uint32_t>(draw(1, 24)), chunks};
    if (!check_shape(*schedule, shape).ok()) continue;
    PipelineTimes times = equal_times(shape, draw(1, 1000), draw(1, 2000));
    if (schedule->splits_backward) times.weights.assign(times.forward.size(), draw(1, 1000));
    if (draw(0, 1) == 0) {  // irregular stages, every other time by little
      const int least = draw(0, 1) == 0 ? 1 : 400;
      for (std::int64_t& time : times.forward) time = draw(least, 1000);
      for (std::int64_t& time : times.backward) time = draw(least, 1000);
    }
    const auto sends = draw(0, 3);  // none, alike, not alike
    const std::int64_t alike = draw(0, 500);
    for (auto* list : {&times.send_forward, &times.send_backward}) {
      for (std::int64_t& time : *list) time = sends == 1 ? alike : sends == 2 ? draw(0, 1500) : 0;
    }
    CAPTURE(schedule->name);
    CAPTURE(stages);
    CAPTURE(shape.micro_batches);
    CAPTURE(chunks);
    const Executed simulated = executed(*schedule, times);
    const Executed formula = finished(*schedule, times);
    // Of irregular stages that hold several chunks the formula is an estimate.
    if (shape.chunks == 1) {
      CHECK(formula.makespan_ns <= simulated.makespan_ns);
      if (sends == 0) CHECK(formula.makespan_ns * 100 >= simulated.makespan_ns * 80);
    } else if (all_are(times.send_forward, 0)) {
      CHECK(formula.makespan_ns * 100 <= simulated.makespan_ns * 115);
    }
    if (!has_exact_formula(*schedule, times)) continue;
    if (schedule->formula != nullptr) ++exact;
    if (schedule->name == "1f1b" && !all_are(times.forward, times.forward[0])) ++uneven;
    CHECK(formula.makespan_ns == simulated.makespan_ns);
    CHECK(formula.stage_end_ns == simulated.stage_end_ns);
  }
  CHECK(exact > 1000);
  CHECK(uneven > 100);
}

TEST_CASE("schedules: a host that launches ahead costs no more than one that waits for each pass") {
  std::mt19937 random(11);
  const auto draw = [&random](int low, int high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  std::size_t ahead = 0;
  std::size_t behind = 0;
  for (int i = 0; i < 3000; ++i) {
    const ScheduleInfo* schedule =
        all()[static_cast<std::size_t>(draw(0, static_cast<int>(all().size()) - 1))];
    const ScheduleShape shape{static_cast<std::uint32_t>(draw(1, 5)),
                              static_cast<std::uint32_t>(draw(1, 12)), schedule->least_chunks};
    if (!check_shape(*schedule, shape).ok()) continue;
    PipelineTimes times = equal_times(shape, draw(1, 1000), draw(1, 2000));
    if (schedule->splits_backward) times.weights.assign(times.forward.size(), draw(1, 1000));
    for (auto* list : {&times.send_forward, &times.send_backward}) {
      for (std::int64_t& time : *list) time = draw(0, 200);
    }
    const Executed launched = executed(*schedule, times);
    PipelineTimes hosted = times;
    PipelineTimes waiting = times;
    for (std::size_t kind = 0; kind < 3; ++kind) {
      std::vector<std::int64_t>& passes = kind == 0   ? waiting.forward
                                          : kind == 1 ? waiting.backward
                                                      : waiting.weights;
      for (std::int64_t& pass : passes) {
        const std::int64_t host = draw(0, 2000);
        // The device needs its time behind the first launch at least.
        const std::int64_t rest = std::max<std::int64_t>(pass - host, 0) + draw(0, 20);
        hosted.launches[kind].push_back({host, rest});
        pass = std::max(pass, host + rest);
      }
    }
    CAPTURE(schedule->name);
    const std::int64_t step = executed(*schedule, hosted).makespan_ns;
    CHECK(step >= launched.makespan_ns);
    CHECK(step <= executed(*schedule, waiting).makespan_ns);
    for (std::uint32_t stage = 0; stage < shape.stages; ++stage) {
      std::int64_t host = 0;
      for (std::uint32_t chunk = 0; chunk < shape.chunks; ++chunk) {
        const std::uint32_t q = position_of(*schedule, shape, stage, chunk);
        for (const auto& kind : hosted.launches) host += kind.empty() ? 0 : kind[q].host;
      }
      CHECK(step >= host * shape.micro_batches);
    }
    ahead += step < executed(*schedule, waiting).makespan_ns ? 1 : 0;
    behind += step > launched.makespan_ns ? 1 : 0;
    PipelineTimes slower = hosted;
    for (auto& kind : slower.launches) {
      for (LaunchTime& one : kind) one.host += draw(0, 50);
    }
    CHECK(executed(*schedule, slower).makespan_ns >= step);
  }
  CHECK(ahead > 500);
  CHECK(behind > 500);
}

TEST_CASE("schedules: sends that take turns with stages lengthen every round trip of 1F1B") {
  const auto schedule = find_schedule("1f1b");
  REQUIRE(schedule.ok());
  // Two stages, a send of 3 each way: a stage has two micro-batches in flight, and each pair waits
  // for a round trip of 6 + 3 + 6 + 3. At the end the last stage works for one more.
  PipelineTimes times = equal_times({2, 4, 1}, 2, 4);
  times.send_forward.assign(1, 3);
  times.send_backward.assign(1, 3);
  CHECK(executed(**schedule, times).makespan_ns == 2 * (6 + 6 + 6) + 6);
  CHECK(finished(**schedule, times).makespan_ns == 2 * (6 + 6 + 6) + 6);
  // With two micro-batches there is one round trip, and not one at each end.
  times.shape.micro_batches = 2;
  CHECK(executed(**schedule, times).makespan_ns == 6 + 6 + 6 + 6);
  CHECK(finished(**schedule, times).makespan_ns == 6 + 6 + 6 + 6);
}

TEST_CASE("schedules: what stays on a stage is not sent, and a stage sends one thing at a time") {
  // Two chunks in the form of a V on two stages, one micro-batch: positions 1 and 2 are on stage 1.
  const auto folded = find_schedule("zero_bubble_v");
  REQUIRE(folded.ok());
  PipelineTimes times = equal_times({2, 1, 2}, 10, 10);
  times.weights.assign(4, 1);
  times.send_forward.assign(3, 100);
  times.send_backward.assign(3, 100);
  // Down and up, each with two sends between the stages; gradients of weights on the second stage
  // between its chunks and on the first one at the end.
  const Executed v = executed(**folded, times);
  CHECK(v.makespan_ns == 2 * (4 * 10 + 2 * 100) + 2);
  // GPipe's first stage is done every 10 ns and its sends take 30: the third arrives at 10 + 3 x 30
  // and is worked on for 10; the way back is as long.
  const auto gpipe = find_schedule("gpipe");
  REQUIRE(gpipe.ok());
  PipelineTimes slow = equal_times({2, 3, 1}, 10, 10);
  slow.send_forward.assign(1, 30);
  slow.send_backward.assign(1, 30);
  const Executed sent = executed(**gpipe, slow);
  CHECK(sent.stage_end_ns == std::vector<std::int64_t>{220, 140});
  CHECK(finished(**gpipe, slow).stage_end_ns == sent.stage_end_ns);
}

TEST_CASE("schedules: a schedule that waits in a circle is told with the steps") {
  const auto schedule = find_schedule("1f1b");
  REQUIRE(schedule.ok());
  const ScheduleShape shape{2, 2, 1};
  // Stage 0 wants the gradient of micro-batch 1 before it sends that micro-batch.
  const foretrace::StageOrders orders = {{{StepKind::forward, 0, 0},
                                          {StepKind::backward, 1, 0},
                                          {StepKind::forward, 1, 0},
                                          {StepKind::backward, 0, 0}},
                                         (*schedule)->order(shape, 1)};
  const auto sequence = sequence_of(**schedule, shape, orders);
  REQUIRE_FALSE(sequence.ok());
  CHECK(
      sequence.error().message.find("deadlock: backward 1 of chunk 0 on stage 0 waits for forward "
                                    "of micro-batch 1") != std::string::npos);
}

TEST_CASE("schedules: wrong shapes and names are refused") {
  CHECK(find_schedule("1f1c").error().message.find("did you mean '1f1b'?") != std::string::npos);
  const auto interleaved = find_schedule("interleaved");
  REQUIRE(interleaved.ok());
  const auto status = check_shape(**interleaved, {4, 6, 2});
  REQUIRE_FALSE(status.ok());
  CHECK(status.error().message ==
        "interleaved: 6 of micro-batches, expected a multiple of the 4 stages");
  CHECK_FALSE(check_shape(**interleaved, {4, 8, 1}).ok());
  CHECK_FALSE(check_shape(**interleaved, {0, 8, 2}).ok());
}

TEST_CASE("schedules: what is held at once is that of the order, for every shape") {
  for (const foretrace::ScheduleInfo* schedule : foretrace::schedules::all()) {
    CAPTURE(schedule->name);
    for (const std::uint32_t stages : {1U, 2U, 3U, 4U, 8U}) {
      for (const std::uint32_t micro_batches : {1U, 2U, 3U, 4U, 6U, 8U, 24U}) {
        for (const std::uint32_t chunks : {1U, 2U, 3U}) {
          const foretrace::ScheduleShape shape{stages, micro_batches, chunks};
          if (!check_shape(*schedule, shape).ok()) continue;
          for (std::uint32_t stage = 0; stage < stages; ++stage) {
            CHECK(most_in_flight(*schedule, shape, stage) ==
                  most_in_flight(schedule->order(shape, stage)));
          }
        }
      }
    }
  }
}
