// What autocast makes of tensors that flow between operators: which are 16 bit, and where it
// casts. PyTorch, torch/amp: products cast their inputs to 16 bit, the fp32 list casts to fp32,
// anything else takes the widest type of its inputs; a gradient has the type of its tensor.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "models/hardware/costs/operator_shapes.h"
#include "sim/graph/task.h"

namespace foretrace::editing {

/// A kernel as autocast sees it.
struct AutocastKernel {
  TaskId task = none<TaskId>;
  std::int32_t rank = 0;
  std::string_view operator_name;  ///< "aten::addmm"
  const OperatorInputs* inputs = nullptr;
  Phase phase = Phase::unknown;
  bool is_product = false;
  bool keeps_fp32 = false;
  bool is_lookup = false;     ///< an embedding: the result is as wide as the table
  double result_numbers = 0;  ///< of a product; 0: not known
  double weight_numbers = 0;  ///< of a forward product with a weight
};

struct AutocastCast {
  double numbers = 0;
  bool to_half = true;
  bool after = false;  ///< behind the kernel: the gradient of a weight; else in front of it
};

struct AutocastStep {
  /// Whether the kernel's data is 16 bit now; nothing if its shapes do not tell.
  std::optional<bool> half;
  std::vector<AutocastCast> casts;
  /// Forward kernels whose fp32 results live on as what was cast from them.
  std::vector<TaskId> replaced;
};

/// Follows kernels in program order. Tensors are told apart by rank and number of elements: of
/// those with equally many the last one counts, but sums remember the type of the sum before
/// (residual connections).
class AutocastTypes {
 public:
  AutocastStep next(const AutocastKernel& kernel);

 private:
  using Key = std::pair<std::int32_t, std::int64_t>;
  AutocastStep product(const AutocastKernel& kernel);
  AutocastStep follower(const AutocastKernel& kernel);
  void enter(Phase phase);

  Phase phase_ = Phase::unknown;
  struct Tensor {
    bool half = false;
    TaskId writer = none<TaskId>;
  };
  std::map<Key, Tensor> last_;                           // the last tensor of this size
  std::map<Key, bool> sum_half_;                         // the last sum of this size
  std::map<std::pair<std::string, Key>, bool> forward_;  // what an operator was in forward
  std::map<std::int32_t, std::unordered_set<std::int64_t>> weights_;
};

}  // namespace foretrace::editing
