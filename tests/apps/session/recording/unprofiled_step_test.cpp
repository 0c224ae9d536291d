#include "apps/session/recording/unprofiled_step.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include <doctest/doctest.h>

#include "apps/session/predict.h"
#include "tests/apps/session/profiled_recording.h"
#include "tests/trace/rules/table_builder.h"

namespace foretrace {
namespace {

using test::profiled_recording;

std::int64_t loading_ns(const TaskGraph& graph) {
  std::int64_t sum = 0;
  for (const SegmentPart& part : graph.context().segment_parts) sum += part.duration_ns;
  return sum;
}

}  // namespace

// What-ifs of the loader read the regions of a segment: these lose what the segment loses.
//   host  [loader 0-100: ten operators][launch 110-115]   every 200 us; kernels of 2 us
TEST_CASE("unprofiled step: regions of the host are as long as the host time that they cover") {
  trace::TableBuilder t;
  const TrackId host = t.thread(1);
  const TrackId streams[] = {t.stream(7), t.stream(8)};
  for (int step = 0; step < 2; ++step) {
    const double begin = 200.0 * step;
    t.event(trace::EventKind::user_annotation, "ProfilerStep#" + std::to_string(step), host, begin,
            200);
    t.event(trace::EventKind::user_annotation,
            "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", host, begin + 1, 99);
    for (int i = 0; i < 10; ++i) t.op(host, "aten::empty", begin + 2 + 9.5 * i, 8);
    const EventId first = t.call(host, "cudaLaunchKernel", begin + 110, 5);
    t.work(first, streams[0], begin + 120, 2);
    const EventId second = t.call(host, "cudaLaunchKernel", begin + 120, 5);
    t.work(second, streams[1], begin + 130, 2);
  }
  Recording recording = profiled_recording(t.table());
  const std::int64_t before = loading_ns(recording.graph());
  CHECK(before == 198'000);
  REQUIRE(take_out_profiler(160'000, recording).ok());
  const std::int64_t after = loading_ns(recording.graph());
  CHECK(after < before - 60'000);
  CHECK(after > before / 4);
  for (const SegmentPart& part : recording.graph().context().segment_parts) {
    CHECK(part.duration_ns <= recording.graph().segment_ns(part.task));
  }
}

// A thread of another process has the same number and its own operators; a kernel from before the
// window is not in the graph. Neither moves time 0 or counts.
TEST_CASE("unprofiled step: events are those of the graph's own threads, from its time 0 on") {
  const auto recorded = [](bool has_others) {
    trace::TableBuilder t;
    const TrackId host = t.thread(1);
    const TrackId stream = t.stream(7);
    for (int step = 0; step < 2; ++step) {
      const double begin = 1000 + 200.0 * step;
      t.event(trace::EventKind::user_annotation, "ProfilerStep#" + std::to_string(step), host,
              begin, 200);
      for (int i = 0; i < 8; ++i) {
        t.op(host, "aten::add", begin + 1 + 20 * i, 18);
        const EventId call = t.call(host, "cudaLaunchKernel", begin + 10 + 20 * i, 5);
        t.work(call, stream, begin + 20 + 20 * i, 2);
      }
    }
    if (has_others) {
      const TrackId other = t.thread(2);
      t.table().tracks[index(other)].number = 1;
      t.table().tracks[index(other)].process = 2;
      for (int i = 0; i < 100; ++i) t.op(other, "aten::add", 900 + 5 * i, 4);
      t.orphan(stream, 980, 2);
    }
    return profiled_recording(t.table());
  };
  const Recording alone = recorded(false);
  Recording among_others = recorded(true);
  CHECK(alone.built.origin_ns == 1'000'000);
  CHECK(host_events_per_step(alone) == doctest::Approx(17).epsilon(0.04));
  CHECK(host_events_per_step(among_others) == host_events_per_step(alone));
}

TEST_CASE("unprofiled step: one cost per recorded event makes the step as long as was given") {
  Recording recording = profiled_recording(2);
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
  // Nothing of the profiled run stands beside the given step as measured.
  CHECK(before->measured_answer.device_ns > 480'000);
  CHECK(after->is_given);
  CHECK(after->measured_answer.device_ns == -1);
  CHECK(after->measured.span_ns == 0);
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

TEST_CASE("unprofiled step: it is a usual step's, not one's by its number") {
  Recording recording = profiled_recording(2);
  RunOptions first;
  first.step = {StepChoice::Kind::number, 0};
  CHECK(replay(recording, first).ok());
  REQUIRE(take_out_profiler(380'000, recording).ok());
  const auto refused = replay(recording, first);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().message.find("step 0: the unprofiled time is of a usual step") !=
        std::string::npos);
}

TEST_CASE("unprofiled step: a device that limits tells nothing of the host") {
  CHECK(step_tells_profiler(profiled_recording(2)));
  Recording recording = profiled_recording(40);
  CHECK_FALSE(step_tells_profiler(recording));
  const Status taken = take_out_profiler(780'000, recording);
  REQUIRE_FALSE(taken.ok());
  CHECK(taken.error().message.find("the step is GPU-bound") != std::string::npos);
  CHECK_FALSE(recording.unprofiled);
}

TEST_CASE("unprofiled step: one as long as recorded takes nothing out") {
  Recording recording = profiled_recording(2);
  const TaskGraph recorded = recording.graph();
  REQUIRE(take_out_profiler(500'000, recording).ok());
  CHECK(*recording.graph().weights().duration_ns == *recorded.weights().duration_ns);
  CHECK(*recording.graph().weights().segment_ns == *recorded.weights().segment_ns);
  CHECK(recording.graph().columns().provenance == recorded.columns().provenance);
  REQUIRE(recording.unprofiled);
  CHECK(recording.unprofiled->cost_ns == 0);
  CHECK(recording.unprofiled->share_of_host == 0);
}

TEST_CASE("unprofiled step: wrong ones are one line") {
  Recording recording = profiled_recording(2);
  const auto message = [&](std::int64_t step_ns) {
    const Status taken = take_out_profiler(step_ns, recording);
    REQUIRE_FALSE(taken.ok());
    return taken.error().message;
  };
  CHECK(message(501'000).find("expected at most the recorded 0.5 ms") != std::string::npos);
  CHECK(message(100'000).find("more than the profiler slows this recording down") !=
        std::string::npos);
  CHECK_FALSE(parse_unprofiled_step("6.09").ok());
  CHECK_FALSE(parse_unprofiled_step("0 ms").ok());
  CHECK(*parse_unprofiled_step("6.09 ms") == 6'090'000);
  recording.events.info.format = "xplane";
  CHECK(host_events_per_step(recording) == 0);
  recording.events.info.format = "kineto_json";
  recording.events.kind.assign(recording.events.size(), trace::EventKind::kernel);
  CHECK(message(380'000).find("no operators were recorded") != std::string::npos);
  recording.job = std::make_shared<const JobFacts>();
  CHECK(message(380'000).find("got a job of several") != std::string::npos);
}

}  // namespace foretrace
