// Memory is asked for in the host time before the launch of the kernel that writes it.
#include "models/editing/tensors/tensor_makers.h"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <numeric>
#include <span>
#include <string_view>
#include <utility>

#include "models/editing/kernels/data_neighbours.h"
#include "models/editing/kernels/precision_choice.h"
#include "sim/core/text.h"
#include "sim/graph/links.h"

namespace foretrace::editing {
namespace {

// Host tasks after an allocation among which its kernel is launched: events, queries and helper
// kernels of a library come first.
constexpr int farthest = 24;

/// Kernels by the call that launches them, found once: tensors look at the same calls many times.
class LaunchedKernels {
 public:
  explicit LaunchedKernels(const TaskGraph& graph) : first_(graph.size() + 1, 0) {
    std::vector<std::pair<TaskId, TaskId>> launches;  // call, kernel
    for (std::size_t i = 0; i < graph.size(); ++i) {
      const auto kernel = make_id<TaskId>(i);
      if (graph.kind(kernel) != TaskKind::kernel || moves_nothing(graph, kernel)) continue;
      const TaskId call = launch_of(graph, kernel);
      if (call == none<TaskId>) continue;
      launches.emplace_back(call, kernel);
      ++first_[index(call) + 1];
    }
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    kernels_.resize(launches.size());
    std::vector<std::uint32_t> next(first_.begin(), first_.end() - 1);
    for (const auto& [call, kernel] : launches) kernels_[next[index(call)]++] = kernel;
  }
  [[nodiscard]] std::span<const TaskId> of(TaskId call) const {
    return std::span(kernels_).subspan(first_[index(call)],
                                       first_[index(call) + 1] - first_[index(call)]);
  }

 private:
  std::vector<std::uint32_t> first_;
  std::vector<TaskId> kernels_{};
};

// Library calls launch helpers before and after the product.
TaskId maker_of(const KernelEditor& editor, const LaunchedKernels& launched, const Tensor& tensor) {
  const NameId owner = tensor.operator_name;
  TaskId first = none<TaskId>;
  TaskId nested = none<TaskId>;
  TaskId task = tensor.allocated_in;
  for (int i = 0; i < farthest && task != none<TaskId>;
       ++i, task = next_on_lane(editor.graph(), task)) {
    if (i > 0 && task == tensor.freed_in && first != none<TaskId>) break;
    for (const TaskId kernel : launched.of(task)) {
      if (editor.graph().work(kernel).operator_name != owner) {
        if (first != none<TaskId>) return first;
        if (nested == none<TaskId>) nested = kernel;
        continue;
      }
      if (is_product(editor.class_of(kernel))) return kernel;
      if (first == none<TaskId>) first = kernel;
    }
  }
  return first != none<TaskId> ? first : nested;
}

// The group is what one call of an operator asks for.
void mark_group(const TaskGraph& graph, const std::vector<std::size_t>& group,
                std::vector<bool>& side) {
  const std::vector<Tensor>& tensors = graph.context().tensors;
  const std::string_view op = graph.names()[tensors[group.front()].operator_name];
  const auto less = [&](std::size_t a, std::size_t b) {
    return tensors[a].bytes < tensors[b].bytes;
  };
  if (contains_any(op, {"arange", "randperm", "nonzero", "argmax", "argmin"})) {
    for (const std::size_t tensor : group) side[tensor] = true;
    return;
  }
  if (group.size() < 2) return;
  const auto largest = *std::max_element(group.begin(), group.end(), less);
  // Indices have eight bytes, flags one.
  const bool pooling = contains_any(op, {"max_pool", "topk", "sort"});
  if (!pooling && !contains_any(op, {"norm", "dropout"})) return;
  for (const std::size_t tensor : group) {
    const bool is_largest = tensors[tensor].bytes == tensors[largest].bytes;
    if (is_largest == pooling) side[tensor] = true;
  }
}

}  // namespace

std::vector<TaskId> find_makers(const KernelEditor& editor) {
  const LaunchedKernels launched(editor.graph());
  std::vector<TaskId> makers;
  for (const Tensor& tensor : editor.graph().context().tensors) {
    makers.push_back(tensor.allocated_in == none<TaskId> ? none<TaskId>
                                                         : maker_of(editor, launched, tensor));
  }
  return makers;
}

bool is_result(TensorCategory category) {
  return category == TensorCategory::activation || category == TensorCategory::temporary ||
         category == TensorCategory::activation_gradient;
}

std::vector<bool> find_side_results(const TaskGraph& graph) {
  const std::vector<Tensor>& tensors = graph.context().tensors;
  std::vector<bool> side(tensors.size(), false);
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].allocated_in != none<TaskId> && is_result(tensors[i].category))
      order.push_back(i);
  }
  // Host program order; at most a few calls of one operator lie between two tasks.
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return tensors[a].allocated_in < tensors[b].allocated_in;
  });
  std::vector<std::size_t> group;
  for (std::size_t begin = 0; begin < order.size();) {
    group.clear();
    const Tensor& first = tensors[order[begin]];
    while (begin < order.size() && tensors[order[begin]].allocated_in == first.allocated_in &&
           tensors[order[begin]].operator_name == first.operator_name) {
      group.push_back(order[begin++]);
    }
    mark_group(graph, group, side);
  }
  return side;
}

}  // namespace foretrace::editing
