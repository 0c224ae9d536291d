// A compiled module of XLA (HloModuleProto), as far as its kernels need it, as views into its
// bytes.
//
//   HloProto { hlo_module = 1 }
//   HloModuleProto { name = 1, computations = 3, entry_computation_id = 6, schedule = 7 }
//   HloComputationProto { name = 1, instructions = 2, id = 5, root_id = 6 }
//   HloInstructionProto { name = 1, opcode = 2, shape = 3, metadata = 7, parameter_number = 9,
//     convolution_dimension_numbers = 16, custom_call_target = 28, dot_dimension_numbers = 30,
//     id = 35, operand_ids = 36, called_computation_ids = 38, backend_config = 43 }
//   ShapeProto { element_type = 2, dimensions = 3, tuple_shapes = 4 }
//   OpMetadata { op_name = 2 }
//   HloScheduleProto { map of computation id to { instruction_ids = 1 } = 1 }
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trace/formats/common/protobuf_wire.h"
#include "trace/formats/xla/xspace.h"

namespace foretrace::trace::formats {

/// Numbers of XLA's PrimitiveType that matter here.
enum HloType : std::uint32_t { hlo_tuple = 13 };

struct HloShape {
  std::uint32_t type = 0;
  std::vector<std::int64_t> dims;
};

/// Dimensions by what a product does with them; of convolutions the positions in their operands.
struct HloDotDims {
  std::vector<std::uint64_t> lhs_contracting, rhs_contracting, lhs_batch, rhs_batch;
};
struct HloConvolutionDims {
  std::uint64_t input_batch = 0, input_feature = 0, kernel_input = 0, kernel_output = 0;
  std::uint64_t output_batch = 0, output_feature = 0;
  std::vector<std::uint64_t> input_spatial, kernel_spatial, output_spatial;
};

struct HloInstruction {
  std::string_view name;
  std::string_view opcode;
  std::string_view op_name;  ///< scopes and primitive of the program: "jit(f)/jvp()/dot_general"
  std::string_view target;   ///< of a custom call
  std::string_view config;   ///< of the backend, JSON
  std::vector<HloShape> results;  ///< of a tuple all parts
  std::uint64_t id = 0;
  std::uint64_t parameter = 0;
  std::vector<std::uint64_t> operands;  ///< ids in the same computation
  std::vector<std::uint64_t> called;    ///< ids of computations
  HloDotDims dot;
  HloConvolutionDims convolution;
};

struct HloComputation {
  std::uint64_t root = 0;
  std::vector<HloInstruction> instructions;
  std::unordered_map<std::uint64_t, std::size_t> by_id;
  std::vector<std::uint64_t> schedule;  ///< ids in the order of execution

  [[nodiscard]] const HloInstruction* find(std::uint64_t id) const;
};

struct HloModule {
  std::string_view name;
  std::uint64_t entry = 0;
  std::unordered_map<std::uint64_t, HloComputation> computations;

  [[nodiscard]] const HloComputation* find(std::uint64_t id) const;
};

/// What can be read of an HloProto; `offset` is that of its first byte in the file.
[[nodiscard]] HloModule read_hlo(std::string_view proto, std::uint64_t offset,
                                 const XDamage& damage);

}  // namespace foretrace::trace::formats
