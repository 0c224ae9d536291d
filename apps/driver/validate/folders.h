// The recordings of a folder.
#pragma once

#include <functional>
#include <string>

#include "apps/driver/load.h"
#include "models/catalogue/catalogue.h"
#include "sim/core/result.h"

namespace foretrace::driver {

/// A recording below a folder that can be simulated, or why not.
struct FolderRecording {
  std::string name;  ///< relative to the folder
  Result<Recording> recording;
  double load_ms = 0;  ///< wall time
};

/// Loads every trace in JSON below a folder, in the order of their names; one is in memory at a
/// time.
[[nodiscard]] Status for_each_recording(const CataloguePtr& catalogue, const std::string& folder,
                                        const std::function<void(FolderRecording&&)>& visit);

}  // namespace foretrace::driver
