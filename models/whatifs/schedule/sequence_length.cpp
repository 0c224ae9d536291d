// Sequence length: every sample has more or fewer positions; attention grows with their square.
//
//   before   [gemm: b s rows 1.0 ms][scores: s x s 0.2 ms][softmax 0.1 ms][values 0.2 ms][gemm ...]
//   after    [gemm: 2.0 ms         ][scores: 0.8 ms      ][softmax 0.4 ms][values 0.8 ms]  factor=2
//   Kernels on positions scale by the model of their shapes, as in batch_size. Those between the
//   product of the scores and the one with the values, and fused attention, scale twice. The host
//   does what it did; transfers of activations and copies of input grow.
//
// memory    activations x factor, scores and their softmax x factor squared; the rest stays.
#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "models/editing/kernels/attention_core.h"
#include "models/editing/tensors/tensor_makers.h"
#include "models/whatifs/optimization.h"
#include "models/whatifs/schedule/activation_resize.h"
#include "models/whatifs/schedule/batch_resize.h"

namespace foretrace {
namespace {

constexpr ParamInfo factor_param = {.name = "factor",
                                    .unit = "x",
                                    .doc = "New number of positions / recorded one.",
                                    .minimum = 0.001,
                                    .maximum = 4096};

class Lengthener {
 public:
  Lengthener(const Scenario& scenario, double factor) : editor_(scenario), factor_(factor) {}

  Result<Change> run() {
    if (auto status = find_attention(); !status) return std::move(status).error();
    const editing::BatchResizer resizer(editor_, 0);
    for (const TaskId kernel : editor_.kernels()) {
      const Phase phase = editor_.graph().phase(kernel);
      if (phase == Phase::update || phase == Phase::communication) continue;
      const bool twice = squared_.contains(kernel);
      const auto resized = resizer.resized(kernel, twice ? factor_ * factor_ : factor_);
      if (twice) attention_ns_ += editor_.graph().duration_ns(kernel);
      if (resized.growth != editing::Growth::fixed) editor_.set(kernel, resized.cost);
    }
    if (editor_.untouched()) {
      return Error{ErrorCode::no_match, "no forward or backward kernel works on positions"};
    }
    const std::size_t transfers = editing::resize_transfers(editor_.edit(), factor_);
    resize_copies();
    TensorEditor tensors(editor_.edit());
    resize_memory(tensors);
    std::string text = fmt::format(
        "{}; {:.2f} ms of it attention, which grows with the square; compare the time "
        "per token: a step has {:g} times as many",
        editor_.sums_text(), editing::to_ms(attention_ns_), factor_);
    if (transfers > 0) text += fmt::format("; {} transfers of activations grow", transfers);
    return editor_.finish(text + tensors.note());
  }

 private:
  Status find_attention() {
    for (const editing::AttentionCore& core : editing::find_attention_cores(editor_)) {
      if (core.scores && core.scores->m == 1) return decodes();
      squared_.insert(core.kernels.begin(), core.kernels.end());
      const auto end = core.kernels.end() - (core.kernels.empty() ? 0 : 1);
      scores_.insert(core.kernels.begin(), end);
    }
    for (const TaskId kernel : editor_.kernels()) {
      if (editor_.class_of(kernel) == KernelClass::attention) squared_.insert(kernel);
    }
    if (squared_.empty()) {
      return Error{ErrorCode::no_match,
                   "no attention: neither a fused kernel nor a softmax between batched products, "
                   "expected a transformer"};
    }
    return ok_status();
  }

  static Error decodes() {
    return {ErrorCode::no_match,
            "the run decodes one position at a time, expected training or a prompt"};
  }

  void resize_copies() {
    const TaskGraph& graph = editor_.graph();
    for (std::size_t i = 0; i < graph.size(); ++i) {
      const auto task = make_id<TaskId>(i);
      if (graph.kind(task) != TaskKind::copy || graph.phase(task) != Phase::data_loading) continue;
      const Cost cost = editing::moved_share(graph.duration_ns(task), KernelClass::copy, factor_);
      editor_.edit().set_duration(task, cost.duration_ns, {cost.provenance, cost.low, cost.high});
    }
  }

  // What a kernel inside of attention writes has a number for each pair of positions.
  void resize_memory(TensorEditor& tensors) {
    const std::vector<TaskId> makers = editing::find_makers(editor_);
    editing::resize_tensors(tensors, editor_.graph(), [&](std::size_t tensor) {
      return scores_.contains(makers[tensor]) ? factor_ * factor_ : factor_;
    });
  }

  editing::KernelEditor editor_;
  double factor_ = 1;
  std::set<TaskId> squared_;
  std::set<TaskId> scores_;  // all of single operators but the product with the values
  std::int64_t attention_ns_ = 0;
};

Result<Change> apply(const Scenario& scenario, const ParamValues& params) {
  return Lengthener(scenario, params.number(factor_param)).run();
}

constexpr std::array<std::string_view, 4> assumptions = {
    "Every sample has as many positions as the others, all of them computed (no packing, no mask "
    "that skips blocks beyond what the recorded kernels skip).",
    "Queries are as long as keys: training, or the prompt of inference.",
    "Activations have their positions beside the batch in the leading dimensions.",
    "Kernels without recorded shapes grow in proportion, inside of attention with the square."};
constexpr std::array<std::string_view, 3> ignores = {
    "kernels that libraries pick for other sizes, beyond the model of tiles",
    "host work per token: tokenizing, collating",
    "tables of positions, and whether the longer sequence fits into memory"};
constexpr std::array params = {factor_param};
constexpr std::array<std::string_view, 1> conflicts = {"batch_size"};

}  // namespace

namespace optimizations {

extern const OptimizationInfo sequence_length;
constinit const OptimizationInfo sequence_length = {
    .name = "sequence_length",
    .summary = "Change the number of positions per sample; attention grows with the square.",
    .paper =
        "A. Vaswani et al., Attention Is All You Need, NeurIPS 2017 (table 1); V. Korthikanti et "
        "al., Reducing Activation Recomputation in Large Transformer Models, MLSys 2023",
    .recipe =
        "Every forward and backward kernel takes its measured time x the model time of its shape "
        "with `factor` times the rows / that of the recorded shape; kernels from the scores to the "
        "product with the values, and fused attention, with the square of it.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate = "nothing: two recordings at different lengths check the square.",
    .params = params,
    .apply = apply,
    .stage = ApplyStage::workload,
    .conflicts = conflicts};

}  // namespace optimizations
}  // namespace foretrace
