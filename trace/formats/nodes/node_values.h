// Argument lists of execution traces: JSON, or what Python prints for the same lists.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/core/name_table.h"
#include "trace/table/node_graph.h"

namespace foretrace::trace::formats {

/// Takes the tensors out of "[[36, 19, 0, 64, 8, 'cpu'], -1, ...]" (tensor, storage, offset,
/// elements, bytes per element, device; also lists of them) and returns the other arguments as a
/// JSON list of texts in which a tensor is "".
[[nodiscard]] std::string take_tensors(std::string_view text, bool is_output, NameTable& names,
                                       std::vector<NodeTensor>& tensors);

/// Python's spelling of a list of texts and numbers as JSON; what is JSON already stays as it is.
/// Other text becomes one JSON string.
[[nodiscard]] std::string as_json(std::string_view text);

}  // namespace foretrace::trace::formats
