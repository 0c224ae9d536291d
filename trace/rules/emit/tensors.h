// Device tensors of a trace, rebuilt from its [memory] instants.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sim/graph/graph_builder.h"
#include "trace/annotate/tensors/parameters.h"
#include "trace/annotate/tensors/tensor_lifetimes.h"
#include "trace/rules/assembly/assembly.h"
#include "trace/rules/emit/work_table.h"

namespace foretrace::trace::rules {

/// Where tensors go: the graph being built, and how its ids follow from those of the trace.
struct TensorTarget {
  const Assembly& assembly;
  GraphBuilder& builder;
  WorkTable& works;
  const std::vector<LaneId>& stream_lanes;  ///< per Assembly::streams
  const std::vector<LayerId>& layers;       ///< per Annotation::modules
};

struct AddedTensors {
  std::vector<DeviceMemory> devices{};
  ParameterEstimate parameters{};
};
/// What tensors rest on where no memory was recorded; empty where it was.
[[nodiscard]] std::string memory_note(std::span<const DeviceMemory> memory);

/// Pairs allocations and frees, finds whose each tensor is and hangs it on the host tasks around
/// it. What was there before the window is split by the shapes of the model, as far as they go.
[[nodiscard]] AddedTensors add_tensors(const TensorTarget& target);

}  // namespace foretrace::trace::rules
