// Joins the trace in which a CUDA or HIP graph was captured (operators and launches, no kernels)
// with one in which it is executed (kernels, no operators): kernel k of the graph is launch k.
#pragma once

#include <cstdint>

#include "sim/core/result.h"
#include "trace/table/events.h"

namespace foretrace::trace {

struct CaptureLink {
  std::uint64_t captured = 0;  ///< launches of the capture that run nothing at once
  std::uint64_t graphs = 0;    ///< graph launches of the execution that were joined
  std::uint64_t kernels = 0;   ///< operations of those graphs
  std::uint64_t with_operator = 0;
  std::uint64_t with_shapes = 0;
  std::uint64_t with_layer = 0;
  bool by_name = false;  ///< names of all launches are recorded and equal those of the kernels
};

/// Launches without work of their own: what a capture leaves.
[[nodiscard]] bool looks_like_capture(const EventTable& events);
/// Device work that a graph launch started.
[[nodiscard]] bool looks_like_graph_execution(const EventTable& events);

/// Gives the kernels of executed graphs the operator, shapes and layer of their captured launch.
/// The error says where the sequences differ; `execution` is unchanged then.
[[nodiscard]] Result<CaptureLink> join_capture(const EventTable& capture, EventTable& execution);

}  // namespace foretrace::trace
