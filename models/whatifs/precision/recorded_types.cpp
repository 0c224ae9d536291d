#include "models/whatifs/precision/recorded_types.h"

#include <algorithm>
#include <vector>

#include "models/editing/kernels/precision_choice.h"
#include "sim/core/whole.h"

namespace foretrace::editing {
namespace {

constexpr double most_numbers = 1e15;

std::int64_t whole_number(double numbers) { return to_whole(std::min(numbers, most_numbers)); }

std::vector<std::int64_t> input_sizes(const OperatorInputs& inputs) {
  std::vector<std::int64_t> sizes;
  for (const std::vector<Dims>& tensors : inputs.tensors) {
    for (const Dims& dims : tensors) {
      if (!dims.empty()) sizes.push_back(whole_number(element_count(dims)));
    }
  }
  return sizes;
}

bool is_fp32(Precision precision) {
  return precision == Precision::fp32 || precision == Precision::tf32;
}

}  // namespace

RecordedTypes::RecordedTypes(const KernelEditor& editor) : editor_(editor) {
  std::int64_t half = 0;
  std::int64_t full = 0;
  for (const TaskId kernel : editor.kernels()) {
    const KernelTraits& traits = editor.about(kernel).traits;
    if (!is_product(traits.kernel_class)) continue;
    const std::int64_t ns = editor.graph().duration_ns(kernel);
    if (is_half(traits.precision)) half += ns;
    if (is_fp32(traits.precision)) full += ns;
  }
  in_half_ = half > full;
}

// aten::copy_ has the types of the tensor that it writes and of the one that it reads.
bool RecordedTypes::is_upcast(TaskId task) const {
  if (editor_.operator_of(task) != "aten::copy_") return false;
  const auto types = input_types(editor_.graph().names()[editor_.graph().work(task).types]);
  return types.size() >= 2 && types[0] == "float" && !types[1].empty() && types[1] != types[0];
}

bool RecordedTypes::product_is_cast(TaskId task, const OperatorInputs& inputs) {
  const std::int32_t rank = editor_.graph().lane(task).rank;
  const std::vector<std::int64_t> sizes = input_sizes(inputs);
  return std::none_of(sizes.begin(), sizes.end(), [&](std::int64_t size) {
    const auto found = last_.find({rank, size});
    return found != last_.end() && found->second == Origin::upcast;
  });
}

bool RecordedTypes::would_cast(TaskId task) {
  if (!in_half_) return true;
  const KernelDescription& kernel = editor_.about(task);
  const std::int32_t rank = editor_.graph().lane(task).rank;
  const OperatorInputs inputs = editor_.inputs_of(task);
  if (is_product(kernel.traits.kernel_class)) {
    const bool casts = is_fp32(kernel.traits.precision) && product_is_cast(task, inputs);
    if (kernel.amount.gemm) {
      const GemmShape& shape = *kernel.amount.gemm;
      last_[{rank, whole_number(shape.batch * shape.m * shape.n)}] =
          casts ? Origin::lowered : Origin::recorded;
    }
    return casts;
  }
  const std::vector<std::int64_t> sizes = input_sizes(inputs);
  if (sizes.empty()) return false;  // most of the recording is 16 bit, and nothing tells
  const Key key{rank, *std::max_element(sizes.begin(), sizes.end())};
  if (is_upcast(task)) {
    last_[key] = Origin::upcast;
    return false;
  }
  const auto found = last_.find(key);
  if (found == last_.end()) return false;
  const bool follows = is_fp32(kernel.traits.precision) && !kernel.traits.keeps_fp32;
  if (!follows) found->second = Origin::recorded;
  return found->second == Origin::lowered;
}

}  // namespace foretrace::editing
