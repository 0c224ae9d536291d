// Device memory behind the tensors of an execution trace: which storage is live from when to when.
//
// A trace names a storage by a number that stands for its address, so numbers come back: memory
// that was freed is given out again. A tensor has its own elements, not those of the storage: views
// of one storage differ, and an expanded view has more elements than there is memory.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/core/name_table.h"
#include "trace/nodes/storages/node_spans.h"
#include "trace/table/node_graph.h"

namespace foretrace::trace {

inline constexpr std::uint32_t no_life = 0xFFFFFFFFU;

/// One storage from its allocation to its last use.
struct StorageLife {
  std::int32_t device = 0;
  std::int64_t bytes = 0;           ///< as asked for, not rounded
  std::int64_t element_bytes = 0;   ///< of the tensor that was seen first
  NodeId born = none<NodeId>;       ///< the node that allocates it; none: before the window
  NodeId last{};                    ///< the node at whose end it is used for the last time
  NodeId reused_by = none<NodeId>;  ///< the node that uses its address for something else next
};

struct StorageLives {
  std::vector<StorageLife> lives;     ///< by first use
  std::vector<std::uint32_t> of_row;  ///< per NodeGraph::tensors: index of lives, or no_life
  std::vector<bool> reads_host;       ///< per node: it is given a tensor of host memory
  std::uint64_t device_tensors = 0;   ///< rows that name device memory
  std::uint64_t host_tensors = 0;     ///< rows that name host memory
  std::uint64_t absurd = 0;           ///< rows of more bytes than any device has
  std::uint64_t changed_size = 0;     ///< lives that begin because the size no longer fits
};

/// Follows every storage through the nodes of the host, in host order. What a node puts out without
/// having read it, and nothing inside it has touched, is a new allocation: views and in-place
/// results are not. So is what is read inside an operator that was not given it. What else is read
/// before anything put it out was there before the window.
[[nodiscard]] StorageLives storage_lives(const NameTable& names, const NodeGraph& nodes,
                                         const NodeSpans& spans);

/// True for nodes that run on the host; kernels of converted traces repeat their tensors.
[[nodiscard]] bool is_host_node(const NodeGraph& nodes, NodeId node);

}  // namespace foretrace::trace
