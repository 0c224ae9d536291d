#include "apps/sweep/feed.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "apps/sweep/store/select.h"
#include "tests/apps/support/program.h"
#include "tests/configs.h"

namespace foretrace::sweeping {
namespace {

using test::scratch_file;

std::string fed_sweep(const std::string& method = "") {
  return R"({"schema": "foretrace.sweep/1", "trace": ")" +
         std::filesystem::absolute(test::demo_trace).string() +
         R"(", "apply": [null, "scale:factor=1"],
    "axes": [{"name": "precision", "pointer": "/apply/0", "values": [null, "mixed_precision", "flash_attention"]},
             {"name": "factor", "pointer": "/apply/1", "values": ["scale:factor=0.5", "scale:factor=0.6", "scale:factor=0.8", "scale:factor=0.9"]}],
    "constraints": ["factor != 'scale:factor=0.6'"])" +
         method + "}";
}

Sweep read_fed(const std::string& text) {
  auto sweep = parse_sweep(text, "test.json", "");
  REQUIRE_MESSAGE(sweep.ok(), (sweep.ok() ? "" : sweep.error().message));
  return std::move(*sweep);
}

SweepSettings fed_settings() {
  return {.catalogue = test::shipped(), .threads = 2, .fresh = false, .version = "1"};
}

std::vector<PointResult> stored_rows(const std::string& folder) {
  auto stored = open_stored(folder);
  REQUIRE(stored.ok());
  std::vector<PointResult> rows;
  const auto counts = select_points(*stored, {}, [&](const SelectedPoint& point) {
    rows.push_back(point.result);
    return ok_status();
  });
  REQUIRE(counts.ok());
  return rows;
}

/// Everything that the feed hands out, in pieces that come back in the other order.
Result<SweepRun> feed_all(SweepFeed& feed, SweepWorker& worker, std::size_t most_pieces = 1000) {
  std::size_t pieces = 0;
  for (;;) {
    std::vector<std::vector<std::uint64_t>> out;
    for (auto some = feed.take(2); !some.empty(); some = feed.take(2)) out.push_back(some);
    if (out.empty()) return feed.finish();
    std::reverse(out.begin(), out.end());
    for (const auto& piece : out) {
      auto rows = worker.evaluate(piece);
      REQUIRE(rows.ok());
      REQUIRE(feed.add(std::move(*rows)).ok());
      if (++pieces == most_pieces) return feed.finish();
    }
  }
}

void check_same(const std::vector<PointResult>& a, const std::vector<PointResult>& b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    CHECK(a[i].point == b[i].point);
    CHECK(a[i].metrics == b[i].metrics);
    CHECK(a[i].reason == b[i].reason);
  }
}

}  // namespace

TEST_CASE("sweep feed: points that others compute are the rows of a run of one's own") {
  for (const std::string& method :
       {std::string(),
        std::string(R"(, "method": {"kind": "nsga2", "points": 8, "population": 3})"),
        std::string(R"(, "method": {"kind": "annealing", "points": 8, "chains": 2})")}) {
    CAPTURE(method);
    const std::string own = scratch_file("feed_own");
    const std::string fed = scratch_file("feed_fed");
    const auto run = run_sweep(read_fed(fed_sweep(method)), own, fed_settings());
    REQUIRE(run.ok());
    auto feed = SweepFeed::open(read_fed(fed_sweep(method)), fed, fed_settings());
    REQUIRE(feed.ok());
    auto worker = SweepWorker::open((*feed)->sweep().text, "", test::shipped());
    REQUIRE(worker.ok());
    CHECK((*worker)->inputs() == (*feed)->inputs());
    const auto done = feed_all(**feed, **worker);
    REQUIRE(done.ok());
    CHECK(done->computed == run->computed);
    CHECK(done->unwanted == run->unwanted);
    feed->reset();
    check_same(stored_rows(fed), stored_rows(own));
    std::filesystem::remove_all(own);
    std::filesystem::remove_all(fed);
  }
}

TEST_CASE("sweep feed: doubts of a recording are told by a feed as by a run of its own") {
  const std::string cut = scratch_file("feed_cut.json.gz");
  std::ifstream whole(FORETRACE_SOURCE_DIR "/examples/traces/demo_generated_cnn.json.gz",
                      std::ios::binary);
  std::string bytes(20'000, '\0');
  whole.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  std::ofstream(cut, std::ios::binary) << bytes;
  const std::string text = R"({"schema": "foretrace.sweep/1", "trace": ")" + cut +
                           R"(", "axes": [{"pointer": "/apply", "values": [null]}]})";
  const std::string own = scratch_file("doubt_own");
  const std::string fed = scratch_file("doubt_fed");
  const auto run = run_sweep(read_fed(text), own, fed_settings());
  REQUIRE_MESSAGE(run.ok(), (run.ok() ? "" : run.error().message));
  auto feed = SweepFeed::open(read_fed(text), fed, fed_settings());
  REQUIRE(feed.ok());
  const auto done = (*feed)->finish();
  REQUIRE(done.ok());
  REQUIRE_FALSE(run->doubts.empty());
  CHECK(done->doubts == run->doubts);
  feed->reset();
  std::filesystem::remove_all(own);
  std::filesystem::remove_all(fed);
}

TEST_CASE("sweep feed: what did not come back is handed out by the next feed") {
  const std::string folder = scratch_file("feed_again");
  std::uint64_t first = 0;
  {
    auto feed = SweepFeed::open(read_fed(fed_sweep()), folder, fed_settings());
    REQUIRE(feed.ok());
    auto worker = SweepWorker::open((*feed)->sweep().text, "", test::shipped());
    REQUIRE(worker.ok());
    const auto done = feed_all(**feed, **worker, 2);
    REQUIRE(done.ok());
    first = done->computed;
    CHECK(first == 3);  // the last piece has one point, the one before it two
  }
  auto feed = SweepFeed::open(read_fed(fed_sweep()), folder, fed_settings());
  REQUIRE(feed.ok());
  CHECK((*feed)->progress().done == first);
  auto worker = SweepWorker::open((*feed)->sweep().text, "", test::shipped());
  REQUIRE(worker.ok());
  const auto done = feed_all(**feed, **worker);
  REQUIRE(done.ok());
  CHECK(done->found + done->computed == 9);  // 12 without the 3 that the constraint excludes
  const auto second = SweepFeed::open(read_fed(fed_sweep()), folder, fed_settings());
  REQUIRE_FALSE(second.ok());
  CHECK(second.error().message.find("another sweep is writing here") != std::string::npos);
}

TEST_CASE("sweep feed: rows that are no points of the sweep are refused") {
  const std::string folder = scratch_file("feed_wrong");
  auto feed = SweepFeed::open(read_fed(fed_sweep()), folder, fed_settings());
  REQUIRE(feed.ok());
  CHECK_FALSE((*feed)->add({{.point = 12, .where = {}, .metrics = {1, 2}}}).ok());
  CHECK_FALSE((*feed)->add({{.point = 0, .where = {}, .metrics = {1}}}).ok());
  auto worker = SweepWorker::open((*feed)->sweep().text, "", test::shipped());
  REQUIRE(worker.ok());
  const std::vector<std::uint64_t> points = {12};
  CHECK_FALSE((*worker)->evaluate(points).ok());
}

}  // namespace foretrace::sweeping
