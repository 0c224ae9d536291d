// MetaFlow's rules: products that share an input merge, epilogues take what follows a product.
//
//   before   [q = x Wq][k = x Wk][v = x Wv]      [convolution][batch norm][relu]
//   after    [q k v = x (Wq Wk Wv)     ]         [convolution               ]
//   merge: neighbouring products of the same input become one. fold: in inference, batch norm goes
//   into the weights. epilogue: ReLU, GELU and bias behind a product or convolution go into it.
//
// memory    intermediates between a product and its epilogue; batch norm's output in inference.
#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "models/editing/chains/fused_tensors.h"
#include "models/editing/chains/parallel_products.h"
#include "models/editing/kernels/data_neighbours.h"
#include "models/editing/kernels/kernel_names.h"
#include "models/whatifs/what_if.h"
#include "sim/edit/selection.h"

namespace foretrace::metaflow_rules_parts {
namespace {

constexpr ParamInfo select_param = {
    .name = "select",
    .type = ParamType::selection,
    .default_text = "kind=kernel",
    .doc = "Which kernels may go into others, or become one, e.g. 'layer~encoder'."};
constexpr ParamInfo merge_param = {.name = "merge",
                                   .type = ParamType::boolean,
                                   .default_text = "true",
                                   .doc = "Merge products of one input (needs the accelerator)."};
constexpr ParamInfo fold_param = {
    .name = "fold",
    .type = ParamType::boolean,
    .default_text = "true",
    .doc = "In inference, fold batch norm into the weights before it."};
constexpr ParamInfo epilogue_param = {
    .name = "epilogue",
    .type = ParamType::boolean,
    .default_text = "true",
    .doc = "Move activations and bias of forward into the product before them."};
constexpr ParamInfo kept_host_param = {
    .name = "kept_host",
    .unit = "1",
    .default_text = "0.1",
    .doc = "Share of the host time between merged launches that stays.",
    .minimum = 0,
    .maximum = 1,
    .optimistic = "0",
    .pessimistic = "0.3"};

class Rules {
 public:
  Rules(const WhatIfInput& scenario, const std::vector<TaskId>& selection)
      : editor_(scenario),
        selected_(scenario.graph.size(), false),
        used_(scenario.graph.size(), false) {
    for (const TaskId task : selection) selected_[index(task)] = true;
    const auto& phases = scenario.graph.columns().phase;
    training_ = std::find(phases.begin(), phases.end(), Phase::backward) != phases.end();
  }

  Status merge(double kept_host) {
    editor_.keep_host(kept_host);
    for (const auto& group : editing::find_parallel_products(editor_)) {
      if (!std::all_of(group.kernels.begin(), group.kernels.end(),
                       [this](TaskId kernel) { return selected_[index(kernel)]; })) {
        continue;
      }
      FORETRACE_TRY(auto cost, editing::merged_cost(editor_, group));
      std::int64_t sum = 0;
      for (const TaskId kernel : group.kernels) sum += editor_.graph().duration_ns(kernel);
      if (cost.duration_ns >= sum) continue;
      const auto work = editing::merged_work(editor_, group);
      if (editor_.replace(group.kernels, {"merged product", work, cost}) == none<TaskId>) continue;
      for (const TaskId kernel : group.kernels) used_[index(kernel)] = true;
      ++merged_;
    }
    return ok_status();
  }

  // Batch norm of inference is a scale and a shift per channel, which weights can hold.
  void fold() {
    if (training_) return;
    for (const TaskId kernel : editor_.kernels()) {
      if (!selected_[index(kernel)] || !editing::is_batch_norm(editor_, kernel) ||
          !follows_product(kernel))
        continue;
      absorb(kernel);
      ++folded_;
    }
  }

  void epilogues() {
    for (const TaskId kernel : editor_.kernels()) {
      if (!selected_[index(kernel)] || used_[index(kernel)] ||
          editor_.graph().phase(kernel) == Phase::backward ||
          editor_.graph().phase(kernel) == Phase::update) {
        continue;
      }
      if (!is_epilogue(kernel) || !follows_product(kernel)) continue;
      absorb(kernel);
      ++epilogues_;
    }
  }

  Result<Change> finish(bool has_rule) {
    if (!has_rule) return editor_.finish("no rule is on");
    if (editor_.untouched()) {
      return Error{ErrorCode::no_match,
                   "no products of one input next to each other, and no activation or batch norm "
                   "behind a product or convolution that could go into it"};
    }
    TensorEditor tensors(editor_.edit());
    editing::FusedTensors fused;
    for (const auto& [product, kernels] : absorbed_) {
      editing::FusionChain chain{{editor_.own_call(product)}, {product}};
      for (const TaskId kernel : kernels) {
        chain.calls.push_back(editor_.own_call(kernel));
        chain.kernels.push_back(kernel);
      }
      const bool launched =
          std::find(chain.calls.begin(), chain.calls.end(), none<TaskId>) == chain.calls.end();
      if (launched) fused.add(chain, editing::Stashed::stays);
    }
    fused.edit(editor_, tensors);
    return editor_.finish(
        fmt::format("{} groups of products merged, {} batch norms folded, {} "
                    "activations in epilogues: {}{}",
                    merged_, folded_, epilogues_, editor_.sums_text(), tensors.note()));
  }

