// Spellings of data types in kernel names of cuBLAS, cuDNN, CUTLASS, ATen and Tensile.
#include "models/costs/kernel_precision.h"

#include <algorithm>
#include <initializer_list>
#include <string>

namespace foretrace {
namespace {

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool has_any(std::string_view text, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(), [&](auto part) { return has(text, part); });
}

// Tensile: Cijk_<layout>_<layout>_<types>_..., types begin with the input type: BBS, HHS, SB, DB.
Precision tensile_precision(std::string_view name) {
  const auto start = name.find("Cijk_");
  if (start == std::string_view::npos || name.size() < start + 17) return Precision::unknown;
  switch (name[start + 15]) {
    case 'B': return Precision::bf16;
    case 'H': return Precision::fp16;
    case 'S': return Precision::fp32;
    case 'D': return Precision::fp64;
    default: return Precision::unknown;
  }
}

// cuBLAS 13: nvjet_<input><compute><output>, t bfloat16, h half, q 8 bit, s float.
Precision nvjet_precision(std::string_view name) {
  const auto start = name.find("nvjet_");
  if (start == std::string_view::npos || name.size() < start + 7) return Precision::unknown;
  switch (name[start + 6]) {
    case 't': return Precision::bf16;
    case 'h': return Precision::fp16;
    case 'q': return Precision::fp8;
    case 's': return Precision::fp32;
    default: return Precision::unknown;
  }
}

// What the name says about its data. Half types are looked for first: mixed kernels name their
// accumulator too. OpaqueType<4u> is "any type of 4 bytes", which in a model is mostly float.
Precision name_precision(std::string_view name) {
  const std::string lower = lower_case(name);
  if (const Precision tensile = tensile_precision(name); tensile != Precision::unknown) {
    return tensile;
  }
  if (const Precision nvjet = nvjet_precision(name); nvjet != Precision::unknown) return nvjet;
  if (has_any(lower, {"e4m3", "e5m2", "float8", "fp8"})) return Precision::fp8;
  if (has_any(lower, {"bfloat16", "bf16"})) return Precision::bf16;
  if (has_any(lower, {"half", "f16", "h884", "h1688", "h16816", "hgemm", "opaquetype<2"})) {
    return Precision::fp16;
  }
  // An s1688 product without a half type in its name is TF32 since Ampere, fp16 on Turing.
  const bool ampere = has_any(lower, {"cutlass_80", "ampere", "sm80", "sm90"});
  if (has(lower, "tf32") || (ampere && has(lower, "s1688"))) return Precision::tf32;
  if (has_any(lower, {"s884", "s1688", "s16816"})) return Precision::fp16;
  if (has_any(lower, {"sgemm", "scudnn", "_f32_", "f32f32"})) return Precision::fp32;
  if (has_any(lower, {"dgemm", "d884"})) return Precision::fp64;
  const auto single = lower.find("float");
  const auto twice = lower.find("double");
  if (single != std::string::npos && single < twice) return Precision::fp32;
  if (twice != std::string::npos) return Precision::fp64;
  if (has(lower, "opaquetype<4")) return Precision::fp32;
  return Precision::unknown;
}

// The first tensor type of the operator: ["float", "float", "Int"].
Precision type_precision(std::string_view types) {
  std::size_t best = std::string_view::npos;
  Precision precision = Precision::unknown;
  const auto consider = [&](std::string_view word, Precision candidate) {
    const auto at = types.find(word);
    if (at < best) {
      best = at;
      precision = candidate;
    }
  };
  consider("\"float\"", Precision::fp32);
  consider("c10::BFloat16", Precision::bf16);
  consider("c10::Half", Precision::fp16);
  consider("c10::Float8", Precision::fp8);
  consider("\"double\"", Precision::fp64);
  consider("\"long", Precision::unknown);
  consider("\"int\"", Precision::unknown);
  consider("\"bool\"", Precision::unknown);
  return precision;
}

}  // namespace

Precision kernel_precision(std::string_view name, std::string_view types) {
  const Precision named = name_precision(name);
  return named != Precision::unknown ? named : type_precision(types);
}

}  // namespace foretrace
