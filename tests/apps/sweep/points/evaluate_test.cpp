#include "apps/sweep/points/evaluate.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/apps/support/program.h"
#include "tests/configs.h"

namespace foretrace::sweeping {
namespace {

std::string digest_of(std::initializer_list<std::string_view> pieces) {
  Digest digest;
  for (const std::string_view piece : pieces) digest.add(piece);
  return digest.text();
}

}  // namespace

TEST_CASE("sweep digest: one bit, one zero byte or another cut between pieces is another text") {
  const std::string zeros(3, '\0');
  const std::set<std::string> all = {digest_of({}),
                                     digest_of({""}),
                                     digest_of({"", ""}),
                                     digest_of({"abcdefghi"}),
                                     digest_of({"abcdefghj"}),
                                     digest_of({"abcdefgh", "i"}),
                                     digest_of({"abcdefg", "hi"}),
                                     digest_of({zeros}),
                                     digest_of({zeros + '\0'}),
                                     digest_of({"ab"}),
                                     digest_of({"ba"}),
                                     digest_of({"a", "b"})};
  CHECK(all.size() == 12);
  CHECK(digest_of({"abc", "d"}) == digest_of({"abc", "d"}));
  CHECK(digest_of({"x"}).size() == 32);
}

TEST_CASE("sweep digest: swapped words are another text") {
  const std::string one = "12345678";
  const std::string two = "87654321";
  CHECK(digest_of({one + two}) != digest_of({two + one}));
  CHECK(digest_of({one, two}) != digest_of({two, one}));
}

TEST_CASE("sweep digest: of a file it is what the file holds, whatever its name") {
  const std::string a = test::scratch_file("digest_a");
  const std::string b = test::scratch_file("digest_b");
  std::ofstream(a) << "same";
  std::ofstream(b) << "same";
  const auto of_file = [](const std::string& path) {
    Digest digest;
    REQUIRE(digest.add_file(path).ok());
    return digest.text();
  };
  CHECK(of_file(a) == of_file(b));
  std::ofstream(b) << "Same";
  CHECK(of_file(a) != of_file(b));
  Digest digest;
  const Status missing = digest.add_file(test::scratch_file("digest_missing"));
  REQUIRE_FALSE(missing.ok());
  CHECK(missing.error().message.find("cannot read") == 0);
}

namespace {

/// What each point of a sweep gives, and why not.
std::vector<PointResult> points_of(const std::string& text) {
  const auto sweep = parse_sweep(text, "spread.json", "");
  REQUIRE_MESSAGE(sweep.ok(), (sweep.ok() ? "" : sweep.error().message));
  const auto evaluation = prepare(*sweep, test::shipped());
  REQUIRE_MESSAGE(evaluation.ok(), (evaluation.ok() ? "" : evaluation.error().message));
  std::vector<PointResult> points(sweep->space.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    points[i].point = i;
    points[i].where.resize(sweep->axes().size());
    sweep->space.at(i, points[i].where);
  }
  (*evaluation)->evaluator()->evaluate(points);
  return points;
}

}  // namespace

TEST_CASE("sweep: recorded layers say nothing of operations and memory") {
  const std::string folder = FORETRACE_SOURCE_DIR "/examples/recipes/imports/";
  const auto points =
      points_of(R"({"schema": "foretrace.sweep/1", "scenario": {"schema": "foretrace.scenario/1",
          "workload": {"model": ")" +
                folder + R"(two_layers.txt"}, "cluster": ")" + folder + R"(pairs.json",
          "parallelism": {"tensor": 2, "data": 2}},
          "axes": [{"pointer": "/parallelism/data", "values": [1, 2]}],
          "objectives": ["step_ns"], "metrics": ["mfu", "memory_bytes"]})");
  REQUIRE(points.size() == 2);
  for (const PointResult& point : points) {
    CAPTURE(point.reason);
    REQUIRE(point.metrics.size() >= 3);
    CHECK(point.metrics.front() > 0);
    CHECK(std::count_if(point.metrics.begin(), point.metrics.end(),
                        [](double value) { return std::isnan(value); }) == 2);
  }
}

TEST_CASE("sweep: a recorded run spread over a cluster is what simulate makes of the scenario") {
  const std::string trace = FORETRACE_SOURCE_DIR "/examples/traces/demo_generated_cnn.json.gz";
  const auto scenario = [&trace](const std::string& groups) {
    return R"({"schema": "foretrace.scenario/1", "workload": {"trace": ")" + trace +
           R"("}, "cluster": "dgx_a100", "parallelism": {)" + groups + "}}";
  };
  const auto points = points_of(R"({"schema": "foretrace.sweep/1", "scenario": )" +
                                scenario(R"("data": 1, "pipeline": 1)") + R"(, "axes": [
      {"pointer": "/parallelism/data", "values": [1, 8]},
      {"pointer": "/parallelism/pipeline", "values": [1, 2]}]})");
  REQUIRE(points.size() == 4);
  for (const PointResult& point : points) {
    CAPTURE(point.point);
    REQUIRE_MESSAGE(point.reason.empty(), point.reason);
    const std::string path = test::scratch_file("spread.json");
    std::ofstream(path) << scenario(fmt::format(
        R"("data": {}, "pipeline": {})", point.where[0] == 0 ? 1 : 8, point.where[1] == 0 ? 1 : 2));
    const test::Ran told = test::run_program("simulate --json " + path);
    REQUIRE_MESSAGE(told.code == 0, told.err);
    CHECK(told.out.find(fmt::format("\"step_ns\": {:.0f}", point.metrics.front())) !=
          std::string::npos);
  }
  CHECK(points[0].metrics.front() != points[3].metrics.front());
}

