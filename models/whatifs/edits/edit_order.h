// The primitives that say where and when tasks run.
#pragma once

#include <string>

#include "models/whatifs/edits/edit_work.h"
#include "sim/core/result.h"

namespace foretrace::edits {

/// As those of edit_work.h.
[[nodiscard]] Result<std::string> move(Request& request);
[[nodiscard]] Result<std::string> reorder(Request& request);
[[nodiscard]] Result<std::string> prioritize(Request& request);

}  // namespace foretrace::edits
