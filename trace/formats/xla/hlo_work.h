// The work of one instruction of XLA: operands, results, arithmetic.
#pragma once

#include "trace/formats/xla/hlo_module.h"
#include "trace/formats/xla/hlo_program.h"

namespace foretrace::trace::formats {

/// An instruction with the computation that it is in.
struct HloPlace {
  const HloComputation* computation = nullptr;
  const HloInstruction* instruction = nullptr;
};

/// The matrix product or convolution that an instruction is or contains; nulls: none.
[[nodiscard]] HloPlace product_in(const HloModule& module, HloPlace place);
/// A call of a library: kernels have the library's names.
[[nodiscard]] bool is_library_call(const HloInstruction& instruction);

/// `scope`: the op_name that tells the primitive.
[[nodiscard]] HloWork work_of(const HloModule& module, HloPlace place, std::string_view scope);

}  // namespace foretrace::trace::formats
