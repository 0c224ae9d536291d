// Recorded jobs cut at random: matching must be right or refuse, hardly ever be wrong.
#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "tests/trace/ranks/rank_sketch.h"
#include "tests/trace/ranks/real_jobs.h"
#include "trace/ranks/job.h"
#include "trace/ranks/matching/match.h"

namespace foretrace::trace {
namespace {

/// Events of two ranks that belong together.
using EventPairs = std::set<std::pair<EventId, EventId>>;

EventPairs pairs_of(const std::vector<RankCollectives>& ranks, const JobMatching& job) {
  EventPairs pairs;
  for (const MatchedCollective& collective : job.collectives) {
    const bool trusted = job.communicators[collective.communicator].method >= MatchMethod::order;
    if (trusted && collective.members.size() == 2) {
      pairs.emplace(ranks[0].list[collective.members[0].collective].event,
                    ranks[1].list[collective.members[1].collective].event);
    }
  }
  return pairs;
}

/// Without what newer versions record: nothing but kinds, sizes, order and times is left.
RankCollectives anonymous(RankCollectives rank) {
  for (RankGroup& group : rank.groups) {
    group = {GroupEvidence::stream, "stream", 0, {}};
  }
  for (RankCollective& row : rank.list) {
    row.sequence = -1;
  }
  return rank;
}

struct Score {
  int right = 0;
  int wrong = 0;
  int refused = 0;
  int right_of_enough = 0;
  int enough = 0;  ///< trials with at least six collectives in common
};

class Cutter {
 public:
  explicit Cutter(std::uint32_t seed) : random_(seed) {}

  /// A rank cut at random on both sides, on a clock of its own.
  RankCollectives cut_anywhere(const RankCollectives& rank) {
    const std::size_t size = rank.list.size();
    const std::size_t a = below(size);
    const std::size_t b = below(size);
    constexpr std::int64_t hour_ns = 3'600'000'000'000;
    const double offset = 2 * share() - 1;
    const double drift = (2 * share() - 1) * 20e-6;
    return cut(rank, std::min(a, b), std::max(a, b) + 1,
               static_cast<std::int64_t>(offset * hour_ns), drift);
  }

 private:
  std::size_t below(std::size_t most) { return random_() % most; }
  double share() { return static_cast<double>(random_()) / 4294967296.0; }

  std::mt19937 random_;
};

void add_trial(const std::vector<RankCollectives>& cuts, const EventPairs& truth, Score& score) {
  EventPairs common;
  for (const RankCollective& a : cuts[0].list) {
    for (const RankCollective& b : cuts[1].list) {
      if (truth.contains({a.event, b.event})) {
        common.emplace(a.event, b.event);
      }
    }
  }
  const EventPairs found = pairs_of(cuts, match_collectives(cuts));
  const bool all_true = std::includes(truth.begin(), truth.end(), found.begin(), found.end());
  const bool right = all_true && !found.empty();
  (found.empty() ? score.refused : (all_true ? score.right : score.wrong))++;
  constexpr std::size_t enough = 6;
  score.enough += common.size() >= enough ? 1 : 0;
  score.right_of_enough += common.size() >= enough && right ? 1 : 0;
}

}  // namespace

TEST_CASE("cut windows: recorded jobs cut at random are matched rightly or refused") {
  if (recordings().empty()) {
    MESSAGE("no recordings here: skipped");
    return;
  }
  Score all;
  constexpr int trials = 300;
  for (const RealJob& job : real_jobs()) {
    auto traces = read_real_job(job.name);
    REQUIRE(traces.ok());
    std::vector<RankCollectives> ranks;
    for (const RankTrace& rank : *traces) {
      ranks.push_back(anonymous(extract_collectives(rank.trace.events)));
    }
    Score score;
    Cutter cutter(7);
    for (int trial = 0; trial < trials; ++trial) {
      const std::size_t other = 1 + static_cast<std::size_t>(trial) % (ranks.size() - 1);
      const std::vector<RankCollectives> whole = {ranks[0], ranks[other]};
      const EventPairs truth = pairs_of(whole, match_collectives(whole));
      REQUIRE(truth.size() >= 8);
      add_trial({cutter.cut_anywhere(ranks[0]), cutter.cut_anywhere(ranks[other])}, truth, score);
    }
    MESSAGE(job.name << ": right " << score.right << ", wrong " << score.wrong << ", refused "
                     << score.refused << "; with at least 6 in common right "
                     << score.right_of_enough << " of " << score.enough);
    CHECK(score.wrong * 50 <= trials);  // 2 %
    CHECK(score.right_of_enough * 4 >= score.enough * 3);
    all.wrong += score.wrong;
    all.right_of_enough += score.right_of_enough;
    all.enough += score.enough;
  }
  MESSAGE("all: wrong " << all.wrong << " of " << trials * real_jobs().size() << ", right "
                        << all.right_of_enough << " of " << all.enough);
}

}  // namespace foretrace::trace
