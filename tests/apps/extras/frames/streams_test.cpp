#include "apps/extras/frames/streams.h"

#include <string>

#include <doctest/doctest.h>

#include "tests/configs.h"

using foretrace::BatchTimes;
using foretrace::parse_streams;
using foretrace::run_streams;

namespace {

std::string error_of(const std::string& rest) {
  const auto read =
      parse_streams(*foretrace::test::shipped(),
                    R"({"schema": "foretrace.streams/1", )" + rest + "}", "mine.json");
  return read.ok() ? "" : read.error().message;
}

}  // namespace

TEST_CASE("streams: times of batches lie between and beyond those that are given") {
  const BatchTimes times{{{1, 100}, {4, 400}, {8, 600}}};
  CHECK(times.at(1) == 100);
  CHECK(times.at(2) == 200);
  CHECK(times.at(6) == 500);
  CHECK(times.at(12) == 800);
  CHECK(BatchTimes{{{4, 400}}}.at(2) == 200);
}

TEST_CASE("streams: one clear line for every mistake") {
  CHECK(error_of(R"("batch_times": {"1": "1 ms"})").find("expected scenarios") !=
        std::string::npos);
  CHECK(error_of(R"("loads": [{"kind": "offline"}])").find("/batch_times") != std::string::npos);
  CHECK(error_of(R"("batch_times": {"x": "1 ms"}, "loads": [{"kind": "offline"}])")
            .find("number of samples") != std::string::npos);
  CHECK(error_of(R"("batch_times": {"1": "1 ms"}, "loads": [{"kind": "offlin"}])")
            .find("did you mean 'offline'") != std::string::npos);
  CHECK(error_of(R"("batch_times": {"1": "1 ms"}, "loads": [{"kind": "server"}])").find("bound") !=
        std::string::npos);
  CHECK(error_of(R"("batch_times": {"1": "10 ms", "16": "1 ms"}, "loads": [{"kind": "offline"}])")
            .find("/batch_times: expected each size once") != std::string::npos);
  CHECK(error_of(R"("batch_times": {"1": "1 ms", "01": "2 ms"}, "loads": [{"kind": "offline"}])")
            .find("/batch_times: expected each size once") != std::string::npos);
  CHECK(error_of(R"("batch_times": {"1": "1 h"}, "loads": [{"kind": "offline"}])")
            .find("at most 100 s") != std::string::npos);
  CHECK(
      error_of(R"("batch_times": {"1": "1 ms"}, "loads": [{"kind": "single_stream", "share": 0}])")
          .find("share") != std::string::npos);
  CHECK(error_of(R"("scenarios": "xrbench", "only": ["vr_gamin"], "engines": [])")
            .find("vr_gaming") != std::string::npos);
  const std::string frames = R"("scenarios": "xrbench", "engines": [], )";
  CHECK(error_of(frames + R"("seconds": 0)").find("/seconds: got 0") != std::string::npos);
  CHECK(error_of(frames + R"("jitter": "-1 ms")").find("/jitter") != std::string::npos);
  CHECK(error_of(frames + R"("seed": -1)").find("/seed") != std::string::npos);
}

TEST_CASE("streams: a load is answered by its kind") {
  const auto read =
      parse_streams(*foretrace::test::shipped(),
                    R"({"schema": "foretrace.streams/1", "batch_times": {"1": "1 ms", "4": "2 ms"},
          "loads": [{"kind": "single_stream", "queries": 10},
                    {"kind": "offline", "queries": 8, "largest_batch": 4},
                    {"kind": "server", "queries": 500, "bound": "10 ms", "largest_batch": 4}]})",
                    "mine.json");
  REQUIRE_MESSAGE(read.ok(), read.error().message);
  const auto answer = run_streams(*read);
  REQUIRE(answer.ok());
  REQUIRE(answer->loads.size() == 3);
  CHECK(answer->loads[0].figures.percentile_ns == 1'000'000);
  // Two batches of four, 2 ms each.
  CHECK(answer->loads[1].figures.samples_per_s == doctest::Approx(8 / 4e-3));
  REQUIRE(answer->loads[2].rate);
  CHECK(answer->loads[2].figures.percentile_ns <= 10'000'000);
}

