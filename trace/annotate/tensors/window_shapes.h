// Results of operators that slide a window over their input, or resize it.
#pragma once

#include <optional>
#include <vector>

#include "trace/annotate/tensors/operator_arguments.h"

namespace foretrace::trace {

struct OperatorCall;

/// Each is none where stride, padding and the like were not recorded.
[[nodiscard]] std::optional<std::vector<TensorShape>> convolution_result(const OperatorCall& call);
[[nodiscard]] std::optional<std::vector<TensorShape>> max_pool_result(const OperatorCall& call);
[[nodiscard]] std::optional<std::vector<TensorShape>> average_pool_result(const OperatorCall& call);
/// To the spatial sizes that the second argument names.
[[nodiscard]] std::optional<std::vector<TensorShape>> resized_result(const OperatorCall& call);

}  // namespace foretrace::trace
