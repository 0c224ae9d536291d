#include "trace/ranks/matching/match.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/trace/ranks/rank_sketch.h"

namespace foretrace::trace {
namespace {

constexpr std::int64_t hour_ns = 3'600'000'000'000;

/// Pairs (index in the uncut list) that are not of one collective.
std::size_t wrong_pairs(const JobMatching& job, const std::vector<RankCollectives>& ranks) {
  std::size_t wrong = 0;
  for (const MatchedCollective& collective : job.collectives) {
    for (const CollectiveMember& member : collective.members) {
      const CollectiveMember& first = collective.members.front();
      wrong += ranks[member.rank].list[member.collective].event !=
                       ranks[first.rank].list[first.collective].event
                   ? 1
                   : 0;
    }
  }
  return wrong;
}

}  // namespace

TEST_CASE("match: windows that start at different collectives, an hour apart, drifting") {
  std::vector<RankCollectives> ranks = sketch_job(3, 40);
  ranks[1] = cut(ranks[1], 4, 38, hour_ns);
  ranks[2] = cut(ranks[2], 0, 30, -hour_ns, 20e-6);
  const JobMatching job = match_collectives(ranks);
  REQUIRE(job.communicators.size() == 1);
  CHECK(job.communicators[0].method == MatchMethod::order);
  // Common to all: 4..29.
  CHECK(job.communicators[0].matched == 26);
  CHECK(job.communicators[0].incomplete == 14);
  CHECK(wrong_pairs(job, ranks) == 0);
  CHECK(job.reference == 0);
  // Ends agree to 10 us, so medians do to less; the drift moves the ends by 4 us over 200 ms.
  CHECK(std::abs(job.clocks[1].offset_ns + hour_ns) < 5'000);
  CHECK(std::abs(job.clocks[2].offset_ns - hour_ns) < 15'000);
  CHECK(std::all_of(job.clocks.begin(), job.clocks.end(),
                    [](const RankClock& clock) { return clock.aligned; }));
}

TEST_CASE("match: recorded sequence numbers need no clock") {
  std::vector<RankCollectives> ranks = sketch_job(2, 12);
  for (RankCollectives& rank : ranks) {
    for (std::size_t i = 0; i < rank.list.size(); ++i) {
      rank.list[i].sequence = 337 + static_cast<std::int64_t>(i);
    }
  }
  ranks[1] = cut(ranks[1], 9, 12);  // too few for order
  const JobMatching job = match_collectives(ranks);
  REQUIRE(job.communicators.size() == 1);
  CHECK(job.communicators[0].method == MatchMethod::sequence);
  CHECK(job.collectives.size() == 3);
  CHECK(wrong_pairs(job, ranks) == 0);
}

TEST_CASE(
    "match: too few in common, or evenly spaced on clocks apart, is refused and not complete") {
  std::vector<RankCollectives> few = sketch_job(2, 30);
  few[1] = cut(few[1], 26, 30);
  const JobMatching none = match_collectives(few);
  REQUIRE_FALSE(none.communicators.empty());
  CHECK(none.communicators[0].method <= MatchMethod::voting);
  CHECK_FALSE(none.communicators[0].refused.empty());
  CHECK(std::none_of(none.collectives.begin(), none.collectives.end(),
                     [](const MatchedCollective& c) { return c.complete; }));

  std::vector<RankCollectives> even = sketch_job(2, 30);
  for (RankCollectives& rank : even) {
    for (std::size_t i = 0; i < rank.list.size(); ++i) {
      rank.list[i].start_ns = static_cast<std::int64_t>(i) * 1'000'000;
      rank.list[i].end_ns = rank.list[i].start_ns + 50'000;
    }
  }
  even[1].base_ns += 2'000'000'000;  // a clock that has nothing to do with the other's
  const JobMatching ambiguous = match_collectives(even);
  CHECK(ambiguous.communicators[0].method <= MatchMethod::voting);
}

TEST_CASE("match: evenly spaced collectives of ranks whose clocks agree are told apart by time") {
  // Every 5 ms one of 50 us; the second rank recorded 4..33 of 40, and its clock is 30 us ahead.
  const auto even = [](std::int64_t offset_ns) {
    std::vector<RankCollectives> ranks = sketch_job(2, 40);
    for (RankCollectives& rank : ranks) {
      for (std::size_t i = 0; i < rank.list.size(); ++i) {
        rank.list[i].start_ns = static_cast<std::int64_t>(i) * 5'000'000;
        rank.list[i].end_ns = rank.list[i].start_ns + 50'000;
      }
    }
    ranks[1] = cut(ranks[1], 4, 34, offset_ns);
    return ranks;
  };
  const std::vector<RankCollectives> near = even(30'000);
  const JobMatching job = match_collectives(near);
  REQUIRE(job.communicators.size() == 1);
  CHECK(job.communicators[0].method == MatchMethod::order);
  CHECK(job.communicators[0].matched == 30);
  CHECK(wrong_pairs(job, near) == 0);
  CHECK(job.clocks[1].offset_ns == -30'000);
  // Clocks that are 2 s apart say nothing: at that shift or any other the ends agree.
  const JobMatching far = match_collectives(even(2'000'000'000));
  CHECK(far.communicators[0].method <= MatchMethod::voting);
  CHECK(far.communicators[0].refused.find("fit equally well") != std::string::npos);
}

TEST_CASE("match: addresses of one group differ by process, numbers and ends bring them together") {
  // Two groups of two ranks each that do the same at different times.
  std::vector<RankCollectives> ranks = sketch_job(2, 20, 1);
  const std::vector<RankCollectives> other = sketch_job(2, 20, 2);
  ranks.insert(ranks.end(), other.begin(), other.end());
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    ranks[r].world_size = 4;
    ranks[r].groups[0] = {GroupEvidence::pointer, "9400" + std::to_string(r), 2, {}};
    for (std::size_t i = 0; i < ranks[r].list.size(); ++i) {
      ranks[r].list[i].sequence = static_cast<std::int64_t>(i);
    }
  }
  const JobMatching job = match_collectives(ranks);
  REQUIRE(job.communicators.size() == 2);
  CHECK(job.communicators[0].members == std::vector<std::uint32_t>{0, 1});
  CHECK(job.communicators[1].members == std::vector<std::uint32_t>{2, 3});
  CHECK(job.communicators[0].matched == 20);
  CHECK(job.collectives.size() == 40);
}

TEST_CASE("match: clocks of ranks without a common group are joined over a third one") {
  // Ranks 0 and 1 share a group, 1 and 2 another; 2 is an hour late.
  std::vector<RankCollectives> left = sketch_job(2, 20, 1);
  std::vector<RankCollectives> right = sketch_job(2, 20, 2);
  std::vector<RankCollectives> ranks(3);
  const auto join = [](RankCollectives& to, const RankCollectives& from, const char* name) {
    to.base_ns = from.base_ns;
    to.world_size = 3;
    to.groups.push_back({GroupEvidence::name, name, 2, {}});
    for (RankCollective row : from.list) {
      row.group = static_cast<std::uint32_t>(to.groups.size() - 1);
      to.list.push_back(row);
    }
  };
  join(ranks[0], left[0], "left");
  join(ranks[1], left[1], "left");
  join(ranks[1], right[0], "right");
  join(ranks[2], cut(right[1], 0, 20, hour_ns), "right");
  const JobMatching job = match_collectives(ranks);
  CHECK(job.communicators.size() == 2);
  CHECK(job.reference == 1);  // it has the most
  CHECK(job.clocks[2].aligned);
  CHECK(std::abs(job.clocks[2].offset_ns + hour_ns) < 10'000);
  CHECK(std::abs(job.clocks[0].offset_ns) < 10'000);
}

TEST_CASE("match: a send is matched with its peer's receive, per pair of ranks") {
  std::vector<RankCollectives> ranks = sketch_job(2, 20);
  for (std::size_t r = 0; r < 2; ++r) {
    for (std::size_t i = 0; i < 20; ++i) {
      RankCollective& row = ranks[r].list[i];
      const bool forward = i % 2 == 0;
      row.kind = forward == (r == 0) ? CollectiveKind::send : CollectiveKind::receive;
      row.messages.push_back({.sends = row.kind == CollectiveKind::send,
                              .own = static_cast<std::int32_t>(r),
                              .peer = static_cast<std::int32_t>(1 - r)});
    }
  }
  const JobMatching job = match_collectives(ranks);
  REQUIRE(job.communicators.size() == 2);  // one per direction
  for (const JobCommunicator& communicator : job.communicators) {
    CHECK(communicator.size == 2);
    CHECK(communicator.matched == 10);
  }
  CHECK(wrong_pairs(job, ranks) == 0);
}

TEST_CASE("match: the group of a rank that is not in the job leaves collectives incomplete") {
  std::vector<RankCollectives> ranks = sketch_job(2, 20);
  for (RankCollectives& rank : ranks) {
    rank.groups[0].size = 8;
  }
  const JobMatching job = match_collectives(ranks);
  CHECK(job.collectives.size() == 20);
  CHECK(job.communicators[0].matched == 20);
  CHECK_FALSE(job.collectives[0].complete);
}

TEST_CASE("match: waiting ends with the last arriver, transfer is kept per rank") {
  std::vector<RankCollectives> ranks = sketch_job(3, 1);
  // Arrivals at 0, 40, 100; ends at 150, 160, 90 us (one rank leaves early, within clock error).
  const std::int64_t starts[] = {0, 40'000, 100'000};
  const std::int64_t ends[] = {150'000, 160'000, 90'000};
  MatchedCollective collective;
  std::vector<RankClock> clocks(3);
  for (std::uint32_t r = 0; r < 3; ++r) {
    ranks[r].list[0].start_ns = starts[r];
    ranks[r].list[0].end_ns = ends[r];
    collective.members.push_back({r, 0});
  }
  const std::vector<WaitSplit> split = split_waiting(collective, ranks, clocks);
  REQUIRE(split.size() == 3);
  CHECK(split[0].wait_ns == 100'000);
  CHECK(split[0].transfer_ns == 50'000);
  CHECK(split[1].wait_ns == 60'000);
  CHECK(split[1].transfer_ns == 60'000);
  CHECK(split[2].wait_ns == 0);
  CHECK(split[2].transfer_ns == 0);
}

TEST_CASE("match: nothing to match is an answer") {
  CHECK(match_collectives({}).collectives.empty());
  const std::vector<RankCollectives> silent(3);
  const JobMatching job = match_collectives(silent);
  CHECK(job.communicators.empty());
  CHECK(job.clocks.size() == 3);
}

}  // namespace foretrace::trace
