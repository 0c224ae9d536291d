// Which product a recorded device is: by its name, else the file that it is most like.
#pragma once

#include <optional>
#include <string>

#include "models/hardware/catalogue/catalogue.h"
#include "sim/graph/task_graph.h"

namespace foretrace {

struct RecognizedAccelerator {
  Accelerator accelerator;
  /// Empty if a file has the recorded name; else what was taken for what, and why. Figures are then
  /// those of a like product, not of this one.
  std::string note;
};

/// A device whose name no file has is matched by vendor, compute capability and multiprocessors; of
/// equally good ones by memory. Nothing if no file is near enough, or too little was recorded.
[[nodiscard]] std::optional<RecognizedAccelerator> recognize_accelerator(const Catalogue& catalogue,
                                                                         const DeviceInfo& device);

}  // namespace foretrace
