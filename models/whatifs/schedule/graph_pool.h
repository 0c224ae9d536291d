// Device memory of captured graphs: a pool of their own.
//
//   before   bytes   __/\__/\/\__      allocated and freed while the host launches
//   after    bytes   ____________      what is live inside the graphs at most, all along
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "sim/edit/editor.h"

namespace foretrace::editing {

class GraphPool {
 public:
  explicit GraphPool(Editor& editor) : editor_(editor), inside_(editor.graph().size(), false) {}

  /// These calls become one launch: what is allocated in their host time is the graph's, whoever
  /// frees it.
  void capture(std::span<const TaskId> calls);
  /// Addresses in a graph are fixed: what its tensors need at most stays allocated, and serves the
  /// others at other times. For the note, empty where no tensor is of a graph.
  [[nodiscard]] std::string edit();

 private:
  [[nodiscard]] bool is_inside(const Tensor& tensor) const;

  Editor& editor_;
  std::vector<bool> inside_;  // per task
};

}  // namespace foretrace::editing
