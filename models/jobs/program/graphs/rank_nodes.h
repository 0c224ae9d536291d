// The program of a rank, node by node: computation, collectives with their groups, sends and
// receives, and what each waits for. The simulation takes whole passes; this is for programs that
// simulate the network themselves, and for what-ifs, which act on single kernels.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/jobs/program/rank_program.h"
#include "sim/core/result.h"

namespace foretrace {

enum class RankNodeType : std::uint8_t { compute, collective, send, receive };

/// What one node of computation stands for.
enum class NodeGrain : std::uint8_t {
  runs,       ///< kernels in a row; what the host makes the device wait follows their pass
  operators,  ///< one action of the program: who launches them, and when, is left to the reader
};

/// Where in a step a node belongs.
struct NodePlace {
  Phase phase = Phase::unknown;
  std::uint32_t block = UINT32_MAX;  ///< of the program; none between passes
  std::uint32_t order = 0;           ///< position of the block in the whole model
  std::uint32_t micro_batch = 0;
};

struct RankNode {
  RankNodeType type = RankNodeType::compute;
  std::string name;
  double ns = 0;     ///< alone
  double bytes = 0;  ///< of communication
  CollectiveKind collective = CollectiveKind::none;
  GridAxis group;             ///< collectives: see axis_of()
  bool travels = false;       ///< parameters, gradients: by a communicator of their own
  bool joins_stages = false;  ///< collectives: ranks of several stages meet, once per step and name
  std::uint32_t stage = 0;    ///< sends and receives: the other one
  std::uint32_t message = 0;  ///< the same at both ends
  /// Collectives of gradients that blocks tell one by one: how many of all were ready.
  std::uint32_t ready = 0;
  NodePlace place;
  Provenance provenance = Provenance::roofline;  ///< of its time
  /// NodeGrain::operators: what it runs, as long as the program lives; null: no work of a block.
  const Action* action = nullptr;
  double share = 1;                  ///< of the action's time
  double launches = 0;               ///< kernels that the host launches
  double host_ns = 0;                ///< of the host, beside launches
  std::vector<std::uint32_t> after;  ///< positions of nodes that must have ended
};

/// All ranks of a stage do the same. Collectives that run beside computation are no part of its
/// chain until they are waited for. Sharded parameters travel in the group of their shards,
/// gradients of a shard then among its copies. Error: a schedule with divided backward passes.
[[nodiscard]] Result<std::vector<RankNode>> rank_nodes(const Job& job, const RankProgram& program,
                                                       std::uint32_t stage,
                                                       NodeGrain grain = NodeGrain::runs);

/// First rank of the group of `rank`; the others follow at the distance of its stride.
[[nodiscard]] constexpr std::uint32_t first_of_group(const GridAxis& group, std::uint32_t rank) {
  return rank - rank / group.stride % group.size * group.stride;
}

}  // namespace foretrace
