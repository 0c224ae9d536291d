// Runs of update-phase calls; zeroing of gradients is in the phase, but not in the formula.
#include "models/editing/kernels/update_phase.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "sim/core/text.h"
#include "sim/graph/links.h"

namespace foretrace::editing {
namespace {

// Bytes per fp32 parameter: gradient, parameter and states read, parameter and states written.
constexpr double adam_bytes = 16 + 12;
constexpr double momentum_bytes = 12 + 8;
constexpr double plain_bytes = 8 + 4;

class UpdateFinder {
 public:
  UpdateFinder(const TaskGraph& graph, const std::vector<KernelDescription>& kernels)
      : graph_(graph), kernels_(kernels) {}

  std::vector<Update> run() {
    for (TaskId task : first_on_lanes(graph_, LaneKind::host_thread)) {
      for (; task != none<TaskId>; task = next_on_lane(graph_, task)) visit(task);
      close();
    }
    return std::move(updates_);
  }

 private:
  // The only kernel of a launch that the fused update replaces; none if the call stays.
  [[nodiscard]] TaskId replaced_kernel(TaskId call) const {
    if (!is_plain_launch(graph_, call)) return none<TaskId>;
    const TaskId kernel = launched_by(graph_, call).only();
    if (kernel == none<TaskId> || graph_.kind(kernel) != TaskKind::kernel) return none<TaskId>;
    const KernelClass kernel_class = kernels_[index(graph_.work_id(kernel))].traits.kernel_class;
    if (kernel_class != KernelClass::elementwise) return none<TaskId>;
    const std::string_view op = graph_.names()[graph_.work(kernel).operator_name];
    const bool zeroes = contains(op, "fill_") || contains(op, "zero_") ||
                        contains(graph_.name(kernel), "FillFunctor");
    return zeroes ? none<TaskId> : kernel;
  }

  void visit(TaskId task) {
    if (graph_.kind(task) == TaskKind::mark) return close();
    if (graph_.phase(task) != Phase::update || blocks(graph_, task)) return close();
    const TaskId kernel = replaced_kernel(task);
    if (kernel == none<TaskId>) return;
    const LaneId stream = graph_.lane_id(kernel);
    if (!open_.calls.empty() && open_.stream != stream) close();
    open_.stream = stream;
    open_.calls.push_back(task);
    open_.device_ns += graph_.duration_ns(kernel);
  }

  void close() {
    if (open_.calls.size() > 1) {
      count_tensors();
      updates_.push_back(std::move(open_));
    }
    open_ = {};
  }

  // An operator that runs once per tensor is the rarest of those that make up the formula.
  void count_tensors() {
    struct Seen {
      std::size_t calls = 0;
      double numbers = 0;
      bool shapes = true;
    };
    std::map<std::string_view, Seen> operators;
    bool adam = false;
    bool momentum = false;
    for (const TaskId call : open_.calls) {
      const TaskId kernel = launched_by(graph_, call).front();
      const std::string_view op = graph_.names()[graph_.work(kernel).operator_name];
      const WorkAmount& amount = kernels_[index(graph_.work_id(kernel))].amount;
      Seen& seen = operators[op];
      ++seen.calls;
      seen.shapes = seen.shapes && amount.output > 0;
      seen.numbers += std::max(0.0, amount.output);
      adam = adam || contains(op, "addcdiv") || contains(op, "sqrt");
      momentum = momentum || contains(op, "mul_");
    }
    const std::size_t enough = std::max<std::size_t>(1, open_.calls.size() / 10);
    const Seen* rarest = nullptr;
    for (const auto& [op, seen] : operators) {
      if (seen.calls < enough) continue;
      if (rarest == nullptr || seen.calls < rarest->calls) rarest = &seen;
    }
    if (rarest != nullptr) {
      open_.tensors = rarest->calls;
      open_.parameters = rarest->shapes ? rarest->numbers : 0;
    }
    open_.bytes_per_parameter = adam ? adam_bytes : momentum ? momentum_bytes : plain_bytes;
  }

  const TaskGraph& graph_;
  const std::vector<KernelDescription>& kernels_;
  Update open_;
  std::vector<Update> updates_;
};

}  // namespace

std::vector<Update> find_updates(const TaskGraph& graph,
                                 const std::vector<KernelDescription>& kernels) {
  return UpdateFinder(graph, kernels).run();
}

}  // namespace foretrace::editing
