// A measured exchange of tokens with the experts of other ranks that a row describes.
#pragma once

#include "tests/validation/maps/figure.h"
#include "tests/validation/tables/tables.h"

namespace foretrace::validation {

/// us, or GB/s as DeepEP counts them:
/// {"cluster": "h800_x8", "exchange": {"style": "direct", "ranks": 16, "tokens": 128, "top_k": 8,
///  "experts": 256, "token_bytes": 7392, "node_limit": 0}}
[[nodiscard]] Result<Figure> predict_exchange(const ConfigValue& run, bool is_rate,
                                              TableInputs& inputs);

}  // namespace foretrace::validation
