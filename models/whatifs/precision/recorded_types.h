// Where a recording is in 16 bit already: which of its fp32 kernels autocast would still change.
// Types follow from inputs, so that an fp32 kernel changes only if an fp32 product that autocast
// casts wrote its data. What was cast to fp32 by the program, and all that follows from it, stays.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

#include "models/editing/kernels/kernel_editor.h"
#include "models/hardware/costs/operator_shapes.h"

namespace foretrace::editing {

/// Follows kernels in program order. Tensors are told apart by rank and number of elements: of
/// those with equally many the last one counts.
class RecordedTypes {
 public:
  explicit RecordedTypes(const KernelEditor& editor);

  /// Whether autocast makes the data of this fp32 kernel 16 bit. To be asked of every kernel, in
  /// program order. Where products in 16 bit do not take most of the time of products, nothing is
  /// told: true of every kernel.
  [[nodiscard]] bool would_cast(TaskId task);

 private:
  /// Who made a tensor.
  enum class Origin : std::uint8_t {
    recorded,  ///< as it is: 16 bit, or fp32 by its inputs
    lowered,   ///< a product that autocast casts, or what follows from one
    upcast     ///< a cast to fp32 that the program asks for
  };
  using Key = std::pair<std::int32_t, std::int64_t>;
  [[nodiscard]] bool product_is_cast(TaskId task, const OperatorInputs& inputs);
  [[nodiscard]] bool is_upcast(TaskId task) const;

  const KernelEditor& editor_;
  bool in_half_ = false;
  std::map<Key, Origin> last_;
};

}  // namespace foretrace::editing
