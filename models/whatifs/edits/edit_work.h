// What an edit is asked for, and the primitives that make tasks or put them together.
#pragma once

#include <string>
#include <vector>

#include "sim/core/params.h"
#include "sim/core/result.h"
#include "sim/edit/editor.h"

namespace foretrace::edits {

struct Request {
  const TaskGraph& graph;
  Editor& editor;
  const ParamValues& values;  ///< of edits::params
  std::vector<TaskId> tasks;  ///< at least one, in id order
};

/// Each writes into the editor and says what it did. ErrorCode::no_match if that is nothing.
[[nodiscard]] Result<std::string> insert(Request& request);
[[nodiscard]] Result<std::string> replace(Request& request);
[[nodiscard]] Result<std::string> split(Request& request);
[[nodiscard]] Result<std::string> merge(Request& request);
[[nodiscard]] Result<std::string> replicate(Request& request);

}  // namespace foretrace::edits
