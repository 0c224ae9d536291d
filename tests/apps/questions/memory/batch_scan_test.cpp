#include "apps/questions/memory/batch_scan.h"

#include <set>
#include <vector>

#include <doctest/doctest.h>

namespace foretrace {
namespace {

/// Batches that fit, of those that may fit: up to `possible`.
struct Batches {
  std::int64_t least = 1;
  std::int64_t most = 1000;
  std::int64_t possible = 1000;
  std::function<bool(std::int64_t)> fits;
  std::int64_t guess = 1;
};

struct Scanned {
  BatchScan scan;
  std::set<std::int64_t> tried;
};

Scanned scanned(const Batches& batches) {
  Scanned result;
  BatchScanProblem problem;
  problem.least = batches.least;
  problem.most = batches.most;
  problem.guess = batches.guess;
  problem.may_guess = batches.possible / 2;
  problem.try_batches = [&](std::span<const std::int64_t> list) {
    std::vector<BatchTrial> trials;
    for (const std::int64_t batch : list) {
      CHECK(result.tried.insert(batch).second);
      CHECK(batch >= batches.least);
      CHECK(batch <= batches.most);
      const bool may_fit = batch <= batches.possible;
      trials.push_back({may_fit && batches.fits(batch), may_fit});
    }
    return Result<std::vector<BatchTrial>>(trials);
  };
  const auto scan = scan_batches(problem);
  REQUIRE(scan.ok());
  result.scan = *scan;
  CHECK(result.scan.trials == result.tried.size());
  return result;
}

TEST_CASE("batch scan: where all smaller ones fit, the border is found from any guess") {
  for (const std::int64_t border : {1, 2, 63, 64, 500, 999, 1000}) {
    for (const std::int64_t guess : {-5, 1, 60, 500, 1000, 5000}) {
      const Scanned result = scanned({.possible = std::min<std::int64_t>(1000, border + 40),
                                      .fits = [&](std::int64_t batch) { return batch <= border; },
                                      .guess = guess});
      CHECK(result.scan.largest == border);
      CHECK(result.scan.possible == std::min<std::int64_t>(1000, border + 40));
      CHECK(result.scan.gaps.empty());
      CHECK(result.scan.granule_above == 1);
    }
  }
}

TEST_CASE("batch scan: a larger batch that fits beyond ones that do not is found") {
  // 1 to 40 and 90 to 95 fit, 130 would for its live blocks. A bisection stops at 40.
  const auto fits = [](std::int64_t batch) { return batch <= 40 || (batch >= 90 && batch <= 95); };
  const Scanned result = scanned({.possible = 130, .fits = fits, .guess = 30});
  CHECK(result.scan.largest == 95);
  CHECK(result.scan.granule_above == 1);
  CHECK(result.scan.granule_below == 1);
  REQUIRE(result.scan.gaps.size() == 1);
  CHECK(result.scan.gaps[0].from == 41);
  CHECK(result.scan.gaps[0].to == 89);
}

TEST_CASE("batch scan: work is bounded, and what lies between multiples is found by bisection") {
  // 97 multiples of 1024 up to 100000; 72704 is the largest of them that fits.
  const auto fits = [](std::int64_t batch) {
    return batch <= 1000 || (batch >= 70000 && batch <= 73000);
  };
  const Scanned result = scanned({.most = 1000000, .possible = 100000, .fits = fits, .guess = 900});
  CHECK(result.scan.granule_above == 1024);
  CHECK(result.scan.largest == 73000);
  CHECK(result.tried.size() <= most_batch_trials);
  // Every gap is one, and every multiple below that fits lies in none.
  for (const BatchGap& gap : result.scan.gaps) {
    CHECK_FALSE(fits(gap.from));
    CHECK_FALSE(fits(gap.to));
  }
  for (std::int64_t at = result.scan.granule_below; at < result.scan.largest;
       at += result.scan.granule_below) {
    CHECK(result.tried.count(at) == 1);
  }
}

TEST_CASE("batch scan: nothing fits, or nothing may") {
  const Scanned none =
      scanned({.possible = 20, .fits = [](std::int64_t) { return false; }, .guess = 7});
  CHECK(none.scan.largest == 0);
  CHECK(none.scan.possible == 20);
  CHECK(none.scan.gaps.empty());
  const Scanned impossible =
      scanned({.possible = 0, .fits = [](std::int64_t) { return true; }, .guess = 7});
  CHECK(impossible.scan.largest == 0);
  CHECK(impossible.scan.possible == 0);
  // Nothing small fits, yet something larger does.
  const Scanned late =
      scanned({.possible = 100, .fits = [](std::int64_t batch) { return batch == 77; }});
  CHECK(late.scan.largest == 77);
}

TEST_CASE("batch scan: an error of a trial is the answer") {
  BatchScanProblem problem;
  problem.most = 10;
  problem.try_batches = [](std::span<const std::int64_t>) -> Result<std::vector<BatchTrial>> {
    return Error{ErrorCode::missing_cost, "no"};
  };
  CHECK_FALSE(scan_batches(problem).ok());
}

}  // namespace
}  // namespace foretrace
