// Whose a tensor is: operator, layer, phase and category, from where it was allocated and freed.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "sim/graph/task.h"
#include "trace/annotate/annotate.h"
#include "trace/annotate/tensors/tensor_lifetimes.h"
#include "trace/table/events.h"

namespace foretrace::trace {

struct TensorOwner {
  EventId operator_event = none<EventId>;  ///< innermost operator that is not a mere factory
  Phase phase = Phase::unknown;            ///< in which it was allocated
  std::uint32_t layer = 0;                 ///< index of Annotation::modules; 0 none
  TensorCategory category = TensorCategory::unknown;
  std::int64_t requested_bytes = -1;  ///< what was asked for; -1: not known
};

/// The memory events of a trace and the tensors that they make.
struct TensorHistory {
  std::span<const MemoryEvent> memory;
  const TensorLifetimes& lifetimes;
};

/// One row per tensor. A tensor of the forward pass that the backward pass frees is an activation,
/// one of the backward pass that outlives it a gradient, one of the update that stays a state of
/// the optimizer; what an operator takes and gives back is temporary, or a workspace if it is
/// scratch space of a library call.
[[nodiscard]] std::vector<TensorOwner> attribute_tensors(const EventTable& events,
                                                         const Annotation& annotation,
                                                         const TensorHistory& history);

/// True for operators that only make a tensor for somebody else: aten::empty, aten::resize_, ...
[[nodiscard]] bool is_factory(std::string_view operator_name);

}  // namespace foretrace::trace
