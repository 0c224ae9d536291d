// The work of one instruction of XLA: operands, results, arithmetic.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>

#include "trace/formats/xla/hlo_module.h"
#include "trace/formats/xla/hlo_program.h"

namespace foretrace::trace::formats {

/// An instruction with the computation that it is in.
struct HloPlace {
  const HloComputation* computation = nullptr;
  const HloInstruction* instruction = nullptr;
};

/// The matrix products and convolutions that instructions are or contain.
class HloProducts {
 public:
  explicit HloProducts(const HloModule& module) : module_(module) {}
  /// Nulls: there is none.
  [[nodiscard]] HloPlace in(HloPlace place) { return in(place, deepest_fusion); }

 private:
  static constexpr int deepest_fusion = 4;
  [[nodiscard]] HloPlace in(HloPlace place, int depth);
  const HloModule& module_;
  std::unordered_map<std::uint64_t, HloPlace> known_;  // by computation
};

/// A call of a library: kernels have the library's names.
[[nodiscard]] bool is_library_call(const HloInstruction& instruction);

/// `product`: what HloProducts found; `scope`: the op_name that tells the primitive.
[[nodiscard]] HloWork work_of(const HloModule& module, HloPlace place, HloPlace product,
                              std::string_view scope);

}  // namespace foretrace::trace::formats
