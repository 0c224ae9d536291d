// Device tensors of a trace, rebuilt from its [memory] instants.
#pragma once

#include "sim/graph/graph_builder.h"
#include "trace/rules/assembly.h"

namespace foretrace::trace::rules {

/// Pairs allocations and frees (by address, else by size, last in first out) and hangs them on the
/// host tasks around them. Only memory of the device that runs kernels; CPU tensors are left out.
void add_tensors(const Assembly& assembly, GraphBuilder& builder);

}  // namespace foretrace::trace::rules
