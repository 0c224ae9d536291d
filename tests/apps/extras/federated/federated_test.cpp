#include "apps/extras/federated/federated.h"

#include <string>

#include <doctest/doctest.h>

#include "tests/fails_with.h"

using foretrace::parse_federated;
using foretrace::run_federated;

namespace {

const std::string task =
    R"("task": {"download": "10 MB", "upload": "4 MB", "flops_per_example": 2e9}, )";
const std::string classes = R"("classes": [{"name": "phone", "devices": 8, "compute": "5 GFLOP/s",
    "download": "10 MB/s", "upload": "2 MB/s", "examples": 5}], )";
const std::string policies = R"("policies": [{"kind": "synchronous", "updates": 8}])";

bool says(const std::string& rest, const std::string& what) {
  return foretrace::test::fails_with(
      parse_federated(R"({"schema": "foretrace.federated/1", )" + rest + "}", "mine.json"), what);
}

}  // namespace

TEST_CASE("federated: a round takes download, arithmetic and upload") {
  const auto read = parse_federated(
      R"({"schema": "foretrace.federated/1", "rounds": 2, )" + task + classes + policies + "}",
      "mine.json");
  REQUIRE_MESSAGE(read.ok(), read.error().message);
  const auto figures = run_federated(*read);
  REQUIRE(figures.ok());
  CHECK(figures->front().round_s == std::vector<double>{5, 5});
  CHECK(read->policies.front().name == "synchronous");
}

TEST_CASE("federated: histograms of boosted trees are what a party sends") {
  const auto read = parse_federated(
      R"({"schema": "foretrace.federated/1", "task": {"download": "0 B", "flops_per_example": 0,
          "histograms": {"nodes": 4, "features": 10, "bins": 100, "number_bytes": 8, "expansion": 2}}, )" +
          classes + policies + "}",
      "mine.json");
  REQUIRE_MESSAGE(read.ok(), read.error().message);
  CHECK(read->federation.task.upload_bytes == 4 * 10 * 100 * 2 * 8 * 2);
}

TEST_CASE("federated: one clear line for every mistake") {
  CHECK(says(task + classes + R"("policies": [{"kind": "synchronos", "updates": 8}])",
             "/policies/0/kind: got 'synchronos' (did you mean 'synchronous'?)"));
  CHECK(says(task + classes + R"("policies": [{"kind": "synchronous", "updates": 9}])",
             "/policies/0/updates: got 9, expected a whole number from 1 to 8"));
  CHECK(says(task + classes +
                 R"("policies": [{"kind": "synchronous", "updates": 8, "over_selection": 1.5}])",
             "8 devices exist"));
  CHECK(says(task + classes + R"("policies": [{"kind": "buffered", "updates": 8}])",
             "/policies/0/at_work: missing key"));
  CHECK(says(task + R"("classes": [], )" + policies, "/classes: got 0 devices"));
  CHECK(says(R"("task": {"download": "900 TB", "upload": "4 MB", "flops_per_example": 1}, )" +
                 classes + policies,
             "s for an update, expected at most 100000 s"));
  CHECK(says(R"("task": {"download": "1 MB", "upload": "4 MB", "histograms": {},
                 "flops_per_example": 1}, )" +
                 classes + policies,
             "expected either upload or histograms"));
}

TEST_CASE("federated: devices that are never there at once are an error with the policy's name") {
  const auto read = parse_federated(
      R"({"schema": "foretrace.federated/1", "retry": "1 h", )" + task +
          R"("classes": [{"name": "a", "devices": 4, "compute": "5 GFLOP/s", "download": "10 MB/s",
            "upload": "2 MB/s", "examples": 5, "available": {"every": "24 h", "for": "1 h"}},
            {"name": "b", "devices": 4, "compute": "5 GFLOP/s", "download": "10 MB/s",
            "upload": "2 MB/s", "examples": 5,
            "available": {"every": "24 h", "for": "1 h", "from": "5 h"}}], )" +
          policies + "}",
      "mine.json");
  REQUIRE_MESSAGE(read.ok(), read.error().message);
  const auto figures = run_federated(*read);
  REQUIRE_FALSE(figures.ok());
  CHECK(figures.error().message.find("mine.json: synchronous: never found 8 of the 8 devices") !=
        std::string::npos);
}

TEST_CASE("federated: rounds that ask more devices than can be asked in a minute are an error") {
  const auto read = parse_federated(
      R"({"schema": "foretrace.federated/1", "rounds": 10000, )" + task +
          R"("classes": [{"name": "phone", "devices": 100000, "compute": "5 GFLOP/s",
            "download": "10 MB/s", "upload": "2 MB/s", "examples": 5}],
            "policies": [{"kind": "synchronous", "updates": 100000}]})",
      "mine.json");
  REQUIRE_MESSAGE(read.ok(), read.error().message);
  const auto figures = run_federated(*read);
  REQUIRE_FALSE(figures.ok());
  CHECK(figures.error().message.find("of 10000: 20100000 devices were asked") != std::string::npos);
}
