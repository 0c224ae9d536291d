// The program of a rank, node by node: computation, collectives with their groups, sends and
// receives, and what each waits for. The simulation takes whole passes; this is for programs that
// simulate the network themselves.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/jobs/program/rank_program.h"
#include "sim/core/result.h"

namespace foretrace {

enum class RankNodeType : std::uint8_t { compute, collective, send, receive };

struct RankNode {
  RankNodeType type = RankNodeType::compute;
  std::string name;
  double ns = 0;     ///< alone
  double bytes = 0;  ///< of communication
  CollectiveKind collective = CollectiveKind::none;
  GridAxis group;                    ///< collectives: see axis_of()
  bool travels = false;              ///< parameters, gradients: by a communicator of their own
  std::uint32_t stage = 0;           ///< sends and receives: the other one
  std::uint32_t message = 0;         ///< the same at both ends
  std::vector<std::uint32_t> after;  ///< positions of nodes that must have ended
};

/// All ranks of a stage do the same. Collectives that run beside computation are no part of its
/// chain until they are waited for. Sharded parameters travel in the group of their shards,
/// gradients of a shard then among its copies. Error: a schedule with divided backward passes.
[[nodiscard]] Result<std::vector<RankNode>> rank_nodes(const Job& job, const RankProgram& program,
                                                       std::uint32_t stage);

/// First rank of the group of `rank`; the others follow at the distance of its stride.
[[nodiscard]] constexpr std::uint32_t first_of_group(const GridAxis& group, std::uint32_t rank) {
  return rank - rank / group.stride % group.size * group.stride;
}

}  // namespace foretrace
