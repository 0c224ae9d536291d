// A step on several scales at once: stages, modules below them, repeats folded. After Hotline (D.
// Snider, F. Chevalier, G. Pekhimenko, Hotline Profiler, MLSys 2023).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/graph/task_graph.h"

namespace foretrace {

/// A stage, a module, or several modules of the same shape. Times are sums over the recording.
struct SummaryNode {
  std::string name{};         ///< "Qwen2DecoderLayer_*" where repeats > 1, "A/B" where one is all
  std::uint64_t repeats = 1;  ///< modules side by side that are folded into this one
  std::uint64_t operations = 0;  ///< on the device
  std::int64_t device_ns = 0;    ///< with everything below
  std::int64_t host_ns = 0;      ///< work of host threads, waits left out; with everything below
  std::vector<SummaryNode> children{};  ///< most device time first, then most host time
};

struct StepSummary {
  /// In the order of a step: data loading, forward, loss, backward, zeroing of gradients, update,
  /// then communication and what is in no stage. Empty ones are left out.
  std::vector<SummaryNode> stages;
  std::int64_t device_ns = 0;
  std::int64_t in_stage_ns = 0;            ///< device time with a known stage
  std::int64_t in_module_ns = 0;           ///< device time inside a module, of what can have one
  std::int64_t could_be_in_module_ns = 0;  ///< forward, loss and backward
};

[[nodiscard]] StepSummary summarize_step(const TaskGraph& graph);

}  // namespace foretrace
