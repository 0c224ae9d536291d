// The list of recordings that `foretrace collect` writes beside them: run.ftr.json.
//
//   {"foretrace": "collect", "command": ["python", "train.py"], "exit_code": 0, "signal": null,
//    "files": [{"path": "run.4711.ftr", "bytes": 81234, "rank": 0}, ...]}
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/result.h"

namespace foretrace::trace {

/// A recording of a manifest.
struct ManifestFile {
  std::string path;        ///< as written: relative to the folder of the manifest
  std::int32_t rank = -1;  ///< -1: not recorded
};

/// True if these first bytes of a file are those of a manifest.
[[nodiscard]] bool is_manifest(std::string_view prefix);

/// The recordings that a manifest lists. `path` is for messages. Errors: text that is no JSON, no
/// list of files, an entry without a path, a path that is there twice.
[[nodiscard]] Result<std::vector<ManifestFile>> parse_manifest(std::string_view text,
                                                               const std::string& path);

}  // namespace foretrace::trace
