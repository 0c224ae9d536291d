#include "apps/extras/storage/storage.h"

#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/fails_with.h"

using foretrace::parse_stored_input;
using foretrace::run_stored_input;

namespace {

const std::string data = R"("data": {"items": 4, "item_bytes": "1 MB", "order": "sequential"}, )";
const std::string tiers =
    R"("cache": {"bandwidth": "1 GB/s"}, "remote": {"latency": "1 ms", "bandwidth": "100 MB/s"}, )";
const std::string loader = R"("loader": {"batch": 2}, "step": "5 ms", )";
const std::string caches = R"("caches": [{"name": "all", "size": "1 GB"}])";

bool says(const std::string& rest, const std::string& what) {
  return foretrace::test::fails_with(
      parse_stored_input(R"({"schema": "foretrace.storage/1", )" + rest + "}", "mine.json"), what);
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

TEST_CASE("storage: reads that are listed are those of a file that holds them") {
  const std::string reads =
      R"("data": {"columns": ["item", "bytes"], "rows": [["a", 1e6], ["b", 3e6], ["a", 1e6]]}, )";
  const auto read = parse_stored_input(
      R"({"schema": "foretrace.storage/1", )" + reads + tiers + loader + caches + "}", "mine.json");
  REQUIRE_MESSAGE(read.ok(), read.error().message);
  CHECK(read->data_bytes == 4e6);
  const auto runs = run_stored_input(*read);
  CHECK(runs[0][0].hits == 1);
  CHECK(runs[0][0].remote_bytes == 4e6);
}

TEST_CASE("storage: a seed where nothing is drawn is a mistake") {
  CHECK(says(R"("data": {"items": 2, "item_bytes": "1 MB", "order": "sequential", "seed": 3}, )" +
                 tiers + loader + caches,
             "/data/seed': unknown key"));
  CHECK(says(data + tiers + loader + R"("caches": [{"name": "a", "size": "1 GB",
                 "admission": {"rule": "always", "seed": 3}}])",
             "/admission/seed': unknown key"));
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
  // 100 caches of 1.2 million reads each.
  std::string many = R"("caches": [)";
  for (int i = 0; i < 100; ++i)
    many += fmt::format(R"({}{{"name": "{}", "size": "1 B"}})", i > 0 ? ", " : "", i);
  CHECK(says(R"("data": {"items": 600000, "item_bytes": "1 B"}, )" + tiers + loader + many + "]",
             "/caches: got 100 for 1200000 reads each, expected at most 1e+08 reads in all"));
  CHECK(says(R"("data": {"columns": ["item"], "rows": [["a"]]}, )" + tiers + loader + caches,
             "/data/item_bytes: missing, expected it or a column 'bytes'"));
  CHECK(says(R"("data": {"file": "nowhere.csv"}, )" + tiers + loader + caches, "nowhere.csv"));
  CHECK(says(data + tiers + R"("loader": {"batch": 2, "worker": 3}, "step": "5 ms", )" + caches,
             "did you mean 'workers'"));
}
