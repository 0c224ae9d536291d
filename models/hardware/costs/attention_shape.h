// Sizes of fused attention from the recorded inputs of its operator.
#pragma once

#include <optional>
#include <string_view>

#include "models/hardware/costs/operator_shapes.h"
#include "models/hardware/costs/work_formulas.h"

namespace foretrace {

/// Sizes of queries, keys and values; nothing if the inputs do not tell.
[[nodiscard]] std::optional<AttentionShape> attention_shape_of(std::string_view operator_name,
                                                               const OperatorInputs& inputs);

}  // namespace foretrace
