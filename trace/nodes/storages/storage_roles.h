// What the nodes that use a storage say of it: part of the model, gradient, state, input.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/annotate/annotate.h"
#include "trace/nodes/storages/node_spans.h"
#include "trace/nodes/storages/storage_lives.h"
#include "trace/table/events.h"
#include "trace/table/node_graph.h"

namespace foretrace::trace {

struct StorageRole {
  bool is_weight = false;   ///< read where an operator has its weight
  bool is_buffer = false;   ///< read where an operator has its buffer: not trained
  bool is_data = false;     ///< read where an operator that has weights has its data
  bool in_forward = false;  ///< used in a phase; so are the next ones
  bool in_backward = false;
  bool in_update = false;
  bool in_loading = false;
  bool in_communication = false;
  bool by_many_updates = false;       ///< used by more than one run of the optimizer
  bool by_first_update_only = false;  ///< of several
  bool made_by_optimizer = false;     ///< a state that the optimizer makes at its first run
  NodeId cleared_by = none<NodeId>;   ///< gradients: the zero_grad after the last use
  bool is_gradient = false;           ///< what AccumulateGrad left in a parameter
  bool is_dropped = false;            ///< gradients: a later backward pass leaves others
};

/// What the roles are found from. `table` is node_events() of the nodes.
struct StorageScene {
  const NodeGraph& nodes;
  const NodeSpans& spans;
  const EventTable& table;
  const Annotation& annotation;
  const StorageLives& storages;
};

/// One row per life.
[[nodiscard]] std::vector<StorageRole> storage_roles(const StorageScene& scene);

}  // namespace foretrace::trace
