#include "apps/driver/unprofiled_step.h"

#include <algorithm>
#include <memory>
#include <string>

#include <doctest/doctest.h>

#include "apps/driver/predict.h"
#include "tests/trace/rules/table_builder.h"

namespace foretrace::driver {
namespace {

/// Two steps of 20 pieces of 25 us on the host: two operators, a launch, and every second time a
/// record and a wait; every tenth kernel is on another stream; kernels take `kernel_us`.
Recording recording_of(double kernel_us) {
  trace::TableBuilder t;
  const TrackId host = t.thread(1);
  const TrackId streams[] = {t.stream(7), t.stream(8)};
  double free_us = 0;
  for (int step = 0; step < 2; ++step) {
    const double begin = 500.0 * step;
    t.event(trace::EventKind::user_annotation, "ProfilerStep#" + std::to_string(step), host, begin,
            500);
    for (int piece = 0; piece < 20; ++piece) {
      const double at = begin + 25.0 * piece;
      t.op(host, "aten::add", at + 1, 23);
      t.op(host, "aten::empty", at + 5, 2);
      if (piece % 2 == 1) {
        t.call(host, "cudaEventRecord", at + 10, 1);
        t.call(host, "cudaStreamWaitEvent", at + 12, 1);
      }
      const EventId call = t.call(host, "cudaLaunchKernel", at + 18, 5);
      const double start = std::max(free_us, at + 25);
      t.work(call, streams[piece % 10 == 9 ? 1 : 0], start, kernel_us);
      free_us = start + kernel_us;
    }
  }
  Recording recording;
  recording.events = t.table();
  recording.events.info.format = "kineto_json";
  auto built = trace::build_graph(recording.events);
  REQUIRE(built.ok());
  recording.built = *std::move(built);
  return recording;
}

}  // namespace

TEST_CASE("unprofiled step: one cost per recorded event makes the step as long as was given") {
  Recording recording = recording_of(2);
  // 20 x (2 operators + launch) + 10 x (record + wait) + the step's own mark
  CHECK(host_events_per_step(recording) == doctest::Approx(81).epsilon(0.02));
  const auto before = replay(recording);
  REQUIRE(before.ok());
  CHECK(before->run.answer.step_ns == doctest::Approx(500'000).epsilon(0.01));
  REQUIRE(take_out_profiler(380'000, recording).ok());
  REQUIRE(recording.unprofiled);
  // 120 us of 81 events; pieces that reach what they keep leave more to the others.
  CHECK(recording.unprofiled->cost_ns >= 120'000 / 81);
  CHECK(recording.unprofiled->cost_ns < 2'500);
  CHECK(recording.unprofiled->share_of_host == doctest::Approx(0.24).epsilon(0.05));
  const auto after = replay(recording);
  REQUIRE(after.ok());
  CHECK(after->run.answer.step_ns == doctest::Approx(380'000).epsilon(0.001));
  CHECK(after->measured_answer.step_ns == 380'000);
  for (const Doubt& doubt : after->doubts) MESSAGE(doubt.text);
  CHECK(after->doubts.size() <= before->doubts.size());
  // Kernels keep their times.
  for (std::size_t i = 0; i < recording.graph().size(); ++i) {
    const auto task = make_id<TaskId>(i);
    if (recording.graph().kind(task) == TaskKind::kernel) {
      CHECK(recording.graph().duration_ns(task) == 2'000);
    }
  }
}

TEST_CASE("unprofiled step: a device that limits tells nothing of the host") {
  Recording recording = recording_of(40);
  const Status taken = take_out_profiler(780'000, recording);
  REQUIRE_FALSE(taken.ok());
  CHECK(taken.error().message.find("the device limits the step") != std::string::npos);
  CHECK_FALSE(recording.unprofiled);
}

TEST_CASE("unprofiled step: wrong ones are one line") {
  Recording recording = recording_of(2);
  const auto message = [&](std::int64_t step_ns) {
    const Status taken = take_out_profiler(step_ns, recording);
    REQUIRE_FALSE(taken.ok());
    return taken.error().message;
  };
  CHECK(message(501'000).find("expected less than the recorded 0.5 ms") != std::string::npos);
  CHECK(message(100'000).find("this recording is slower than by its profiler") !=
        std::string::npos);
  CHECK_FALSE(parse_unprofiled_step("6.09").ok());
  CHECK_FALSE(parse_unprofiled_step("0 ms").ok());
  CHECK(*parse_unprofiled_step("6.09 ms") == 6'090'000);
  recording.events.info.format = "xplane";
  CHECK(host_events_per_step(recording) == 0);
  recording.events.info.format = "kineto_json";
  recording.events.kind.assign(recording.events.size(), trace::EventKind::kernel);
  CHECK(message(380'000).find("recorded no operators") != std::string::npos);
  recording.job = std::make_shared<const JobFacts>();
  CHECK(message(380'000).find("got a job of several") != std::string::npos);
}

}  // namespace foretrace::driver
