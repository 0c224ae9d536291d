// Which send of a channel is which receive of it, and what both directions together say of the
// clocks of two ranks.
//
// Nothing is received before it was sent. So every message bounds the difference of two clocks on
// one side, and messages in both directions bound it on both.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "trace/ranks/matching/clocks.h"
#include "trace/ranks/matching/match.h"
#include "trace/ranks/matching/messages.h"

namespace foretrace::trace {

/// Two channels between two ranks, there and back; of one group if it has both.
struct ChannelPair {
  const Channel* there = nullptr;
  const Channel* back = nullptr;  ///< may be null
};

/// Those with a way back first.
[[nodiscard]] std::vector<ChannelPair> pairs_of(const Channels& channels);

/// A way to read both channels.
struct PeerAlignment {
  using Pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;  ///< send, receive
  MatchMethod method = MatchMethod::none;
  std::string refused;  ///< not empty: why nothing is matched
  Pairs there;
  Pairs back;
  bool is_bounded = false;     ///< messages in both directions
  std::int64_t offset_ns = 0;  ///< of the target's clock: 0 unless messages contradict that
  std::int64_t spread_ns = 0;  ///< half of what the offset may be wrong by
  std::uint64_t compared = 0;  ///< pairs of messages looked at: what it took
};

/// Matches by order, shifted so that what was received was sent before; recorded numbers decide
/// where they agree. Times are those of the ranks' own clocks, corrected by what is known of them
/// already: then `clocks_are_known`, and no other offset is looked for.
[[nodiscard]] PeerAlignment align_peers(const ChannelPair& pair, std::int64_t target_offset_ns,
                                        bool clocks_are_known);

}  // namespace foretrace::trace
