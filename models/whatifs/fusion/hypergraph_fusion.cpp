// HyperGef: the two steps of hypergraph message passing become one kernel.
//
//   before   [vertices -> hyperedges: SpMM][hyperedges -> vertices: SpMM]
//   after    [vertices -> vertices, hyperedge by hyperedge]
//   Neighbouring sparse products fuse; the hyperedges' features are neither written nor read.
//
// memory    features of hyperedges are not stored.
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "models/editing/kernels/data_neighbours.h"
#include "models/editing/kernels/kernel_editor.h"
#include "models/hardware/costs/operator_shapes.h"
#include "models/whatifs/what_if.h"
#include "sim/core/text.h"

namespace foretrace::hypergraph_fusion_parts {
namespace {

constexpr ParamInfo edges_param = {.name = "edges",
                                   .unit = "1",
                                   .default_text = "1",
                                   .doc = "Hyperedges per vertex.",
                                   .minimum = 0,
                                   .maximum = 1000000.0};
constexpr ParamInfo imbalance_param = {
    .name = "imbalance",
    .unit = "x",
    .default_text = "1.3",
    .doc = "Time of the slowest partition / mean, with conflicts of atomic additions.",
    .minimum = 1,
    .maximum = 100,
    .optimistic = "1",
    .pessimistic = "2"};

bool is_sparse_product(const editing::KernelEditor& editor, TaskId kernel) {
  return contains_any(editor.graph().name(kernel), {"spmm", "SpMM", "csrmm", "Spmm"}) ||
         contains_any(editor.operator_of(kernel), {"_sparse_mm", "spmm"});
}

// Two products of one layer: the sparse matrix of the second is that of the first turned round, so
// that the second reads as many rows as the first writes. Kernels of one call have one shape.
bool are_one_layer(const editing::KernelEditor& editor, TaskId first, TaskId second) {
  const OperatorInputs a = editor.inputs_of(first);
  const OperatorInputs b = editor.inputs_of(second);
  if (a.tensors.empty() || b.tensors.empty()) return false;
  const Dims* const to_edges = a.shape(0);
  const Dims* const to_vertices = b.shape(0);
  return to_edges != nullptr && to_vertices != nullptr && to_edges->size() == 2 &&
         to_vertices->size() == 2 && (*to_edges)[0] == (*to_vertices)[1] &&
         (*to_edges)[1] == (*to_vertices)[0] && editor.own_call(first) != editor.own_call(second);
}

Result<Change> apply(const WhatIfInput& scenario, const ParamValues& params) {
  editing::KernelEditor editor(scenario);
  const double factor = params.number(imbalance_param) / (1 + params.number(edges_param));
  std::vector<bool> taken(scenario.graph.size(), false);
  std::size_t others = 0;
  for (const TaskId first : editor.kernels()) {
    const TaskId second = editing::data_after(editor.graph(), first);
    if (second == none<TaskId> || taken[index(first)] ||
        scenario.graph.kind(second) != TaskKind::kernel || !is_sparse_product(editor, first) ||
        !is_sparse_product(editor, second)) {
      continue;
    }
    if (!are_one_layer(editor, first, second)) {
      ++others;
      continue;
    }
    const std::int64_t both =
        scenario.graph.duration_ns(first) + scenario.graph.duration_ns(second);
    const std::array<TaskId, 2> pair = {first, second};
    const TaskId put =
        editor.replace(pair, {"fused message passing", editing::fused_work(editor, pair),
                              editing::moved_share(both, KernelClass::gather, factor)});
    taken[index(second)] = put != none<TaskId>;
  }
  if (editor.untouched()) {
    return Error{
        ErrorCode::no_match,
        others == 0 ? std::string("no two sparse products next to each other on a stream")
                    : fmt::format("{} pairs of sparse products stand next to each other, but their "
                                  "recorded shapes do not show that the second goes back from "
                                  "hyperedges to vertices",
                                  others)};
  }
  return editor.finish(fmt::format("{} layers: {}", editor.sums().removed / 2, editor.sums_text()));
}

constexpr std::array<std::string_view, 3> assumptions = {
    "Both products move vertex features and hyperedge features once each: without "
    "the latter 2 V of 2 V + 2 E rows are left.",
    "The work per partition is uneven by `imbalance`, atomic additions included.",
    "Two sparse products next to each other on a stream whose sparse matrices have transposed "
    "sizes are one layer."};
constexpr std::array<std::string_view, 2> ignores = {
    "partitioning of the hypergraph",
    "backward through the fused kernel, if its products do not stand next to each "
    "other"};
constexpr std::array params = {edges_param, imbalance_param};

}  // namespace

extern constexpr WhatIfInfo info = {
    .name = "hypergraph_fusion",
    .summary = "Fuse the two sparse products of a hypergraph layer.",
    .paper =
        "Z. Yu, G. Dai, S. Yang et al., HyperGef: A Framework Enabling Efficient Fusion "
        "for Hypergraph Neural Network on GPUs, MLSys 2023",
    .recipe =
        "Each pair of neighbouring sparse products on a stream is replaced by one "
        "launch and one kernel that takes imbalance / (1 + edges) of their time beyond "
        "the ramp-up, for `edges` hyperedges per vertex.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate = "imbalance: slowest partition / mean; edges: hyperedges / vertices of the data.",
    .identity = {.none_because = "the two products of a hypergraph convolution become one kernel"},
    .params = params,
    .apply = apply,
    .basis = Basis::formula};

}  // namespace foretrace::hypergraph_fusion_parts
