// Which kernels of several ranks are one collective, and how far the ranks' clocks are apart.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/graph/task.h"
#include "trace/annotate/collectives/collectives.h"

namespace foretrace::trace {

/// How collectives were matched, from most to least trusted.
enum class MatchMethod : std::uint8_t {
  none,      ///< a group of one rank of the job, or nothing fits
  voting,    ///< the offset that most pairs agree on: for display, not for timing
  order,     ///< order, shifted by the number that makes the ends agree
  sequence,  ///< recorded sequence numbers
};
[[nodiscard]] std::string_view to_string(MatchMethod method);

/// A group of ranks that communicates.
struct JobCommunicator {
  std::string name;
  std::uint32_t size = 0;                    ///< ranks of the whole job in it
  std::vector<std::uint32_t> members;        ///< positions of its ranks in the job, ascending
  std::vector<std::uint32_t> groups;         ///< per member: index of its RankCollectives::groups
  std::vector<std::uint32_t> member_counts;  ///< per member: collectives it recorded
  MatchMethod method = MatchMethod::none;
  std::uint32_t matched = 0;     ///< collectives found on all ranks
  std::uint32_t incomplete = 0;  ///< found on some, or on one only
  std::string refused;           ///< not empty: why ranks could not be matched

  /// True if every rank of the communicator is among the members.
  [[nodiscard]] bool all_present() const { return size == members.size(); }
};

/// The kernel of one rank in a collective.
struct CollectiveMember {
  std::uint32_t rank = 0;        ///< position in the job
  std::uint32_t collective = 0;  ///< index of RankCollectives::list
  bool sends = false;            ///< of a message from one rank to another: this is its source
  bool waits = true;             ///< false: a buffered send, whose kernel ends without its receiver
};

/// A collective as at least two ranks recorded it.
struct MatchedCollective {
  std::uint32_t communicator = 0;
  CollectiveKind kind = CollectiveKind::none;
  std::int64_t bytes = -1;  ///< payload_bytes; of an all-to-all the largest of the ranks'
  bool complete = false;    ///< every rank of the communicator took part: timing may rest on it
  std::vector<CollectiveMember> members;  ///< by rank
};

/// A rank's clock against the reference rank's.
struct RankClock {
  bool aligned = false;        ///< false: nothing to align on, the recorded clock is taken as it is
  std::int64_t base_ns = 0;    ///< recorded absolute time of the rank's time 0
  std::int64_t offset_ns = 0;  ///< what recorded absolute times of the rank lack
  double drift = 0;            ///< ns per ns from the rank's time 0 on; 0 unless significant
  std::int64_t spread_ns = 0;  ///< median distance of single collectives from the offset
  std::uint32_t pairs = 0;     ///< collectives the offset rests on
  std::int64_t device_shift_ns = 0;  ///< what was added to the device's times of the rank

  /// Absolute time on the reference's clock. Times beyond 36 years are damage and count as that.
  [[nodiscard]] std::int64_t to_reference(std::int64_t time_ns) const {
    constexpr std::int64_t latest = std::int64_t{1} << 60;
    time_ns = std::clamp(time_ns, -latest, latest);
    return base_ns + time_ns + offset_ns +
           static_cast<std::int64_t>(drift * static_cast<double>(time_ns));
  }
};

struct JobMatching {
  std::vector<JobCommunicator> communicators;
  std::vector<MatchedCollective> collectives;  ///< by time of the reference
  std::vector<RankClock> clocks;               ///< per rank; to absolute time of the reference rank
  std::uint32_t reference = 0;  ///< position of the rank that the others are aligned to
};

[[nodiscard]] JobMatching match_collectives(std::span<const RankCollectives> ranks);

/// Time of a rank's collective kernel spent on waiting for the last arriver, and on transfer.
struct WaitSplit {
  std::int64_t arrival_ns = 0;  ///< on the reference's clock
  std::int64_t wait_ns = 0;
  std::int64_t transfer_ns = 0;
};
/// Per member of a matched collective. last = latest start; transfer is kept per rank, for ranks
/// may leave an all-to-all at different times. A member that does not wait only transfers.
[[nodiscard]] std::vector<WaitSplit> split_waiting(const MatchedCollective& collective,
                                                   std::span<const RankCollectives> ranks,
                                                   std::span<const RankClock> clocks);

}  // namespace foretrace::trace
