#include "models/editing/batches/copy_resize.h"

#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "models/editing/kernels/kernel_names.h"
#include "sim/core/text.h"

namespace foretrace::editing {
namespace {

// Less is scalars and flags: a copy of 256 bytes takes as long as one of 4.
constexpr std::int64_t least_bytes = 256;

bool is_from_host(const TaskGraph& graph, TaskId copy) {
  return graph.kind(copy) == TaskKind::copy &&
         contains_any(graph.name(copy), {"HtoD", "HostToDevice", "Host To Device"});
}

/// Of a rank and a step its first forward kernel: inputs are there before it.
class FirstKernels {
 public:
  explicit FirstKernels(const KernelEditor& editor) : graph_(editor.graph()) {
    for (const TaskId kernel : editor.kernels()) {
      if (graph_.phase(kernel) == Phase::forward) first_.emplace(key_of(kernel), kernel);
    }
  }
  [[nodiscard]] bool is_before(TaskId task) const {
    const auto found = first_.find(key_of(task));
    return found != first_.end() && task < found->second;
  }

 private:
  using Key = std::pair<std::int32_t, std::int32_t>;
  [[nodiscard]] Key key_of(TaskId task) const {
    return {graph_.lane(task).rank, graph_.step(task)};
  }
  const TaskGraph& graph_;
  std::map<Key, TaskId> first_;
};

Growth growth_of(const KernelEditor& editor, const BatchResizer& resizer,
                 const FirstKernels& forward, TaskId copy) {
  const TaskGraph& graph = editor.graph();
  const std::int64_t bytes = graph.work(copy).bytes;
  const bool is_copy = graph.kind(copy) == TaskKind::copy;
  if (is_copy && graph.phase(copy) == Phase::data_loading) return Growth::grows;
  if (bytes >= 0 && bytes < least_bytes) return Growth::fixed;
  const bool from_host = is_from_host(graph, copy);
  const auto holds_batch = resizer.holds_batch(copy, bytes, from_host ? 1 : 2);
  if (holds_batch) return *holds_batch ? Growth::grows : Growth::fixed;
  return from_host && forward.is_before(copy) ? Growth::grows : Growth::assumed;
}

}  // namespace

std::string ResizedCopies::text() const {
  if (count == 0) return {};
  return fmt::format("; {} copies and sets {:.2f} ms -> {:.2f} ms", count, to_ms(before_ns),
                     to_ms(after_ns));
}

ResizedCopies resize_copies(KernelEditor& editor, const BatchResizer& resizer,
                            const std::function<double(TaskId)>& factor, GrowthTimes& time) {
  const TaskGraph& graph = editor.graph();
  const FirstKernels forward(editor);
  ResizedCopies resized;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const auto task = make_id<TaskId>(i);
    const bool is_set = graph.kind(task) == TaskKind::set;
    if (graph.kind(task) != TaskKind::copy && !is_set) continue;
    const Phase phase = graph.phase(task);
    if (phase == Phase::update || phase == Phase::communication) continue;
    const Growth growth = growth_of(editor, resizer, forward, task);
    const std::int64_t before = graph.duration_ns(task);
    time.add(growth, before);
    if (growth == Growth::fixed) continue;
    Cost cost = moved_share(before, KernelClass::copy, factor(task));
    if (growth == Growth::assumed) cost = or_unchanged(cost, before);
    editor.edit().set_duration(task, cost.duration_ns, {cost.provenance, cost.low, cost.high});
    if (cost.duration_ns == before) continue;
    ++resized.count;
    resized.before_ns += before;
    resized.after_ns += cost.duration_ns;
    if (is_set || is_copy_on_device(graph, task)) {
      resized.more_on_device_ns += cost.duration_ns - before;
    }
  }
  return resized;
}

}  // namespace foretrace::editing
