#include "models/jobs/times/precisions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/core/params.h"

namespace foretrace {

Result<Precisions> precisions_of(std::string_view name) {
  if (name == "fp32") return Precisions{Precision::fp32, false};
  if (name == "tf32") return Precisions{Precision::tf32, false};
  if (name == "fp16") return Precisions{Precision::fp16, false};
  if (name == "bf16") return Precisions{Precision::bf16, false};
  if (name == "fp8") return Precisions{Precision::bf16, true};
  if (name == "int8") return Precisions{Precision::int8, false};
  return Error{ErrorCode::bad_config,
               fmt::format("precision: got {}{}, expected one of {}", in_quotes(name),
                           did_you_mean(name, precision_words), fmt::join(precision_words, ", "))};
}

std::string_view word_of(const Precisions& precisions) {
  return precisions.layers_in_8_bit ? "fp8" : to_string(precisions.activations);
}

}  // namespace foretrace
