#include "models/whatifs/hardware/altered_device.h"

#include <vector>

#include <fmt/format.h>

#include "models/editing/kernels/kernel_names.h"
#include "models/hardware/costs/kernel_cost.h"

namespace foretrace::editing {
namespace {

bool is_within_device(const TaskGraph& graph, TaskId task) {
  return graph.kind(task) == TaskKind::kernel || graph.kind(task) == TaskKind::set ||
         is_copy_on_device(graph, task);
}

// 0: not recorded.
std::int64_t blocks_of(const Work& work) {
  std::int64_t blocks = 1;
  for (const std::int32_t size : work.grid) blocks *= size;
  return blocks;
}

}  // namespace

Result<AlteredTimes> run_on(Editor& editor, const Accelerator& from, const AlteredDevice& to) {
  const TaskGraph& graph = editor.graph();
  const auto works = describe_works(graph, &from);
  // Few blocks find a multiprocessor each, but share the smaller bandwidth.
  Accelerator roomy = from;
  roomy.memory_bandwidth = to.accelerator.memory_bandwidth;
  AlteredTimes times;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const auto task = make_id<TaskId>(i);
    if (!is_within_device(graph, task)) continue;
    const bool kernel = graph.kind(task) == TaskKind::kernel;
    const KernelDescription& works_of = works[index(graph.work_id(task))];
    const Precision precision = kernel ? works_of.traits.precision : Precision::unknown;
    const std::int64_t blocks = kernel ? blocks_of(graph.work(task)) : 0;
    const bool fits = blocks > 0 && blocks <= to.blocks_that_fit;
    const std::int64_t before = graph.duration_ns(task);
    const Cost cost = scaled_cost(before, works_of, {&from, precision},
                                  {fits ? &roomy : &to.accelerator, precision});
    times.before_ns += before;
    times.after_ns += cost.duration_ns;
    ++times.kernels;
    times.kept += cost.duration_ns == before ? 1 : 0;
    if (cost.duration_ns == before) continue;
    editor.set_duration(task, cost.duration_ns, {cost.provenance, cost.low, cost.high});
  }
  if (times.kernels == 0) {
    return Error{ErrorCode::no_match, "the trace has no kernel that the device runs"};
  }
  return times;
}

std::string to_text(const AlteredTimes& times) {
  return fmt::format(
      "{} kernels, copies and sets within the device {:.2f} ms -> {:.2f} ms, {} of "
      "them as before",
      times.kernels, static_cast<double>(times.before_ns) * 1e-6,
      static_cast<double>(times.after_ns) * 1e-6, times.kept);
}

}  // namespace foretrace::editing
