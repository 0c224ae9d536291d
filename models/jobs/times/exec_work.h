// What operators of a model ask of a device that is no GPU.
#pragma once

#include <cstdint>

#include "models/hardware/execution/exec_model.h"
#include "models/jobs/workloads/operator.h"

namespace foretrace {

/// One of the products of an operator, or the operator if it is none; numbers have `number_bytes`.
/// What only sends or is divided asks nothing: no kernels.
[[nodiscard]] OperatorWork work_of(const Operator& op, WorkPass pass, double number_bytes);
/// Bytes that pass through memory.
[[nodiscard]] OperatorWork moving(double bytes, std::uint32_t kernels, double number_bytes);
/// Bytes of an operator's inputs and outputs, which are live together while it runs forward.
[[nodiscard]] double live_bytes(const Operator& op, double number_bytes);

}  // namespace foretrace
