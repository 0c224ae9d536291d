// What the collectives of a recording cost: transfer and waiting, who arrives last, and where hosts
// stall that other ranks' hosts do not.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/session/session.h"
#include "sim/graph/task.h"
#include "sim/result/timeline.h"

namespace foretrace {

/// Collectives of one communicator, kind and size. Times are sums over ranks.
struct CommunicationRow {
  std::string communicator;
  CollectiveKind kind = CollectiveKind::none;
  std::uint32_t ranks = 0;  ///< of the communicator
  std::int64_t bytes = -1;  ///< payload of one; -1: the trace has no size
  std::uint64_t count = 0;  ///< collectives
  bool complete = true;     ///< false: not found on all ranks; transfer is the whole duration
  std::int64_t transfer_ns = 0;
  std::int64_t waiting_ns = 0;
  std::int64_t median_transfer_ns = 0;  ///< of one rank
  double bus_bandwidth = -1;            ///< bytes/s at the median transfer; -1 unknown
  double pair_bandwidth = -1;           ///< all-to-all: bytes/s from one rank to one other
};

/// A rank's part.
struct RankCommunication {
  std::int32_t rank = 0;
  std::int64_t exposed_transfer_ns = 0;  ///< transfer that no computation covers
  /// Waiting that neither covers nor transfer of another. Nothing where the rank communicates and
  /// none of its collectives could be matched: its waiting is then part of the transfer.
  std::optional<std::int64_t> exposed_waiting_ns;
  std::int64_t overlapped_ns = 0;
  std::uint64_t arrives_last = 0;  ///< in how many collectives, the first of each communicator
  std::int64_t late_ns = 0;  ///< left out; sum of its delays after the median of the others in them
};

/// Stalls of one rank at one call.
struct StallRow {
  std::int32_t rank = 0;
  std::string call;
  std::string operator_name;
  std::uint64_t count = 0;
  std::int64_t longest_ns = 0;
  std::int64_t median_ns = 0;
  std::int64_t excess_ns = 0;  ///< sum over the other ranks' median
};

struct Communication {
  std::vector<CommunicationRow> rows;  ///< most time first
  std::vector<RankCommunication> ranks;
  std::vector<StallRow> stalls;   ///< largest excess first
  std::uint64_t collectives = 0;  ///< kernels of all ranks
  std::uint64_t matched = 0;      ///< of them part of a rendezvous
};

/// Of a job (load_job); its replay tells what computation covers.
[[nodiscard]] Communication communication_of(const Session& session);

}  // namespace foretrace
