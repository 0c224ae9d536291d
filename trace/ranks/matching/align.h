// Alignment of two lists of collectives: by how many they are shifted, and how far their clocks
// are apart, from the ends of collectives alone.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "trace/annotate/collectives/collectives.h"

namespace foretrace::trace {

/// Collectives of one communicator as one rank recorded them, with absolute times.
struct CollectiveView {
  std::vector<RankCollective> rows;
  std::uint32_t ranks = 0;  ///< size of the communicator; 0 unknown
};

/// Pairs and what they say about the clocks: time of a = time of b + offset.
struct Alignment {
  bool ok = false;
  std::string refused;  ///< not empty: why no pairs are trusted
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;  ///< (row of a, row of b), ascending
  std::int64_t offset_ns = 0;
  double drift = 0;                ///< of b against a, ns per ns from `drift_from_ns` on
  std::int64_t drift_from_ns = 0;  ///< time of b
  std::int64_t spread_ns = 0;      ///< median distance of the differences from the offset

  [[nodiscard]] static Alignment refusal(std::string why) {
    Alignment alignment;
    alignment.refused = std::move(why);
    return alignment;
  }
};

/// True if two rows may be the same collective: kind, type, size and grid agree as far as they
/// must.
[[nodiscard]] bool may_be_same(const RankCollective& a, const RankCollective& b);

/// Pairs by recorded sequence numbers.
[[nodiscard]] Alignment align_by_sequence(const CollectiveView& a, const CollectiveView& b);
/// Pairs by order: the shift for which the differences of the ends spread least. Refuses where no
/// shift is clearly the best.
[[nodiscard]] Alignment align_by_order(const CollectiveView& a, const CollectiveView& b);
/// Pairs by the offset that most of them agree on. Some are wrong: for display, not for timing.
[[nodiscard]] Alignment align_by_voting(const CollectiveView& a, const CollectiveView& b);

/// Fills offset, drift and spread from the pairs.
void measure_offset(const CollectiveView& a, const CollectiveView& b, Alignment& alignment);

}  // namespace foretrace::trace
