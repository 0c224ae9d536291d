// Memory is asked for in the host time before the launch of the kernel that writes it.
#include "models/editing/tensors/tensor_makers.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "models/editing/kernels/precision_choice.h"
#include "sim/core/text.h"
#include "sim/graph/links.h"

namespace foretrace::editing {
namespace {

// Host tasks after an allocation among which its kernel is launched: events, queries and helper
// kernels of a library come first.
constexpr int farthest = 24;

// Library calls launch helpers before and after the product.
TaskId maker_of(const KernelEditor& editor, const Tensor& tensor) {
  const NameId owner = tensor.operator_name;
  TaskId first = none<TaskId>;
  TaskId nested = none<TaskId>;
  TaskId task = tensor.allocated_in;
  for (int i = 0; i < farthest && task != none<TaskId>;
       ++i, task = next_on_lane(editor.graph(), task)) {
    if (i > 0 && task == tensor.freed_in && first != none<TaskId>) break;
    for (const TaskId kernel : launched_by(editor.graph(), task)) {
      if (editor.graph().kind(kernel) != TaskKind::kernel) continue;
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
  std::vector<TaskId> makers;
  for (const Tensor& tensor : editor.graph().context().tensors) {
    makers.push_back(tensor.allocated_in == none<TaskId> ? none<TaskId> : maker_of(editor, tensor));
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
  for (std::size_t begin = 0; begin < order.size();) {
    std::vector<std::size_t> group;
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