TEST_CASE("sweep: what edits say may be an axis, and points are what the same what-ifs give") {
  const std::string sweep = R"({"schema": "foretrace.sweep/1", "trace": ")" FORETRACE_SOURCE_DIR
                            R"(/examples/traces/demo_generated_cnn.json.gz", "apply": [)";
  const auto edited = points_of(sweep + R"({"edits": [
      {"select": "kind=kernel&name~gemm", "scale": 1},
      {"select": "kind=kernel&name~elementwise", "scale": 0.5}]}],
      "axes": [{"pointer": "/apply/0/edits/0/scale", "values": [0.25, 0.5]}]})");
  const auto scaled =
      points_of(sweep + R"(null, "scale:select='kind=kernel&name~elementwise',factor=0.5"],
      "axes": [{"pointer": "/apply/0", "values": ["scale:select='kind=kernel&name~gemm',factor=0.25",
                                                  "scale:select='kind=kernel&name~gemm',factor=0.5"]}]})");
  REQUIRE(edited.size() == 2);
  REQUIRE(scaled.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    REQUIRE_MESSAGE(edited[i].reason.empty(), edited[i].reason);
    CHECK(edited[i].metrics.front() == scaled[i].metrics.front());
  }
  CHECK(edited[0].metrics.front() < edited[1].metrics.front());
}

TEST_CASE("sweep: the memory of a point is the reserved memory that whatif states") {
  const std::string trace = FORETRACE_SOURCE_DIR "/examples/traces/demo_generated_cnn.json.gz";
  const auto points = points_of(R"({"schema": "foretrace.sweep/1", "scenario": {
      "schema": "foretrace.scenario/1", "workload": {"trace": ")" +
                                trace + R"("}, "cluster": "dgx_a100", "parallelism": {"data": 1}},
      "axes": [{"pointer": "/parallelism/data", "values": [8]}],
      "objectives": ["step_ns", "memory_bytes"]})");
  REQUIRE(points.size() == 1);
  REQUIRE_MESSAGE(points[0].reason.empty(), points[0].reason);
  const test::Ran told = test::run_program(
      fmt::format("whatif --json --parallel data=8 --cluster dgx_a100 {}", test::demo_trace));
  REQUIRE_MESSAGE(told.code == 0, told.err);
  CHECK(told.out.find(fmt::format("\"reserved_expected_bytes\": {:.0f}",
                                  points[0].metrics.back())) != std::string::npos);
}

TEST_CASE("sweep: a trace that is not there is a mistake in the file") {
  const auto sweep = parse_sweep(R"({"schema": "foretrace.sweep/1", "scenario": {
      "schema": "foretrace.scenario/1", "workload": {"trace": "no_such_trace.json"},
      "cluster": "dgx_a100"}, "axes": [{"pointer": "/parallelism", "values": [{"data": 2}]}]})",
                                 "spread.json", "");
  REQUIRE(sweep.ok());
  const auto evaluation = prepare(*sweep, test::shipped());
  REQUIRE_FALSE(evaluation.ok());
  CHECK(evaluation.error().message.find("no_such_trace.json") != std::string::npos);
}

TEST_CASE("sweep: a trace that ends early is doubted") {
  const std::string cut = test::scratch_file("cut.json.gz");
  std::ifstream whole(FORETRACE_SOURCE_DIR "/examples/traces/demo_generated_cnn.json.gz",
                      std::ios::binary);
  std::string bytes(20'000, '\0');
  whole.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  std::ofstream(cut, std::ios::binary) << bytes;
  const auto sweep = parse_sweep(R"({"schema": "foretrace.sweep/1", "trace": ")" + cut +
                                     R"(", "axes": [{"pointer": "/apply", "values": [null]}]})",
                                 "cut.json", "");
  REQUIRE_MESSAGE(sweep.ok(), (sweep.ok() ? "" : sweep.error().message));
  const auto evaluation = prepare(*sweep, test::shipped());
  REQUIRE_MESSAGE(evaluation.ok(), (evaluation.ok() ? "" : evaluation.error().message));
  REQUIRE((*evaluation)->doubts().size() >= 1);
  CHECK((*evaluation)->doubts().front().find("low confidence") != std::string::npos);
}

}  // namespace foretrace::sweeping
