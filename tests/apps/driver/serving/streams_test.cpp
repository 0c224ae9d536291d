#include "apps/driver/serving/streams.h"

#include <string>

#include <doctest/doctest.h>

#include "tests/configs.h"

using foretrace::driver::BatchTimes;
using foretrace::driver::parse_streams;
using foretrace::driver::run_streams;

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
