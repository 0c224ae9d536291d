// How copies and sets grow with the work of a step: those of inputs and activations do, those of
// parameters stay, and some may do either.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "models/editing/batches/batch_resize.h"
#include "models/editing/kernels/kernel_editor.h"

namespace foretrace::editing {

struct ResizedCopies {
  std::size_t count = 0;  ///< that take another time
  std::int64_t before_ns = 0;
  std::int64_t after_ns = 0;
  std::int64_t more_on_device_ns = 0;  ///< of those that do not cross to the host
  /// "; 24 copies and sets 4.56 ms -> 1.14 ms"; empty if there are none.
  [[nodiscard]] std::string text() const;
};

/// Copies and sets outside of the update. Those of the loading phase grow, as do those from the
/// host before the first forward kernel of their step, and those whose bytes are an input with the
/// batch; those of an input without it stay, and so do scalars. Others grow in proportion and may
/// stay in the range. `factor` is asked per task. Adds their time to `time`.
ResizedCopies resize_copies(KernelEditor& editor, const BatchResizer& resizer,
                            const std::function<double(TaskId)>& factor, GrowthTimes& time);

}  // namespace foretrace::editing
