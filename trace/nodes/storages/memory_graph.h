// From device memory without work and times to a graph that holds nothing but tensors.
#pragma once

#include "sim/core/result.h"
#include "trace/graph/built_graph.h"
#include "trace/table/loaded_trace.h"
#include "trace/table/memory_timeline.h"

namespace foretrace::trace {

/// One mark of a host thread per sample, and tensors between them: growth of a category is a
/// tensor, shrinking frees the newest one of that size, else what came last. Sizes of requests are
/// guessed: a block that is larger than a more usual size by at most 1 MiB held that. Errors: no
/// samples.
[[nodiscard]] Result<BuiltGraph> build_memory_graph(const MemoryTimeline& timeline);

/// One mark per node in host order, 1 ns apart: an execution trace without durations has an order
/// and no times. Errors: no tensors on a device.
[[nodiscard]] Result<BuiltGraph> build_memory_graph(const EventTable& events,
                                                    const NodeGraph& nodes);

/// True for traces that have device memory and nothing to simulate: a timeline of memory, or nodes
/// with tensors and without durations.
[[nodiscard]] bool is_memory_only(const LoadedTrace& trace);
/// The graph of whichever of the two it is.
[[nodiscard]] Result<BuiltGraph> build_memory_graph(const LoadedTrace& trace);

}  // namespace foretrace::trace
