// Fusion-aware checkpointing: what is kept is a smallest cut, the rest is made again by cheap
// operators; a fused chain keeps its input only and is recomputed inside its backward.
//
//   before   [gemm] -> add -> gelu -> dropout -> [gemm]      keeps four tensors for the backward
//   after    [gemm] -> fused chain            -> [gemm]      keeps what enters and leaves the chain
//            backward: one kernel that recomputes what it needs from there
//   Matrix products and convolutions are never recomputed. Where tensors and the inputs of backward
//   operators are recorded, a maximum flow finds which of the kept maps all others can be made
//   from; maps that a product of the backward reads are made by copies of their kernels in front of
//   it. Elsewhere the cut of a chain between two products is its input.
//
// memory    maps that the cut does not keep are freed after their last use of the forward pass, or
//           never made; those that are made again live from there to their recorded end.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "models/editing/chains/fused_tensors.h"
#include "models/editing/chains/fusion_chain.h"
#include "models/editing/kernels/kernel_editor.h"
#include "models/editing/tensors/saved_cut.h"
#include "models/whatifs/memory/repeated_maps.h"
#include "models/whatifs/what_if.h"
#include "sim/graph/links.h"

namespace foretrace::fusion_aware_checkpointing_parts {
namespace {

constexpr ParamInfo longest_param = {.name = "longest",
                                     .type = ParamType::integer,
                                     .unit = "1",
                                     .default_text = "32",
                                     .doc = "Kernels in one chain at most.",
                                     .minimum = 2,
                                     .maximum = 1e6};

class Fusion {
 public:
  explicit Fusion(const WhatIfInput& scenario) : editor_(scenario) {}

  Result<Change> run(const editing::FusionSettings& limits, double kept_host) {
    editor_.keep_host(kept_host);
    if (!editor_.graph().context().tensors.empty()) {
      uses_.emplace(editor_.graph(), editing::TensorUses::Repeats::not_backward);
      has_cut_ = !uses_->is_backward_bare();
    }
    const std::vector<bool> all(editor_.graph().size(), true);
    for (const auto& chain : editing::find_chains(editor_, all, limits)) {
      const Phase phase = editor_.graph().phase(chain.kernels.front());
      if (phase == Phase::forward) fuse(chain, limits, false);
      if (phase == Phase::backward) fuse(chain, limits, true);
    }
    if (chains_[0] == 0 || chains_[1] == 0) {
      return Error{
          ErrorCode::no_match,
          "no chains of pointwise kernels in both forward and backward, expected a training "
          "step that is not compiled already"};
    }
    TensorEditor tensors(editor_.edit());
    fused_.edit(editor_, tensors);
    std::string note = fmt::format("{} forward and {} backward chains: {}", chains_[0], chains_[1],
                                   editor_.sums_text());  // before the cut adds what runs again
    const std::string kept = keep_the_cut(tensors);
    if (editor_.graph().context().tensors.empty()) {
      note += fmt::format("; {} intermediates ({:.0f} MB by shapes) are not kept for the backward",
                          tensors_, bytes_ * 1e-6);
    }
    return editor_.finish(note + kept + tensors.note());
  }

 private:
  /// Which maps leave, and the kernels that make them again.
  std::string keep_the_cut(TensorEditor& tensors) {
    if (!has_cut_) return {};
    const editing::SavedCut cut = editing::choose_saved(
        editor_.graph(), *uses_, [&](const editing::OperatorRun& run) { return is_cheap(run); });
    if (cut.dropped.empty()) return {};
    editing::RepeatedMaps repeated(editor_, *uses_, cut);
    const std::int64_t before_ns = editor_.sums().after_ns;
    for (const TensorId tensor : cut.dropped) {
      repeated.make_again(tensor, tensors,
                          [&](const editing::OperatorRun& run) { return is_cheap(run); });
    }
    return fmt::format(
        "; the smallest cut keeps {:.0f} of {:.0f} MB of maps, {} kernels run again for {:.2f} ms",
        cut.saved_bytes * 1e-6, cut.kept_bytes * 1e-6, repeated.kernels(),
        editing::to_ms(editor_.sums().after_ns - before_ns));
  }

