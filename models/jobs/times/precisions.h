// What a job computes in, and the words for it.
#pragma once

#include <array>
#include <compare>
#include <string_view>

#include "sim/core/result.h"
#include "sim/graph/task.h"

namespace foretrace {

/// Precisions of a run.
struct Precisions {
  Precision activations = Precision::fp16;
  bool layers_in_8_bit = false;  ///< products of layers
  // NOLINTNEXTLINE(modernize-use-nullptr,readability-implicit-bool-conversion): neither is written
  friend auto operator<=>(const Precisions&, const Precisions&) = default;
};

/// Numbers between operators have 4 bytes.
[[nodiscard]] constexpr bool is_32_bit(const Precisions& precisions) {
  return precisions.activations == Precision::fp32 || precisions.activations == Precision::tf32;
}

inline constexpr std::array<std::string_view, 6> precision_words = {"fp32", "tf32", "fp16",
                                                                    "bf16", "fp8",  "int8"};
/// What a word of precision_words means.
[[nodiscard]] Result<Precisions> precisions_of(std::string_view name);
/// The word that precisions_of() reads as these.
[[nodiscard]] std::string_view word_of(const Precisions& precisions);

}  // namespace foretrace
