// Sends and receives of all ranks, by where they come from and where they go to.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "trace/annotate/collectives/collectives.h"

namespace foretrace::trace {

inline constexpr std::uint32_t nobody = 0xFFFFFFFFU;

/// One end of a message: the kernel of the rank that sends it, or of the one that receives it.
struct MessageEnd {
  std::uint32_t row = 0;  ///< index of its RankCollectives::list
  std::int64_t bytes = -1;
  std::int64_t sequence = -1;
  std::int64_t start_ns = 0;  ///< absolute, on the rank's own clock
  std::int64_t end_ns = 0;    ///< not before this the message had left, or had arrived by then
};

/// All messages of a group from one rank to another; both ends in their own order.
struct Channel {
  std::string name;               ///< "pp_0 0->1"
  std::uint32_t source = nobody;  ///< positions in the job; nobody: its trace is not here
  std::uint32_t target = nobody;
  std::uint32_t source_group = 0;  ///< indices of RankCollectives::groups
  std::uint32_t target_group = 0;
  std::vector<MessageEnd> sends{};
  std::vector<MessageEnd> receives{};

  [[nodiscard]] bool has_both() const { return source != nobody && target != nobody; }
};

struct Channels {
  std::vector<Channel> list;  ///< by name
  /// Per rank and collective: all its messages are in a channel.
  std::vector<std::vector<bool>> taken;
};

/// Puts every send and receive whose two ranks are known into its channel: as recorded, or because
/// a group of two ranks leaves no choice.
[[nodiscard]] Channels find_channels(std::span<const RankCollectives> ranks);

}  // namespace foretrace::trace
