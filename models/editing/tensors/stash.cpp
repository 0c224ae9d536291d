// Tensors tell exactly; shapes of operators tell what layers read.
#include "models/editing/tensors/stash.h"

#include <algorithm>
#include <string_view>

#include "models/editing/kernels/data_neighbours.h"

namespace foretrace::editing {
namespace {

// Calls of kernels in program order, with the index of the kernel.
struct Calls {
  std::vector<TaskId> call;
  std::vector<std::size_t> kernel;

  Calls(const KernelEditor& editor, const std::vector<TaskId>& kernels) {
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      const TaskId launcher = editor.own_call(kernels[i]);
      if (launcher == none<TaskId> || moves_nothing(editor.graph(), kernels[i])) continue;
      call.push_back(launcher);
      kernel.push_back(i);
    }
  }
  // Position of the first call that is not before `task`.
  [[nodiscard]] std::size_t from(TaskId task) const {
    return static_cast<std::size_t>(std::lower_bound(call.begin(), call.end(), task) -
                                    call.begin());
  }
};

std::vector<Stash> recorded(const KernelEditor& editor, const TrainingPass& pass,
                            double least_bytes) {
  const Calls forward(editor, pass.forward);
  const Calls backward(editor, pass.backward);
  std::vector<Stash> stashes;
  if (forward.call.empty() || backward.call.empty()) return stashes;
  const std::vector<Tensor>& tensors = editor.graph().context().tensors;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& tensor = tensors[i];
    if (static_cast<double>(tensor.bytes) < least_bytes || tensor.allocated_in == none<TaskId> ||
        tensor.freed_in == none<TaskId>) {
      continue;
    }
    // Allocated in the host time before the call that launches its first kernel; freed in the host
    // time after the call that launches its last one.
    const std::size_t made = forward.from(tensor.allocated_in);
    const std::size_t freed = backward.from(tensor.freed_in);
    if (made >= forward.call.size() || freed == 0) continue;
    if (made == 0 && tensor.allocated_in < forward.call.front()) continue;
    const std::size_t use = std::min(made + 1, forward.call.size() - 1);
    stashes.push_back({static_cast<double>(tensor.bytes), forward.kernel[made], forward.kernel[use],
                       pass.backward[backward.kernel[freed - 1]], i});
  }
  return stashes;
}

// The activation that a product or convolution reads; null for other operators.
const Dims* activation_of(std::string_view op, const OperatorInputs& inputs) {
  if (op.find("backward") != std::string_view::npos) return nullptr;
  if (op == "aten::addmm") return inputs.shape(1);
  if (op == "aten::mm" || op == "aten::bmm" || op == "aten::linear" ||
      op.find("convolution") != std::string_view::npos) {
    return inputs.shape(0);
  }
  return nullptr;
}

std::vector<Stash> by_shapes(const KernelEditor& editor, const TrainingPass& pass,
                             double least_bytes) {
  std::vector<Stash> stashes;
  for (std::size_t i = 0; i < pass.forward.size(); ++i) {
    const TaskId kernel = pass.forward[i];
    const KernelClass kernel_class = editor.class_of(kernel);
    if (kernel_class != KernelClass::gemm && kernel_class != KernelClass::convolution) continue;
    const OperatorInputs inputs = editor.inputs_of(kernel);
    const Dims* dims = activation_of(editor.operator_of(kernel), inputs);
    if (dims == nullptr) continue;
    double bytes = editor.number_bytes(kernel);
    for (const std::int64_t size : *dims) bytes *= static_cast<double>(size);
    if (bytes < least_bytes || bytes > 1e15) continue;
    const TaskId needed_by = mirror_of(editor, pass, i);
    if (needed_by == none<TaskId>) continue;
    stashes.push_back({bytes, i == 0 ? 0 : i - 1, i, needed_by});
  }
  return stashes;
}

}  // namespace

std::vector<Stash> find_stashes(const KernelEditor& editor, const TrainingPass& pass,
                                double least_bytes) {
  std::vector<Stash> stashes = editor.graph().context().tensors.empty()
                                   ? by_shapes(editor, pass, least_bytes)
                                   : recorded(editor, pass, least_bytes);
  std::stable_sort(stashes.begin(), stashes.end(),
                   [](const Stash& a, const Stash& b) { return a.made < b.made; });
  return stashes;
}

}  // namespace foretrace::editing
