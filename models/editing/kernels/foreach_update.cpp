#include "models/editing/kernels/foreach_update.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "models/hardware/costs/kernel_cost.h"
#include "sim/core/statistics.h"
#include "sim/core/text.h"
#include "sim/core/whole.h"
#include "sim/graph/links.h"

namespace foretrace::editing {
namespace {

// Tensors that a launch takes by the lists it goes over: depth_to_max_tensors of PyTorch's
// aten/src/ATen/native/cuda/MultiTensorApply.cuh.
constexpr std::array<double, 5> tensors_per_launch = {0, 110, 64, 48, 36};

/// What a fused kernel of each kind of optimizer goes over, and how many numbers it reads and
/// writes per parameter.
struct Fused {
  std::size_t lists = 0;
  double numbers = 0;
};
// Gradient, parameter, two states: all but the gradient are written, too.
constexpr Fused fused_adam = {4, 7};
constexpr Fused fused_momentum = {3, 5};  // one state
constexpr Fused fused_plain = {2, 3};

// The number at the third place of "Functor<float, 3, 2, 2>"; 0 if there is none.
std::size_t argument(std::string_view list, std::size_t place) {
  for (; place > 0; --place) {
    const std::size_t comma = list.find(',');
    if (comma == std::string_view::npos) return 0;
    list.remove_prefix(comma + 1);
  }
  const std::size_t digit = list.find_first_not_of(' ');
  if (digit == std::string_view::npos || list[digit] < '0' || list[digit] > '9') return 0;
  return static_cast<std::size_t>(list[digit] - '0');
}

class ForeachFinder {
 public:
  explicit ForeachFinder(const TaskGraph& graph)
      : graph_(graph), passes_(graph.context().works.size()), known_(passes_.size(), false) {}

  std::vector<ForeachUpdate> run() {
    for (TaskId task : first_on_lanes(graph_, LaneKind::host_thread)) {
      for (; task != none<TaskId>; task = next_on_lane(graph_, task)) visit(task);
      close();
    }
    return std::move(updates_);
  }

 private:
  const ForeachPass& pass_of(TaskId kernel) {
    const std::size_t work = index(graph_.work_id(kernel));
    if (!known_[work]) passes_[work] = foreach_pass(graph_.name(kernel));
    known_[work] = true;
    return passes_[work];
  }

  void visit(TaskId task) {
    if (graph_.kind(task) == TaskKind::mark) return close();
    if (graph_.phase(task) != Phase::update || blocks(graph_, task)) return close();
    const TaskId kernel =
        is_plain_launch(graph_, task) ? launched_by(graph_, task).only() : none<TaskId>;
    if (kernel == none<TaskId> || graph_.kind(kernel) != TaskKind::kernel ||
        pass_of(kernel).lists == 0) {
      return;
    }
    if (!kernels_.empty() && graph_.lane_id(kernels_.back()) != graph_.lane_id(kernel)) close();
    open_.calls.push_back(task);
    kernels_.push_back(kernel);
  }

  void close() {
    if (!kernels_.empty()) measure();
    open_ = {};
    kernels_.clear();
  }

  void measure() {
    struct Pass {
      double ns = 0;
      std::size_t launches = 0;
      ForeachPass of;
    };
    std::map<std::string_view, Pass> by_name;  // grids differ between launches of one operator
    bool has_root = false;
    bool has_product = false;
    for (const TaskId kernel : kernels_) {
      const std::string_view name = graph_.name(kernel);
      Pass& pass = by_name[name];
      pass.ns += static_cast<double>(graph_.duration_ns(kernel));
      ++pass.launches;
      pass.of = pass_of(kernel);
      open_.device_ns += graph_.duration_ns(kernel);
      has_root = has_root || contains_any(name, {"Sqrt", "PointwiseOp"});
      has_product = has_product || contains(name, "multiplies");
    }
    open_.passes = by_name.size();
    if (open_.passes < 2) return;
    const Fused fused = has_root ? fused_adam : has_product ? fused_momentum : fused_plain;
    std::vector<double> pace;     // ns to move one number of every tensor
    std::vector<double> tensors;  // as many as each operator's launches take
    for (const auto& [name, pass] : by_name) {
      pace.push_back(pass.ns / static_cast<double>(pass.of.read + 1));
      // The last launch of an operator is half full on average.
      tensors.push_back((static_cast<double>(pass.launches) - 0.5) *
                        tensors_per_launch[std::min<std::size_t>(pass.of.lists, 4)]);
    }
    // Operators that run twice, and those on step counters, are not the middle one.
    const double launches =
        std::max(1.0, std::ceil(lower_median(tensors) / tensors_per_launch[fused.lists]));
    open_.launches = std::min(static_cast<std::size_t>(launches), kernels_.size());
    const double ns = lower_median(pace) * fused.numbers;
    open_.fused_ns = std::min(to_whole(ns), open_.device_ns);
    if (open_.launches < kernels_.size()) updates_.push_back(std::move(open_));
  }

  const TaskGraph& graph_;
  std::vector<ForeachPass> passes_;  // by work
  std::vector<bool> known_;
  ForeachUpdate open_;
  std::vector<TaskId> kernels_;
  std::vector<ForeachUpdate> updates_;
};

}  // namespace

ForeachPass foreach_pass(std::string_view kernel_name) {
  if (!contains(kernel_name, "multi_tensor_apply_kernel") ||
      contains_any(kernel_name, {"Adam", "Sgd", "SGD", "LAMB", "Lamb", "Novograd", "Adagrad"})) {
    return {};
  }
  const std::size_t functor = kernel_name.find("Functor<");
  if (functor == std::string_view::npos) return {};
  std::string_view list = kernel_name.substr(functor + 8);
  list = list.substr(0, list.find('>'));
  const ForeachPass pass{argument(list, 1), argument(list, 2)};
  return pass.lists > 0 && pass.read > 0 ? pass : ForeachPass{};
}

std::vector<ForeachUpdate> find_foreach_updates(const TaskGraph& graph) {
  return ForeachFinder(graph).run();
}

}  // namespace foretrace::editing
