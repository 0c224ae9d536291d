// A named module as a compiler sees it: runs of its calls, cut where its graph breaks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/editing/kernels/kernel_editor.h"

namespace foretrace::editing {

/// Calls of one thread that launch the kernels of the module, with nothing between them that a
/// compiler cannot take in.
struct RegionPart {
  std::vector<TaskId> calls;  ///< in program order
};

struct RegionParts {
  std::vector<RegionPart> parts;
  std::size_t runs = 0;             ///< of the module, all graph breaks within
  std::vector<std::uint32_t> part;  ///< by task: the kernel's part + 1, or 0
};

struct RegionRules {
  std::int64_t max_segment_ns = 0;  ///< more host time than this before a call is a graph break
  std::size_t breaks = 0;           ///< further graph breaks in every run, at equal distances
};

/// `in_module`: by task, kernels of the module. A synchronization, a blocking copy, a hand-over to
/// another thread and long host time break the graph; kernels of other modules end a run.
[[nodiscard]] RegionParts find_region_parts(const KernelEditor& editor,
                                            const std::vector<bool>& in_module,
                                            const RegionRules& rules);

/// What the host does for a compiled part.
struct CompiledCalls {
  bool graphs = false;        ///< its launches become the nodes of one graph
  std::int64_t guard_ns = 0;  ///< before the first call
  std::int64_t node_ns = 0;   ///< of a node
};
struct RegionHost {
  std::size_t launches = 0;  ///< as recorded
  std::int64_t before_ns = 0;
  std::int64_t after_ns = 0;
  void add(const RegionHost& other) {
    launches += other.launches;
    before_ns += other.before_ns;
    after_ns += other.after_ns;
  }
};
/// Sets the host time of the calls of a part that are still there, and of the calls that were put
/// in for fused kernels. Host time before the part stays.
RegionHost compile_calls(KernelEditor& editor, const RegionPart& part,
                         const std::vector<TaskId>& put_in, const CompiledCalls& how);

}  // namespace foretrace::editing
