// Groups of single ranks, brought together to communicators of the job.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "trace/annotate/collectives/collectives.h"
#include "trace/ranks/matching/align.h"
#include "trace/ranks/matching/match.h"

namespace foretrace::trace {

/// The collectives of one group of one rank, with absolute times.
struct RankView {
  std::uint32_t rank = 0;           ///< position in the job
  std::uint32_t group = 0;          ///< index of its RankCollectives::groups
  std::vector<std::uint32_t> rows;  ///< indices of its RankCollectives::list
  CollectiveView view;
};

struct Cluster {
  std::string name;
  std::uint32_t size = 0;  ///< ranks of the whole job in it
  std::vector<RankView> members;
};

/// Communicators by name where groups have names, by the ends of their collectives otherwise.
/// `taken`: per rank and collective, what is not to be looked at; sends and receives have channels.
[[nodiscard]] std::vector<Cluster> find_communicators(std::span<const RankCollectives> ranks,
                                                      const std::vector<std::vector<bool>>& taken);

/// The best method that works: numbers, order, voting.
[[nodiscard]] std::pair<Alignment, MatchMethod> align(const RankView& reference,
                                                      const RankView& member);

}  // namespace foretrace::trace
