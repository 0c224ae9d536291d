// How a framework moves parameters that are sharded over ranks.
#pragma once

namespace foretrace {

/// How parameters that are sharded over ranks travel. Without `by_tensor`: a block at a time, as
/// FSDP wraps them.
struct ShardTravel {
  bool by_tensor = false;      ///< each parameter tensor in a collective of its own
  bool waits_for_all = false;  ///< who waits for a tensor waits for all that the device was given
  /// Elements. Smaller tensors stay whole on every rank, and are collected after each update.
  double resident_elements = 0;
  /// Elements. Tensors are asked for ahead of their use until they have so many.
  double prefetch_elements = 0;
  /// Elements. A tensor stays where less is used before it is needed again.
  double reuse_elements = 0;
  /// Of the host, per rank of the group and collective: one view and one copy for each rank's part.
  double host_per_rank_ns = 0;
};

}  // namespace foretrace
