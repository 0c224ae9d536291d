// What a kernel that no recording shows does, in the words in which a trace records an operator:
// so it is classified, costed, divided and resized by the rules for recorded ones.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "models/hardware/catalogue/gemm_shape.h"
#include "models/hardware/costs/operator_shapes.h"
#include "models/hardware/costs/work_formulas.h"
#include "sim/graph/task.h"

namespace foretrace::editing {

class KernelEditor;

/// There is none without an operator: whoever inserts a kernel says what it does.
struct KernelWork {
  KernelWork(std::string operator_called, std::string input_shapes, Precision numbers)
      : operator_name(std::move(operator_called)),
        shapes(std::move(input_shapes)),
        precision(numbers) {}

  std::string operator_name;
  std::string shapes;  ///< JSON text of the operator's input dims; empty: not known
  std::string types;   ///< JSON text of the operator's input types
  Precision precision = Precision::unknown;
  friend bool operator==(const KernelWork&, const KernelWork&) = default;
};

/// The work of a recorded kernel.
[[nodiscard]] KernelWork same_work(const KernelEditor& editor, TaskId kernel);

/// The same with other inputs.
[[nodiscard]] KernelWork same_work_on(const KernelEditor& editor, TaskId kernel,
                                      const OperatorInputs& inputs);
/// The same in another precision: what was fp32 or tf32 among its inputs has it, too.
[[nodiscard]] KernelWork lowered_work(const KernelEditor& editor, TaskId kernel, Precision to);

/// A product with a weight, and with a bias where `bias` says so; of a batch above 1, without.
[[nodiscard]] KernelWork product_work(const GemmShape& shape, Precision precision,
                                      bool bias = false);
/// A product whose weight is counted elsewhere.
[[nodiscard]] KernelWork plain_product_work(const GemmShape& shape, Precision precision);

/// Fused attention.
[[nodiscard]] KernelWork attention_kernel_work(const AttentionShape& shape, Direction direction,
                                               Precision precision);

/// Reads and writes so many numbers of this precision: encoding, checking, quantizing.
[[nodiscard]] KernelWork moving_work(double read, double written, Precision precision);
/// The same, with a largest or a sum per row.
[[nodiscard]] KernelWork reducing_work(double read, double written, Precision precision);
[[nodiscard]] KernelWork cast_work(double numbers, Precision from, Precision to);

/// A fused update of this many parameters with these bytes of each moved: a state beside the weight
/// and the gradient, or two, or none. Without a count only what it is.
[[nodiscard]] KernelWork update_kernel_work(double parameters, double bytes_per_parameter,
                                            Precision precision);

/// One kernel instead of several. Of products: all their arithmetic with the sizes of the largest.
/// Of others: the member that reduces rows says what the kernel is, or else the largest; what the
/// first reads, the side inputs of the others, and one result.
[[nodiscard]] KernelWork fused_work(const KernelEditor& editor, std::span<const TaskId> kernels);

/// The same kernel on so many inputs at once, which share its weights.
[[nodiscard]] KernelWork batched_work(const KernelEditor& editor, TaskId kernel, double count);

}  // namespace foretrace::editing
