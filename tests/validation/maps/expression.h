// Arithmetic of map files: "gpus / (tp * pp)", "if(model_ranks >= 8, 8, model_ranks)".
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "sim/core/result.h"

namespace foretrace::validation {

/// Numbers by name: columns of a row, and what a map calculates from them.
using Variables = std::map<std::string, double, std::less<>>;

/// Knows + - * /, < > <= >= == (1 or 0), parentheses, min, max, ceil, floor and if(condition, a,
/// b). Error: something else, a name that is not there, a result that is not finite.
[[nodiscard]] Result<double> calculate(std::string_view expression, const Variables& variables);

}  // namespace foretrace::validation
