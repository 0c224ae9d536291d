// Data movement: a transformer layer whose pointwise and normalization kernels are fused to few.
//
//   before   [q][k][v] ... [softmax][dropout] ... [bias][dropout][add][layer norm]
//   after    [q k v  ] ... [softmax, dropout] ... [bias, dropout, add, layer norm]
//   Chains fuse as in kernel_fusion, with what backward needs still written; products of one input
//   merge; and the bytes that all kernels of known size move are counted before and after.
//
// memory    intermediates inside a fused kernel that backward does not need: recorded tensors that
//           are freed before anything after the chain is launched.
#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>

#include "models/editing/chains/fused_tensors.h"
#include "models/editing/chains/fusion_chain.h"
#include "models/editing/chains/parallel_products.h"
#include "models/editing/kernels/kernel_editor.h"
#include "models/whatifs/what_if.h"

namespace foretrace::data_movement_parts {
namespace {

constexpr ParamInfo kept_writes_param = {
    .name = "kept_writes",
    .unit = "1",
    .default_text = "0.5",
    .doc = "Share of forward intermediates that training still writes for the backward.",
    .minimum = 0,
    .maximum = 1,
    .optimistic = "0",
    .pessimistic = "1"};

class Movement {
 public:
  explicit Movement(const WhatIfInput& scenario) : editor_(scenario) {
    const auto& phases = scenario.graph.columns().phase;
    training_ = std::find(phases.begin(), phases.end(), Phase::backward) != phases.end();
    for (const TaskId kernel : editor_.kernels()) {
      before_ += std::max(0.0, editor_.about(kernel).amount.numbers) * editor_.number_bytes(kernel);
    }
  }

  void keep_host(double share) { editor_.keep_host(share); }

  void fuse_chains(double kept_writes, std::int64_t max_segment_ns) {
    editing::FusionSettings settings;
    settings.max_segment_ns = max_segment_ns;
    settings.max_length = 32;
    const std::vector<bool> all(editor_.graph().size(), true);
    for (const auto& chain : editing::find_chains(editor_, all, settings)) {
      if (editor_.graph().phase(chain.kernels.front()) == Phase::update) continue;
      const bool saves =
          training_ && editor_.graph().phase(chain.kernels.front()) != Phase::backward;
      settings.kept_writes = saves ? kept_writes : 0;
      const std::int64_t ns = editing::fused_ns(editor_, chain, settings);
      const TaskId put =
          editor_.replace(chain.kernels, {"fused chain",
                                          editing::fused_work(editor_, chain.kernels),
                                          {ns, Provenance::scaled, 0.85F, 1.25F}});
      if (put == none<TaskId>) continue;
      count_saved(chain, settings.kept_writes);
      fused_.add(chain, editing::Stashed::stays);
      ++chains_;
    }
  }

  Status merge_products() {
    if (editor_.accelerator() == nullptr) return ok_status();
    for (const auto& group : editing::find_parallel_products(editor_)) {
      FORETRACE_TRY(auto cost, editing::merged_cost(editor_, group));
      std::int64_t sum = 0;
      for (const TaskId kernel : group.kernels) sum += editor_.graph().duration_ns(kernel);
      if (cost.duration_ns >= sum) continue;
      const auto work = editing::merged_work(editor_, group);
      if (editor_.replace(group.kernels, {"merged product", work, cost}) == none<TaskId>) continue;
      // Every further product read the same input again.
      saved_ += static_cast<double>(group.kernels.size() - 1) * group.merged.m * group.merged.k *
                editor_.number_bytes(group.kernels.front());
      ++products_;
    }
    return ok_status();
  }

  Result<Change> finish() {
    if (editor_.untouched()) {
      return Error{ErrorCode::no_match,
                   "no chain of pointwise and normalization kernels and no products of one input"};
    }
    std::string note = fmt::format("{} chains fused, {} groups of products merged: {}", chains_,
                                   products_, editor_.sums_text());
    if (before_ > 0 && saved_ > 0) {
      note +=
          fmt::format("; bytes moved by kernels of known size {:.0f} MB -> {:.0f} MB ({:.1f} %)",
                      before_ * 1e-6, (before_ - saved_) * 1e-6, -100 * saved_ / before_);
    }
    TensorEditor tensors(editor_.edit());
    fused_.edit(editor_, tensors);
    return editor_.finish(note + tensors.note());
  }

 private:
  // What passes from one kernel to the next is not read, and written only where it is kept.
  void count_saved(const editing::FusionChain& chain, double kept_writes) {
    for (std::size_t i = 1; i < chain.kernels.size(); ++i) {
      const WorkAmount& a = editor_.about(chain.kernels[i - 1]).amount;
      const WorkAmount& b = editor_.about(chain.kernels[i]).amount;
      if (a.numbers <= 0 || b.numbers <= 0 || a.output <= 0 || b.output <= 0) continue;
      const double pass = std::min({a.output, b.output, a.numbers / 2, b.numbers / 2});
      saved_ += (2 - kept_writes) * pass * editor_.number_bytes(chain.kernels[i]);
    }
  }

  editing::KernelEditor editor_;
  editing::FusedTensors fused_;
  bool training_ = false;
  double before_ = 0;
  double saved_ = 0;
  std::size_t chains_ = 0;
  std::size_t products_ = 0;
};

Result<Change> apply(const WhatIfInput& scenario, const ParamValues& params) {
  Movement movement(scenario);
  movement.keep_host(params.number(editing::compiled_host_param));
  FORETRACE_TRY(movement.merge_products());
  movement.fuse_chains(params.number(kept_writes_param),
                       params.integer(editing::max_segment_param));
  return movement.finish();
}

constexpr std::array<std::string_view, 4> assumptions = {
    "Neighbouring pointwise and normalization kernels on a stream depend on each other in a line.",
    "A fused kernel reads the inputs of its chain once and writes its output; in forward passes of "
    "training, kept_writes of the intermediates are written for the backward.",
    "It reaches the bandwidth that the single kernels reached.",
    "Sibling linear layers next to each other read the same input and merge."};
constexpr std::array<std::string_view, 4> ignores = {
    "the choice of layouts along a shortest path, which needs measured times per layout",
    "fusion of pointwise kernels into products", "recomputation instead of reading",
    "kernels whose shapes are not recorded, in the count of bytes"};
constexpr std::array params = {kept_writes_param, editing::max_segment_param,
                               editing::compiled_host_param};
constexpr std::array<std::string_view, 1> conflicts = {"fusion_aware_checkpointing"};

}  // namespace

extern constexpr WhatIfInfo info = {
    .name = "data_movement",
    .summary = "Fuse what a transformer layer only moves, and count the bytes saved.",
    .paper =
        "A. Ivanov, N. Dryden, T. Ben-Nun, S. Li, T. Hoefler, Data Movement Is All You Need: A "
        "Case Study on Optimizing Transformers, MLSys 2021",
    .recipe =
        "Chains of pointwise kernels with at most one normalization, softmax or reduction are "
        "replaced by one launch and one kernel without what passed between them; linear "
        "products of one input are replaced by one of the summed width.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate = "kept_writes: bytes that a fused kernel writes beside its output, by a profiler.",
    .identity = {.none_because = "a chain becomes one kernel, whatever it still writes"},
    .params = params,
    .apply = apply,
    .stage = ApplyStage::fusion,
    .conflicts = conflicts};

}  // namespace foretrace::data_movement_parts
