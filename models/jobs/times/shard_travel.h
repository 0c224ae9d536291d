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
  /// Of the host, for each rank of the group: a collective of a list has a part for each, of which
  /// it makes a view before the collective, and launches a copy behind a gathering one, before one
  /// that scatters.
  double host_per_view_ns = 0;
  double host_per_copy_ns = 0;
};

}  // namespace foretrace