TEST_CASE("streams: a server with too few queries for its bound has no rate") {
  const auto read =
      parse_streams(*foretrace::test::shipped(),
                    R"({"schema": "foretrace.streams/1", "batch_times": {"1": "1 ms", "4": "2 ms"},
          "loads": [{"kind": "server", "queries": 10, "bound": "1 s", "largest_batch": 4},
                    {"kind": "server", "queries": 10, "bound": "1 us", "largest_batch": 4}]})",
                    "mine.json");
  REQUIRE_MESSAGE(read.ok(), read.error().message);
  const auto answer = run_streams(*read);
  REQUIRE(answer.ok());
  CHECK_FALSE(answer->loads[0].rate);
  CHECK(answer->loads[0].too_few);
  CHECK_FALSE(answer->loads[1].rate);
  CHECK_FALSE(answer->loads[1].too_few);
}

TEST_CASE("streams: an engine that lacks a model is named") {
  const auto read = parse_streams(
      *foretrace::test::shipped(),
      R"({"schema": "foretrace.streams/1", "scenarios": "xrbench", "only": ["ar_gaming"],
          "engines": [{"name": "e", "models": {"hand_tracking": {"latency": "1 ms"}}}]})",
      "mine.json");
  REQUIRE_MESSAGE(read.ok(), read.error().message);
  const auto answer = run_streams(*read);
  REQUIRE_FALSE(answer.ok());
  CHECK(answer.error().message.find("depth_estimation") != std::string::npos);
}

TEST_CASE("streams: a control loop runs once per variant of its network") {
  const auto read =
      parse_streams(*foretrace::test::shipped(),
                    R"({"schema": "foretrace.streams/1", "control": {"devices": ["camera", "gpu"],
          "period": "10 ms", "deadline": "12 ms", "frames": 10, "stages": [
            {"name": "see", "device": "camera", "time": "2 ms"},
            {"name": "net", "device": "gpu", "layers": [{"time": "8 ms"}, {"time": "4 ms"}]}],
          "variants": [{"name": "whole"}, {"name": "half", "kept": [0.5, 1]}]}})",
                    "mine.json");
  REQUIRE_MESSAGE(read.ok(), read.error().message);
  const auto answer = run_streams(*read);
  REQUIRE(answer.ok());
  REQUIRE(answer->control.size() == 2);
  // 8 x 0.5 + 4 x 0.5 = 6 ms: 8 ms in all, within the deadline; whole it takes 12 ms of 10.
  CHECK(read->control.variants[1].network_ns == 6'000'000);
  CHECK(answer->control[1].mean_ns == doctest::Approx(8e6));
  CHECK(answer->control[1].missed() == 0);
  CHECK(answer->control[0].missed() == 1);
}

TEST_CASE("streams: a weight-shared network runs once per buffer") {
  const auto read =
      parse_streams(*foretrace::test::shipped(),
                    R"({"schema": "foretrace.streams/1", "supernet": {"bandwidth": "1 GB/s",
          "buffers": ["0 B", "1 MB"], "queries": 32, "wishes": [{"accuracy": 0.5}],
          "subnets": [{"name": "one", "accuracy": 0.7,
            "layers": [{"compute": "100 us", "weights": "1 MB"}]}]}})",
                    "mine.json");
  REQUIRE_MESSAGE(read.ok(), read.error().message);
  const auto answer = run_streams(*read);
  REQUIRE(answer.ok());
  REQUIRE(answer->buffers.size() == 2);
  CHECK(answer->buffers[0].service_ns == doctest::Approx(1e6));
  CHECK(answer->buffers[1].service_ns == doctest::Approx((16 * 1e6 + 16 * 1e5) / 32));
}

