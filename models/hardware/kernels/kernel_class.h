// What kind of work a kernel does and in which precision, told from its name and its operator.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "sim/graph/task_graph.h"

namespace foretrace {

enum class KernelClass : std::uint8_t {
  gemm,
  convolution,
  attention,  ///< fused attention: several products and a softmax in one kernel
  normalization,
  softmax,
  elementwise,
  reduction,
  gather,     ///< embedding, index, scatter
  copy,       ///< concatenation, layout change, device-to-device copy
  optimizer,  ///< multi-tensor update
  collective,
  other  ///< not known: what-ifs leave it as it was measured
};
inline constexpr std::size_t kernel_class_count = 12;
[[nodiscard]] std::string_view to_string(KernelClass kernel_class);

/// Told from texts only: a name that follows no known library is `other`, never guessed.
struct KernelTraits {
  KernelClass kernel_class = KernelClass::other;
  Precision precision = Precision::unknown;  ///< of the data it works on; unknown: not floating
  bool compute_bound = false;  ///< matrix product whose time follows the arithmetic rate if large
  bool keeps_fp32 = false;     ///< autocast runs it in fp32 whatever its inputs are
  std::string_view library = {};  ///< "cublas", "cudnn", "tensile", ...; empty: its name shows none
};

struct KernelText {
  std::string_view name = {};
  std::string_view operator_name = {};
  std::string_view types = {};  ///< JSON text of the operator's input types
  TaskKind kind = TaskKind::kernel;
};
[[nodiscard]] KernelTraits classify(const KernelText& text);

/// Traits of every work of a graph, by WorkId. A precision that the graph states wins.
[[nodiscard]] std::vector<KernelTraits> classify_works(const TaskGraph& graph);

/// Bytes of one number; 0 for unknown.
[[nodiscard]] int bytes_per_number(Precision precision);
[[nodiscard]] constexpr bool is_half(Precision precision) {
  return precision == Precision::fp16 || precision == Precision::bf16;
}

}  // namespace foretrace
