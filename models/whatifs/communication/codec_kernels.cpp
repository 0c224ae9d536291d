#include "models/whatifs/communication/codec_kernels.h"

#include <fmt/format.h>

#include "sim/graph/links.h"

namespace foretrace {

CodecKernels::CodecKernels(editing::KernelEditor& editor,
                           const std::vector<editing::Transfer>& transfers)
    : editor_(editor) {
  for (const editing::Transfer& transfer : transfers) user_[transfer.task] = none<TaskId>;
  for (const TaskId kernel : editor.kernels()) {
    for (const Link& dependency : sources(editor.graph(), kernel)) {
      const auto found = user_.find(task_of(dependency.source));
      if (dependency.kind == DependencyKind::event_wait && found != user_.end() &&
          found->second == none<TaskId>) {
        found->second = kernel;
      }
    }
  }
}

TaskId CodecKernels::maker(TaskId arrival) const {
  TaskId latest = none<TaskId>;
  for (const Link& dependency : sources(editor_.graph(), arrival)) {
    const TaskId source = task_of(dependency.source);
    if (dependency.kind == DependencyKind::event_wait &&
        editor_.graph().kind(source) == TaskKind::kernel &&
        (latest == none<TaskId> || source > latest)) {
      latest = source;
    }
  }
  return latest;
}

Status CodecKernels::encode(const editing::Transfer& transfer, double bytes,
                            std::string_view name) {
  const TaskId arrival =
      transfer.met ? previous_on_lane(editor_.graph(), transfer.task) : transfer.task;
  const TaskId from = maker(arrival);
  if (from == none<TaskId> || editor_.own_call(from) == none<TaskId>) return ok_status();
  FORETRACE_TRY(auto cost, editor_.moving_cost(bytes, KernelClass::elementwise));
  const TaskId encode =
      editor_.add(from, Place::after,
                  {name, editing::moving_work(bytes / 8, bytes / 8, Precision::fp32), cost});
  editor_.edit().depend(arrival, encode, DependencyKind::event_wait);
  ns_ += cost.duration_ns;
  ++encoders_;
  return ok_status();
}

Status CodecKernels::decode(const editing::Transfer& transfer, double bytes,
                            std::string_view name) {
  const TaskId to = user_.at(transfer.task);
  if (to == none<TaskId> || editor_.own_call(to) == none<TaskId>) return ok_status();
  FORETRACE_TRY(auto cost, editor_.moving_cost(bytes, KernelClass::elementwise));
  // It waits for the transfer, as the kernel behind it does.
  editor_.add(to, Place::before,
              {name, editing::moving_work(bytes / 8, bytes / 8, Precision::fp32), cost});
  ns_ += cost.duration_ns;
  ++decoders_;
  return ok_status();
}

double transferred_bytes(const TaskGraph& graph, TaskId transfer, std::int64_t moving_ns,
                         double link_bandwidth) {
  const std::int64_t recorded = graph.work(transfer).bytes;
  return recorded >= 0 ? static_cast<double>(recorded)
                       : static_cast<double>(moving_ns) * 1e-9 * link_bandwidth;
}

std::string waiting_note(std::int64_t waited_ns) {
  if (waited_ns == 0) return {};
  return fmt::format(
      "; {:.2f} ms of these are waiting for ranks that are not recorded, by the shortest transfer "
      "of the same bytes, and stay",
      editing::to_ms(waited_ns));
}

}  // namespace foretrace
