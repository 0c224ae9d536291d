// What one rank of a spread run updates and holds, of what the recorded device did.
#pragma once

#include <cstddef>
#include <string>

#include "models/editing/kernels/kernel_editor.h"
#include "sim/edit/editor.h"

namespace foretrace::editing {

/// Shares of the recorded bytes.
struct RankMemory {
  double weights = 1;
  double gradients = 1;
  double states = 1;
  double buffer_bytes = 0;  ///< of what is sent and collected, there throughout
};

/// Resizes recorded tensors and adds the buffers, on every device that has tensors. Returns a note;
/// empty where none is recorded.
[[nodiscard]] std::string resize_rank_memory(Editor& editor, const RankMemory& memory);

/// Kernels of the optimizer work on this share of the parameters. Returns how many there are.
std::size_t scale_updates(KernelEditor& editor, double share);

}  // namespace foretrace::editing
