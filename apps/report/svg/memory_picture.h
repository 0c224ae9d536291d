// A picture of device memory over time, stacked by what it holds.
#pragma once

#include <span>
#include <string>

#include "sim/engine/memory/memory_tracker.h"
#include "sim/graph/task_graph.h"

namespace foretrace::svg {

/// One device. What it refers to outlives the call.
struct MemoryPanel {
  std::string title;  ///< "ResNet-50 on a V100, device 0"
  std::string note;   ///< "reserved 3.1 GiB; no memory was recorded ..."; may be empty
  const TaskGraph& graph;
  const MemoryCurve& curve;
  std::int64_t span_ns = 0;  ///< of the run
};

/// Live bytes stacked by category, the peak marked, axes with round ticks, a legend of what is
/// there. Per pixel the moment with most bytes is shown. An SVG document.
[[nodiscard]] std::string memory_picture(std::span<const MemoryPanel> panels);

}  // namespace foretrace::svg
