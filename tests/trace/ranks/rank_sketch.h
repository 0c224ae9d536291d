// Lists of collectives made by hand: ranks of a job with clocks, windows and waiting of our choice.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "trace/annotate/collectives/collectives.h"

namespace foretrace::trace {

/// A job of `ranks` ranks and `count` all-reduces, irregularly spaced. On every rank a collective
/// starts when the rank arrives (up to 2 ms early) and ends on all of them within 10 us.
inline std::vector<RankCollectives> sketch_job(std::size_t ranks, std::size_t count,
                                               std::uint32_t seed = 1) {
  std::mt19937 random(seed);
  const auto up_to = [&](std::int64_t most) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint32_t>(most + 1));
  };
  std::vector<RankCollectives> job(ranks);
  for (RankCollectives& rank : job) {
    rank.groups.push_back({GroupEvidence::stream, "stream 7", 0, {}});
    rank.base_ns = 1'000'000'000'000;
    rank.world_size = static_cast<std::int32_t>(ranks);
  }
  std::int64_t time = 0;
  for (std::size_t i = 0; i < count; ++i) {
    time += 3'000'000 + up_to(5'000'000);
    for (RankCollectives& rank : job) {
      RankCollective row;
      row.event = make_id<EventId>(i);
      row.kind = row.kernel_kind = CollectiveKind::all_reduce;
      row.evidence = KindEvidence::annotation;
      row.launched = true;
      row.start_ns = time - up_to(2'000'000);
      row.end_ns = time + 100'000 + up_to(10'000);
      rank.list.push_back(row);
    }
  }
  return job;
}

/// What a rank recorded between two of its collectives, on a clock of its own.
inline RankCollectives cut(RankCollectives rank, std::size_t from, std::size_t to,
                           std::int64_t offset_ns = 0, double drift = 0) {
  rank.list = std::vector<RankCollective>(rank.list.begin() + static_cast<std::ptrdiff_t>(from),
                                          rank.list.begin() + static_cast<std::ptrdiff_t>(to));
  for (RankCollective& row : rank.list) {
    row.start_ns += static_cast<std::int64_t>(drift * static_cast<double>(row.start_ns));
    row.end_ns += static_cast<std::int64_t>(drift * static_cast<double>(row.end_ns));
  }
  rank.base_ns += offset_ns;
  return rank;
}

}  // namespace foretrace::trace
