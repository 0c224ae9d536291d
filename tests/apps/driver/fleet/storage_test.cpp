#include "apps/driver/fleet/storage.h"

#include <fstream>
#include <string>

#include <doctest/doctest.h>

using foretrace::driver::parse_stored_input;
using foretrace::driver::run_stored_input;

namespace {

const std::string data = R"("data": {"items": 4, "item_bytes": "1 MB", "order": "sequential"}, )";
const std::string tiers =
    R"("cache": {"bandwidth": "1 GB/s"}, "remote": {"latency": "1 ms", "bandwidth": "100 MB/s"}, )";
const std::string loader = R"("loader": {"batch": 2}, "step": "5 ms", )";
const std::string caches = R"("caches": [{"name": "all", "size": "1 GB"}])";

std::string error_of(const std::string& rest) {
  const auto read =
      parse_stored_input(R"({"schema": "foretrace.storage/1", )" + rest + "}", "mine.json");
  return read.ok() ? "" : read.error().message;
}
bool says(const std::string& rest, const std::string& what) {
  const std::string message = error_of(rest);
  CAPTURE(message);
  return message.find(what) != std::string::npos;
}

}  // namespace

TEST_CASE("storage: items that are read twice come from the cache the second time") {
  const auto read = parse_stored_input(
      R"({"schema": "foretrace.storage/1", )" + data + tiers + loader + caches + "}", "mine.json");
  REQUIRE_MESSAGE(read.ok(), read.error().message);
  CHECK(read->data_bytes == 4e6);
  const auto runs = run_stored_input(*read);
  REQUIRE(runs.size() == 1);
  REQUIRE(runs[0].size() == 2);
  CHECK(runs[0][0].hits == 0);
  CHECK(runs[0][1].hits == 4);
  // A batch takes 2 x (1 + 10) ms at first, one behind the other: 22 + 17 of waiting in the first
  // epoch (two in flight: the second begins at 22), nothing later.
  CHECK(runs[0][0].stall_ns == 22'000'000 + 17'000'000);
  CHECK(runs[0][1].stall_ns == 0);
}

TEST_CASE("storage: one clear line for every mistake") {
  CHECK(says(tiers + loader + caches, "/data: missing key"));
  CHECK(says(data + tiers + loader + R"("caches": [])", "/caches: got 0, expected 1 to 100"));
  CHECK(says(data + tiers + loader +
                 R"("caches": [{"name": "a", "size": "1 GB", "admission": {"rule": "oracl"}}])",
             "/caches/0/admission/rule: got 'oracl' (did you mean 'oracle'?)"));
  CHECK(says(data + tiers + loader + R"("caches": [{"name": "a", "size": 5}])", "/caches/0/size"));
  CHECK(says(data + R"("cache": {"bandwidth": "1 GB/s"}, "remote": {"bandwidth": "1 B/s"}, )" +
                 loader + caches,
             "/remote/bandwidth"));
  CHECK(says(
      R"("data": {"items": 5000000, "item_bytes": "1 B", "epochs": 2}, )" + tiers + loader + caches,
      "/data/items"));
  CHECK(says(R"("data": {"file": "nowhere.csv"}, )" + tiers + loader + caches, "nowhere.csv"));
  CHECK(says(data + tiers + R"("loader": {"batch": 2, "worker": 3}, "step": "5 ms", )" + caches,
             "did you mean 'workers'"));
}