TEST_CASE("streams: one clear line for mistakes in loops and networks") {
  const auto says = [](const std::string& rest, const std::string& what) {
    const std::string message = error_of(rest);
    CAPTURE(message);
    return message.find(what) != std::string::npos;
  };
  const std::string head =
      R"("control": {"devices": ["gpu"], "period": "10 ms", "deadline": "12 ms", )";
  CHECK(says(head + R"("stages": [{"name": "a", "device": "gpuu", "time": "1 ms"}]})",
             "/control/stages/0/device: got 'gpuu' (did you mean 'gpu'?)"));
  CHECK(says(head + R"("stages": []})", "/control/stages: got 0"));
  CHECK(says(head + R"("stages": [{"name": "a", "device": "gpu", "time": 1}]})",
             "/control/stages/0/time"));
  CHECK(says(head + R"("stages": [{"name": "a", "device": "gpu", "time": "1 ms"}],
                       "variants": [{"name": "v", "kept": [0.5]}]})",
             "/control/variants/0/kept: got 1 shares, expected one for each of 0 layers"));
  CHECK(says(head + R"("stages": [{"name": "a", "device": "gpu", "layers": [{"time": "1 ms"}]}],
                       "variants": [{"name": "v", "kept": [0]}]})",
             "expected shares above 0, up to 1"));
  CHECK(says(head + R"("late": "skp", "stages": []})", "did you mean 'skip'"));
  // A guest of a turn per ns beside a stage of minutes: 1e14 events.
  CHECK(says(R"("control": {"devices": ["gpu"], "period": "1 ns", "deadline": "1 s",
                 "stages": [{"name": "a", "device": "gpu", "time": "100 s"}],
                 "guests": [{"name": "g", "device": "gpu", "period": "1 ns", "time": "1 ns"}]})",
             "/control/frames: got 1000, which may take 1e+05 s and 2e+14 events"));
  CHECK(says(R"("control": {"devices": ["gpu"], "period": "1 s", "deadline": "1 s", "late": "queue",
                 "frames": 1000000, "stages": [)" +
                 [] {
                   std::string stages;
                   for (int i = 0; i < 5; ++i) {
                     stages += std::string(i > 0 ? ", " : "") +
                               R"({"name": "a", "device": "gpu", "time": "1000 s"})";
                   }
                   return stages;
                 }() +
                 "]}",
             "which may take 5e+09 s"));
  const std::string net = R"("supernet": {"bandwidth": "1 GB/s", )";
  CHECK(says(net + R"("buffers": ["1"], "wishes": [{"accuracy": 0.5}], "subnets":
                      [{"name": "a", "accuracy": 0.5, "layers": [{"compute": "1 ms", "weights": "1 B"}]}]})",
             "/supernet/buffers: got '1', expected"));
  CHECK(says(net + R"("buffers": ["1 B"], "wishes": [{}], "subnets":
                      [{"name": "a", "accuracy": 0.5, "layers": [{"compute": "1 ms", "weights": "1 B"}]}]})",
             "/supernet/wishes/0/latency: expected either latency or accuracy"));
  CHECK(says(net + R"("buffers": ["1 B"], "wishes": [{"accuracy": 0.5}], "subnets":
                      [{"name": "a", "accuracy": 0.5, "layers": []}]})",
             "/supernet/subnets/0/layers: got 0"));
  const std::string one = R"("buffers": ["1 B"], "wishes": [{"accuracy": 0.5}], "subnets":
      [{"name": "a", "accuracy": 0.5, "layers": [{"compute": "1 ms", "weights": "1 MB"}]}])";
  CHECK(says(R"("supernet": {"bandwidth": "1e-9 B/s", )" + one + "}",
             "/supernet/queries: got 1000, which may take"));
  CHECK(says(net + R"("per_second": 1e-300, )" + one + "}",
             "/supernet/queries: got 1000, which may take"));
}
