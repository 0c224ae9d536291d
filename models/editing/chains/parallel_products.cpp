// Two neighbours could depend on each other only without anything between them, not even a bias.
#include "models/editing/chains/parallel_products.h"

#include <algorithm>

#include "models/editing/kernels/data_neighbours.h"
#include "models/editing/kernels/kernel_names.h"
#include "sim/core/text.h"
#include "sim/core/whole.h"

namespace foretrace::editing {
namespace {

bool candidate(const KernelEditor& editor, TaskId kernel) {
  const Phase phase = editor.graph().phase(kernel);
  return phase != Phase::backward && phase != Phase::update && is_linear(editor, kernel) &&
         !editor.about(kernel).shape_from_grid && editor.own_call(kernel) != none<TaskId>;
}

// Modules tell products of one layer from those of its neighbours. Without them a product whose
// result could be the next one's input is left alone.
bool joins(const KernelEditor& editor, TaskId last, TaskId next) {
  const GemmShape& a = *editor.about(last).amount.gemm;
  const GemmShape& b = *editor.about(next).amount.gemm;
  const TaskGraph& graph = editor.graph();
  if (a.m != b.m || a.k != b.k || graph.phase(last) != graph.phase(next)) return false;
  if (editor.about(last).traits.precision != editor.about(next).traits.precision) return false;
  const auto& layers = graph.context().layers;
  if (layers.size() <= 1) return a.n != b.k;
  const LayerId one = graph.layer(last);
  const LayerId other = graph.layer(next);
  // Siblings: two children of one module.
  return one != other && layers[index(one)].parent == layers[index(other)].parent;
}

}  // namespace

std::vector<ParallelProducts> find_parallel_products(const KernelEditor& editor) {
  std::vector<ParallelProducts> groups;
  std::vector<bool> taken(editor.graph().size(), false);
  for (const TaskId first : editor.kernels()) {
    if (taken[index(first)] || !candidate(editor, first)) continue;
    ParallelProducts group;
    group.kernels.push_back(first);
    for (TaskId next = data_after(editor.graph(), first);
         next != none<TaskId> && editor.graph().kind(next) == TaskKind::kernel &&
         candidate(editor, next);
         next = data_after(editor.graph(), next)) {
      if (!joins(editor, group.kernels.back(), next)) break;
      group.kernels.push_back(next);
    }
    if (group.kernels.size() < 2) continue;
    for (const TaskId kernel : group.kernels) taken[index(kernel)] = true;
    for (std::vector<TaskId>& kernels : editor.edit().cut(group.kernels)) {
      if (kernels.size() < 2) continue;
      ParallelProducts piece{std::move(kernels), *editor.about(first).amount.gemm};
      piece.merged.n = 0;
      for (const TaskId kernel : piece.kernels) {
        piece.merged.n += editor.about(kernel).amount.gemm->n;
      }
      groups.push_back(std::move(piece));
    }
  }
  return groups;
}

Result<Cost> merged_cost(const KernelEditor& editor, const ParallelProducts& group) {
  const Precision precision = editor.about(group.kernels.front()).traits.precision;
  if (editor.accelerator() == nullptr) return missing_cost("a merged product");
  double measured = 0;
  double parts = 0;
  for (const TaskId kernel : group.kernels) {
    measured += static_cast<double>(editor.graph().duration_ns(kernel));
    parts += gemm_ns(*editor.accelerator(), precision, *editor.about(kernel).amount.gemm);
  }
  const double merged = gemm_ns(*editor.accelerator(), precision, group.merged);
  if (!(parts > 0) || !(merged > 0)) return missing_cost("a merged product");
  const Spread spread = class_spread(KernelClass::gemm);
  return Cost{to_whole(measured * merged / parts), Provenance::scaled,
              static_cast<float>(spread.low), static_cast<float>(spread.high)};
}

KernelWork merged_work(const KernelEditor& editor, const ParallelProducts& group) {
  const TaskId first = group.kernels.front();
  return product_work(group.merged, editor.about(first).traits.precision,
                      contains(editor.operator_of(first), "addmm"));
}

}  // namespace foretrace::editing
