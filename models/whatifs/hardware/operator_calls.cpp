#include "models/whatifs/hardware/operator_calls.h"

#include <algorithm>

namespace foretrace {
namespace {

bool is_of_call(const editing::KernelEditor& editor, std::span<const TaskId> call, TaskId kernel) {
  const TaskGraph& graph = editor.graph();
  const Work& first = graph.work(call.front());
  const Work& next = graph.work(kernel);
  const bool same = first.operator_name == next.operator_name && first.shapes == next.shapes &&
                    first.types == next.types && graph.layer(call.front()) == graph.layer(kernel) &&
                    in_one_pass(graph, call.front(), kernel);
  if (!same || editor.operator_of(kernel).empty()) return false;
  const bool is_second = multiplies(editor.class_of(kernel));
  return std::none_of(call.begin(), call.end(), [&](TaskId member) {
    return graph.work(member).name == next.name ||
           (is_second && multiplies(editor.class_of(member)));
  });
}

}  // namespace

std::string_view operator_or_kernel(const editing::KernelEditor& editor, TaskId kernel) {
  const std::string_view op = editor.operator_of(kernel);
  return op.empty() ? std::string_view(editor.graph().name(kernel)) : op;
}

bool multiplies(KernelClass kernel_class) {
  return kernel_class == KernelClass::gemm || kernel_class == KernelClass::convolution ||
         kernel_class == KernelClass::attention;
}

bool in_one_pass(const TaskGraph& graph, TaskId a, TaskId b) {
  return graph.step(a) == graph.step(b) && graph.phase(a) == graph.phase(b);
}

std::vector<OperatorCall> operator_calls(const editing::KernelEditor& editor,
                                         std::span<const TaskId> work) {
  const TaskGraph& graph = editor.graph();
  std::vector<OperatorCall> calls;
  for (std::size_t at = 0; at < work.size();) {
    OperatorCall call{.kernels = work.subspan(at, 1), .name = {}, .main = work[at]};
    const auto is_kernel = [&](std::size_t i) { return graph.kind(work[i]) == TaskKind::kernel; };
    if (is_kernel(at)) {
      call.name = operator_or_kernel(editor, work[at]);
      std::size_t end = at + 1;
      while (end < work.size() && is_kernel(end) && is_of_call(editor, call.kernels, work[end])) {
        call.kernels = work.subspan(at, ++end - at);
      }
      const auto main = std::find_if(call.kernels.begin(), call.kernels.end(), [&](TaskId kernel) {
        return multiplies(editor.class_of(kernel));
      });
      if (main != call.kernels.end()) call.main = *main;
    }
    at += call.kernels.size();
    calls.push_back(call);
  }
  return calls;
}

}  // namespace foretrace
