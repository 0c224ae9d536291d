#include "trace/ranks/matching/clocks.h"

#include <tuple>

#include "sim/core/whole.h"

namespace foretrace::trace {
namespace {

/// T(t) = base + offset + t (1 + drift) as a straight line through t = 0.
struct Line {
  std::int64_t at_zero = 0;
  double drift = 0;
};

/// The clock of `unknown`, from a link and the clock of its other end.
Line follow(const ClockLink& link, const RankCollectives& known_rank, const Line& known,
            const RankCollectives& unknown_rank, bool known_is_from) {
  // Both directions map the unknown rank's absolute time to the known one's: forward as the link
  // says, backward by its inverse, whose drift is the negative (products are below 1e-8).
  const double drift = known_is_from ? link.drift : -link.drift;
  const std::int64_t offset = known_is_from ? link.offset_ns : -link.offset_ns;
  const std::int64_t drift_from =
      known_is_from ? link.drift_from_ns : link.drift_from_ns + link.offset_ns;
  const std::int64_t zero = unknown_rank.base_ns;
  const std::int64_t zero_there =
      zero + offset + to_whole(drift * static_cast<double>(zero - drift_from));
  const std::int64_t local_there = zero_there - known_rank.base_ns;
  return {known.at_zero + local_there + to_whole(known.drift * static_cast<double>(local_there)),
          drift + known.drift};
}

}  // namespace

std::vector<RankClock> join_clocks(std::span<const RankCollectives> ranks,
                                   std::span<const ClockLink> links, std::uint32_t& reference) {
  std::vector<RankClock> clocks(ranks.size());
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    clocks[i].base_ns = ranks[i].base_ns;
    reference = ranks[i].list.size() > ranks[reference].list.size() ? static_cast<std::uint32_t>(i)
                                                                    : reference;
  }
  if (ranks.empty()) return clocks;
  clocks[reference].aligned = true;
  while (true) {
    const ClockLink* best = nullptr;
    for (const ClockLink& link : links) {
      const bool connects = clocks[link.from_rank].aligned != clocks[link.to_rank].aligned;
      const auto key = [](const ClockLink& l) {
        return std::tuple(l.spread_ns, -static_cast<std::int64_t>(l.pairs), l.from_rank, l.to_rank);
      };
      best = connects && (best == nullptr || key(link) < key(*best)) ? &link : best;
    }
    if (best == nullptr) return clocks;
    const bool forward = clocks[best->from_rank].aligned;
    const std::uint32_t known = forward ? best->from_rank : best->to_rank;
    const std::uint32_t unknown = forward ? best->to_rank : best->from_rank;
    const RankClock& from = clocks[known];
    const Line line = follow(*best, ranks[known], {from.base_ns + from.offset_ns, from.drift},
                             ranks[unknown], forward);
    RankClock& clock = clocks[unknown];
    clock.aligned = true;
    clock.offset_ns = line.at_zero - clock.base_ns;
    clock.drift = line.drift;
    clock.spread_ns = best->spread_ns;
    clock.pairs = best->pairs;
  }
}

}  // namespace foretrace::trace
