// In which precision a kernel works, told from its name or from the types of its operator.
#pragma once

#include <string_view>

#include "sim/graph/task.h"

namespace foretrace {

/// `types` is the JSON text of the operator's input types. Unknown if neither shows a floating
/// type.
[[nodiscard]] Precision kernel_precision(std::string_view name, std::string_view types);

}  // namespace foretrace
