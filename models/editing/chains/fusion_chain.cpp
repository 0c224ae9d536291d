// What may follow what in a fused kernel, and its bytes.
#include "models/editing/chains/fusion_chain.h"

#include <algorithm>
#include <cmath>

#include "models/editing/kernels/data_neighbours.h"
#include "sim/core/text.h"
#include "sim/core/whole.h"

namespace foretrace::editing {
namespace {

// Pointwise: every output number depends on inputs at its own place.
bool is_pointwise(const TaskGraph& graph, TaskId kernel, KernelClass kernel_class) {
  if (kernel_class == KernelClass::elementwise) return !contains(graph.name(kernel), "pool");
  // Casts and copies of views are pointwise kernels too; layout changes of cuDNN are not.
  return kernel_class == KernelClass::copy && contains(graph.name(kernel), "elementwise");
}

bool reduces(KernelClass kernel_class) {
  return kernel_class == KernelClass::normalization || kernel_class == KernelClass::softmax ||
         kernel_class == KernelClass::reduction;
}

class ChainFinder {
 public:
  ChainFinder(const KernelEditor& editor, const std::vector<bool>& selected,
              const FusionSettings& settings)
      : editor_(editor), graph_(editor.graph()), selected_(selected), settings_(settings) {}

  std::vector<FusionChain> run() {
    for (TaskId task : first_on_lanes(graph_, LaneKind::host_thread)) {
      for (; task != none<TaskId>; task = next_on_lane(graph_, task)) visit(task);
      close();
    }
    return std::move(chains_);
  }

 private:
  [[nodiscard]] TaskId fusable_kernel(TaskId call) const {
    if (!is_plain_launch(graph_, call)) return none<TaskId>;
    const TaskId kernel = launched_by(graph_, call).only();
    if (kernel == none<TaskId> || graph_.kind(kernel) != TaskKind::kernel) return none<TaskId>;
    if (!selected_[index(kernel)]) return none<TaskId>;
    const KernelClass kernel_class = editor_.class_of(kernel);
    const bool fits = is_pointwise(graph_, kernel, kernel_class) || reduces(kernel_class);
    return fits ? kernel : none<TaskId>;
  }

  // True if the kernel can join the open chain.
  [[nodiscard]] bool joins(TaskId call, TaskId kernel) const {
    if (open_.kernels.empty() || open_.kernels.size() >= settings_.max_length) return false;
    const TaskId last = open_.kernels.back();
    if (data_before(graph_, kernel) != last || graph_.phase(kernel) != graph_.phase(last) ||
        graph_.segment_ns(call) > settings_.max_segment_ns || hands_over(graph_, call)) {
      return false;
    }
    if (reduces(editor_.class_of(kernel)) && has_reduction_) return false;
    const double size = editor_.about(kernel).amount.output;
    const double last_size = editor_.about(last).amount.output;
    if (size <= 0 || last_size <= 0) return true;  // shapes not recorded
    return std::abs(size - last_size) <= 0.01 * std::max(size, last_size);
  }

  void visit(TaskId call) {
    if (launches_what_moves_nothing(graph_, call)) return;
    const TaskId kernel = fusable_kernel(call);
    if (kernel == none<TaskId> || !joins(call, kernel)) close();
    if (kernel == none<TaskId>) return;
    open_.calls.push_back(call);
    open_.kernels.push_back(kernel);
    has_reduction_ = has_reduction_ || reduces(editor_.class_of(kernel));
  }

  void close() {
    if (open_.kernels.size() > 1) {
      for (FusionChain& piece : cut(editor_, open_)) chains_.push_back(std::move(piece));
    }
    open_ = {};
    has_reduction_ = false;
  }

  const KernelEditor& editor_;
  const TaskGraph& graph_;
  const std::vector<bool>& selected_;
  const FusionSettings& settings_;
  FusionChain open_;
  bool has_reduction_ = false;
  std::vector<FusionChain> chains_;
};

// Part of a kernel's bytes that one pass over the chained tensor makes up.
double pass_share(const KernelDescription& kernel, double side_inputs) {
  if (kernel.amount.numbers > 0 && kernel.amount.output > 0) {
    return std::min(0.5, kernel.amount.output / kernel.amount.numbers);
  }
  return 1 / (2 + side_inputs);  // one read, one write, and the other inputs
}

}  // namespace

std::vector<FusionChain> find_chains(const KernelEditor& editor, const std::vector<bool>& selected,
                                     const FusionSettings& settings) {
  return ChainFinder(editor, selected, settings).run();
}

std::vector<FusionChain> cut(const KernelEditor& editor, const FusionChain& chain) {
  std::vector<FusionChain> pieces;
  for (std::vector<TaskId>& kernels : editor.edit().cut(chain.kernels)) {
    if (kernels.size() < 2) continue;
    FusionChain piece;
    for (const TaskId kernel : kernels) piece.calls.push_back(launch_of(editor.graph(), kernel));
    piece.kernels = std::move(kernels);
    pieces.push_back(std::move(piece));
  }
  return pieces;
}

std::int64_t fused_ns(const KernelEditor& editor, const FusionChain& chain,
                      const FusionSettings& settings) {
  double moving = 0;
  double ramp_up = 0;
  double saved = 0;
  double last_pass = 0;
  for (std::size_t i = 0; i < chain.kernels.size(); ++i) {
    const KernelDescription& kernel = editor.about(chain.kernels[i]);
    const auto duration = static_cast<double>(editor.graph().duration_ns(chain.kernels[i]));
    const double fixed = std::min(duration, shortest_kernel_ns(kernel.traits.kernel_class));
    const double pass = (duration - fixed) * pass_share(kernel, settings.side_inputs);
    ramp_up = std::max(ramp_up, fixed);
    moving += duration - fixed;
    // What passes on is the smaller of both: a large kernel next to a small one has other tensors.
    if (i > 0) {
      saved += std::min(pass, last_pass) * (2 - settings.kept_writes + settings.recomputed);
    }
    last_pass = pass;
  }
  return to_whole(ramp_up + std::max(0.0, moving - saved));
}

}  // namespace foretrace::editing
