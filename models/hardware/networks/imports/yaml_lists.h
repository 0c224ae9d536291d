// Files of YAML that are one mapping of words to lists, through yaml-cpp where the build found it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sim/core/result.h"

namespace foretrace::cluster_imports {

/// "key: [ a, b ]". A value that is no list has no values.
struct YamlList {
  std::size_t line = 0;  ///< from 1 on
  std::string key;
  std::vector<std::string> values;  ///< as they are written; empty for what is no single value
};

/// Members in their order. Errors, with `path` and the line: no YAML, no mapping, nested hundreds
/// of times, longer than such files are; a build without yaml-cpp.
[[nodiscard]] Result<std::vector<YamlList>> yaml_lists(const std::string& text,
                                                       const std::string& path);

}  // namespace foretrace::cluster_imports