 private:
  /// The kernel goes into the product before it, behind whatever that took in already.
  void absorb(TaskId kernel) {
    absorbed_[product_before(kernel)].push_back(kernel);
    editor_.remove(kernel, SegmentOf::take);
    used_[index(kernel)] = true;
  }

  [[nodiscard]] bool follows_product(TaskId kernel) const {
    return product_before(kernel) != none<TaskId>;
  }

  // Through what went into it already.
  [[nodiscard]] TaskId product_before(TaskId kernel) const {
    TaskId before = editing::data_before(editor_.graph(), kernel);
    while (before != none<TaskId> && used_[index(before)] &&
           editor_.class_of(before) != KernelClass::gemm) {
      before = editing::data_before(editor_.graph(), before);
    }
    if (before == none<TaskId> || editor_.graph().kind(before) != TaskKind::kernel) {
      return none<TaskId>;
    }
    const KernelClass is = editor_.class_of(before);
    return is == KernelClass::gemm || is == KernelClass::convolution ? before : none<TaskId>;
  }

  [[nodiscard]] bool is_epilogue(TaskId kernel) const {
    if (editor_.class_of(kernel) != KernelClass::elementwise) return false;
    if (editing::is_relu(editor_, kernel) || editing::is_gelu(editor_, kernel)) return true;
    // A bias: an addition launched by the product's own operator.
    const std::string_view op = editor_.operator_of(kernel);
    return op.find("convolution") != std::string_view::npos ||
           op.find("linear") != std::string_view::npos ||
           op.find("addmm") != std::string_view::npos;
  }

  editing::KernelEditor editor_;
  std::vector<bool> selected_;
  std::vector<bool> used_;
  std::map<TaskId, std::vector<TaskId>> absorbed_;  // by product
  bool training_ = false;
  std::size_t merged_ = 0;
  std::size_t folded_ = 0;
  std::size_t epilogues_ = 0;
};

Result<Change> apply(const WhatIfInput& scenario, const ParamValues& params) {
  FORETRACE_TRY(
      auto selected,
      select(scenario.graph, params.text(select_param)).with_context("parameter 'select'"));
  Rules rules(scenario, selected);
  if (params.boolean(merge_param) && scenario.accelerator != nullptr) {
    FORETRACE_TRY(rules.merge(params.number(kept_host_param)));
  }
  if (params.boolean(fold_param)) rules.fold();
  if (params.boolean(epilogue_param)) rules.epilogues();
  return rules.finish(params.boolean(merge_param) || params.boolean(fold_param) ||
                      params.boolean(epilogue_param));
}

constexpr std::array<std::string_view, 4> assumptions = {
    "Linear layers that are siblings in the module tree, of equal rows and inner size, with "
    "nothing between them on the stream, read the same input.",
    "A merged product takes the measured time x the model time of the summed width / the sum of "
    "the model times.",
    "ReLU, GELU and bias right behind a product or convolution cost nothing in its epilogue; in "
    "training their inputs are recomputed or kept as before.",
    "Without a backward pass batch norm can be folded into the weights before it."};
constexpr std::array<std::string_view, 3> ignores = {
    "convolutions of one input merged by enlarging kernels", "a search over orders of rules",
    "views and copies that split the merged result"};
constexpr std::array params = {select_param, merge_param, fold_param, epilogue_param,
                               kept_host_param};

}  // namespace

extern constexpr WhatIfInfo info = {
    .name = "metaflow_rules",
    .summary = "Merge products of one input, fold batch norm, use epilogues.",
    .paper =
        "Z. Jia, J. Thomas, T. Warszawski, M. Gao, M. Zaharia, A. Aiken, Optimizing DNN "
        "Computation with Relaxed Graph Substitutions, MLSys 2019",
    .recipe =
        "Groups of neighbouring linear products with one input are replaced by one product of "
        "the summed width; batch norms of inference behind a convolution and activations "
        "behind a product are removed with their launches and the host time before them.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate = "time of one product with the summed width, beside those of the parts.",
    .identity = {.setting = "merge=false,fold=false,epilogue=false"},
    .params = params,
    .apply = apply};

}  // namespace foretrace::metaflow_rules_parts
