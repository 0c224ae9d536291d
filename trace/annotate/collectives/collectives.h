// Collectives of one rank: every kernel that communicates, with what the trace tells about its
// meaning.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/graph/task.h"
#include "trace/table/events.h"

namespace foretrace::trace {

/// What says which collective a kernel is. Kernel names lie (old NCCL runs nearly everything as
/// SendRecv_RING_SIMPLE_Sum_int8_t), so what the host says comes first.
enum class KindEvidence : std::uint8_t { none, kernel_name, annotation, argument };

/// What tells groups of ranks apart.
enum class GroupEvidence : std::uint8_t {
  stream,   ///< nothing but the stream its kernels run on
  pointer,  ///< an address, which differs from process to process
  name      ///< the same name on every rank
};

/// A group of ranks as one rank sees it.
struct RankGroup {
  GroupEvidence evidence = GroupEvidence::stream;
  std::string name;                 ///< name, address or stream number
  std::uint32_t size = 0;           ///< 0: not recorded
  std::vector<std::int32_t> ranks;  ///< members; empty: not recorded
};

/// A message that a point-to-point kernel sends or receives. Ranks are numbered as recorded, within
/// the group or over the whole job; -1 not recorded.
struct PeerMessage {
  bool sends = false;  ///< false: this rank receives it
  std::int32_t own = -1;
  std::int32_t peer = -1;
  std::int64_t bytes = -1;
};

/// One collective kernel of one rank. Times are of the rank's own clock.
struct RankCollective {
  EventId event{};
  CollectiveKind kind = CollectiveKind::none;
  CollectiveKind kernel_kind = CollectiveKind::none;  ///< what the kernel's name says
  KindEvidence evidence = KindEvidence::none;
  std::uint8_t element_bytes = 0;  ///< 0: not recorded
  bool launched = false;           ///< false: its launch lies before the window
  std::uint32_t group = 0;         ///< index of RankCollectives::groups
  std::int64_t sequence = -1;      ///< number within the group, equal on all ranks; -1 not recorded
  std::int64_t in_bytes = -1;      ///< what this rank puts in; -1 not recorded
  std::int64_t out_bytes = -1;     ///< what this rank gets; -1 not recorded
  std::int32_t grid = 0;
  std::int32_t block = 0;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::vector<PeerMessage>
      messages{};  ///< of sends and receives; several where one kernel does all
};

/// All collectives of a rank, by start.
struct RankCollectives {
  std::vector<RankGroup> groups;
  std::vector<RankCollective> list;
  std::int64_t base_ns = 0;      ///< absolute time of the rank's time 0
  std::int32_t rank = -1;        ///< its number in the job; -1 not known
  std::int32_t world_size = -1;  ///< ranks of the whole job; -1 not recorded
};

/// The kind that a collective's name, an annotation or a kernel's name stands for.
[[nodiscard]] CollectiveKind collective_kind(std::string_view name);
/// Kinds in which no rank ends before the last one has arrived and all put in equally much.
[[nodiscard]] bool ends_together(CollectiveKind kind);
/// Send, receive or both.
[[nodiscard]] bool is_point_to_point(CollectiveKind kind);

/// Bytes as bandwidths of collectives are stated: all-reduce, broadcast: the buffer; all-gather:
/// the whole result; reduce-scatter: the whole input; all-to-all, send: what a rank sends. -1
/// unknown.
[[nodiscard]] std::int64_t payload_bytes(const RankCollective& collective, std::uint32_t ranks);
/// What share of the payload crosses each rank's link: all-reduce 2 (n - 1) / n, all-gather,
/// reduce-scatter and all-to-all (n - 1) / n, others 1.
[[nodiscard]] double bus_factor(CollectiveKind kind, std::uint32_t ranks);

[[nodiscard]] RankCollectives extract_collectives(const EventTable& events);

}  // namespace foretrace::trace
