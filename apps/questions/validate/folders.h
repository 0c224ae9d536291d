// The recordings of a folder.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "apps/session/recording/load.h"
#include "models/hardware/catalogue/catalogue.h"
#include "sim/core/result.h"

namespace foretrace {

/// A recording below a folder that can be simulated, or why not.
struct FolderRecording {
  std::string name;  ///< relative to the folder
  Result<Recording> recording;
};

/// Refuses what is no folder, and a folder in and below which no file is, saying which links lead
/// nowhere. `suffixes`: only files that end so count, e.g. ".json.gz"; none: all do.
[[nodiscard]] Status check_folder(const std::string& folder,
                                  std::span<const std::string_view> suffixes = {});

/// Loads every trace in JSON below a folder, in the order of their names; one is in memory at a
/// time. Error: there is none.
[[nodiscard]] Status for_each_recording(const CataloguePtr& catalogue, const std::string& folder,
                                        const std::function<void(FolderRecording&&)>& visit);

}  // namespace foretrace