  /// Pointwise kernels, normalizations, reductions and copies: bound by what they move.
  [[nodiscard]] bool is_cheap(const editing::OperatorRun& run) const {
    const TaskGraph& graph = editor_.graph();
    for (const TaskId launch : run.launches) {
      for (const TaskId task : launched_by(graph, launch)) {
        if (graph.kind(task) != TaskKind::kernel) continue;
        switch (editor_.class_of(task)) {
          case KernelClass::elementwise:
          case KernelClass::normalization:
          case KernelClass::softmax:
          case KernelClass::reduction:
          case KernelClass::copy: break;
          default: return false;
        }
      }
    }
    return true;
  }

  void fuse(const editing::FusionChain& chain, editing::FusionSettings settings, bool backward) {
    settings.kept_writes = 0;
    settings.recomputed = backward ? 1 : 0;
    const std::int64_t ns = editing::fused_ns(editor_, chain, settings);
    const TaskId put =
        editor_.replace(chain.kernels, {backward ? "fused backward chain" : "fused chain",
                                        editing::fused_work(editor_, chain.kernels),
                                        {ns, Provenance::scaled, 0.8F, 1.25F}});
    if (put == none<TaskId>) return;
    if (!backward) {
      for (std::size_t i = 0; i + 1 < chain.kernels.size(); ++i) {
        // What the next operator overwrites was never kept.
        if (editor_.operator_of(chain.kernels[i + 1]).ends_with('_')) continue;
        ++tensors_;
        const WorkAmount& amount = editor_.about(chain.kernels[i]).amount;
        bytes_ += std::max(0.0, amount.output) * editor_.number_bytes(chain.kernels[i]);
      }
    }
    fused_.add(chain, has_cut_ ? editing::Stashed::stays : editing::Stashed::goes);
    ++chains_[backward ? 1 : 0];
  }

  editing::KernelEditor editor_;
  editing::FusedTensors fused_;
  std::optional<editing::TensorUses> uses_;
  bool has_cut_ = false;  // operators of the backward pass record what they read
  std::array<std::size_t, 2> chains_{};
  std::size_t tensors_ = 0;
  double bytes_ = 0;
};

Result<Change> apply(const WhatIfInput& scenario, const ParamValues& params) {
  editing::FusionSettings limits;
  limits.max_segment_ns = params.integer(editing::max_segment_param);
  limits.max_length = static_cast<std::size_t>(params.integer(longest_param));
  return Fusion(scenario).run(limits, params.number(editing::compiled_host_param));
}

constexpr std::array<std::string_view, 5> assumptions = {
    "Neighbours on a stream depend on each other in a line; between two products "
    "such a chain has one input, which is the smallest set of tensors that "
    "everything inside can be computed from.",
    "Where tensors are recorded, an operator reads the youngest ones of the sizes of its inputs; "
    "only maps that are kept as recorded may stay, and what is made again for a product costs what "
    "it cost.",
    "Recomputing pointwise operators inside a kernel that reads their input anyway "
    "costs nothing.",
    "Each backward kernel of a chain reads one saved tensor of the size that passes "
    "through.",
    "Masks of dropout are computed again from the state of the generator."};
constexpr std::array<std::string_view, 4> ignores = {
    "fusing what runs again for a product: its kernels keep their time, so that the step may get "
    "longer than fusion makes it shorter",
    "maps that are not kept now but would be smaller", "registers and compile time",
    "products that would be worth recomputing"};
constexpr std::array params = {longest_param, editing::max_segment_param,
                               editing::compiled_host_param};

}  // namespace

extern constexpr WhatIfInfo info = {
    .name = "fusion_aware_checkpointing",
    .summary =
        "Fuse chains and keep a smallest cut: less memory, for cheap kernels that run again.",
    .paper =
        "H. He, S. Yu, Transcending Runtime-Memory Tradeoffs in Checkpointing by being "
        "Fusion Aware, MLSys 2023",
    .recipe =
        "Chains of pointwise kernels with at most one normalization, softmax or "
        "reduction are replaced by one launch and one kernel each: forward without any "
        "write between, backward without what passes between its kernels and without "
        "reading one saved tensor for each kernel but the first.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate = "kept_host: a compiled run; fused kernels of it for the bytes.",
    .identity = {.none_because = "chains become one kernel each"},
    .params = params,
    .apply = apply,
    .stage = ApplyStage::fusion};

}  // namespace foretrace::fusion_aware_checkpointing_parts
