// Links a PyTorch execution trace (tensors, no times) with the Kineto trace of the same run (times,
// no tensors): which node is which event.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "sim/core/result.h"
#include "trace/table/loaded_trace.h"

namespace foretrace::trace {

struct ExecutionLink {
  std::vector<NodeId> node;  ///< per event of the timed trace; none<NodeId>: not matched
  std::uint64_t nodes = 0;   ///< that stand for calls, so that they could match
  std::uint64_t matched = 0;
  std::uint64_t shapes_added = 0;  ///< events that had no shapes of their own
  std::string_view method;         ///< "id" or "order and name"
  std::uint64_t other_places = 0;  ///< threads of the trace where the sequence fits as well
};

/// Matches rf_id with the recorded "Record function id", else with the external id, where ids and
/// names agree, else sequences of names thread by thread. Shapes and types of nodes fill those that
/// events lack. An error if less than half of the nodes match.
[[nodiscard]] Result<ExecutionLink> link_execution_trace(EventTable& events,
                                                         const LoadedTrace& execution);

}  // namespace foretrace::trace
