// From a timeline of device memory to a graph that holds nothing but tensors.
#pragma once

#include "sim/core/result.h"
#include "trace/build_graph.h"
#include "trace/memory_timeline.h"

namespace foretrace::trace {

/// One mark of a host thread per sample, and tensors between them: growth of a category is a
/// tensor, shrinking frees the newest one of that size, else what came last. Sizes of requests are
/// guessed: a block that is larger than a more usual size by at most 1 MiB held that. Errors: no
/// samples.
[[nodiscard]] Result<BuiltGraph> build_memory_graph(const MemoryTimeline& timeline);

}  // namespace foretrace::trace
