// Kernel fusion: neighbouring pointwise and normalization kernels become one.
//
//   before   launch -> add (20 us), launch -> gelu (16 us), launch -> layer norm (18 us)
//   after    launch -> fused kernel of 3 (26 us)
//   The fused kernel reads the inputs of the chain and writes its output; what passed from one
//   kernel to the next is neither written (kept_writes apart) nor read. The removed launches go
//   with the host time between them.
//
// memory    recorded tensors that an inner kernel writes and that are freed before anything after
//           the chain is launched.
#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>

#include "models/editing/chains/fused_tensors.h"
#include "models/editing/chains/fusion_chain.h"
#include "models/whatifs/what_if.h"
#include "sim/core/whole.h"
#include "sim/edit/selection.h"

namespace foretrace::kernel_fusion_parts {
namespace {

constexpr ParamInfo select_param = {
    .name = "select",
    .type = ParamType::selection,
    .default_text = "kind=kernel",
    .doc = "Which kernels may be fused, e.g. 'phase=forward' or 'layer~encoder'."};
constexpr ParamInfo max_length_param = {.name = "max_length",
                                        .type = ParamType::integer,
                                        .unit = "1",
                                        .default_text = "16",
                                        .doc = "Longest chain.",
                                        .minimum = 2,
                                        .maximum = 1000};
constexpr ParamInfo side_inputs_param = {
    .name = "side_inputs",
    .unit = "1",
    .default_text = "0.5",
    .doc = "Without shapes: other inputs of a kernel in sizes of the chained tensor.",
    .minimum = 0,
    .maximum = 10,
    .optimistic = "0.25",
    .pessimistic = "1"};
constexpr ParamInfo kept_writes_param = {
    .name = "kept_writes",
    .unit = "1",
    .default_text = "0.5",
    .doc = "Share of forward intermediates that backward needs (training runs only).",
    .minimum = 0,
    .maximum = 1,
    .optimistic = "0",
    .pessimistic = "1"};

bool has_backward(const TaskGraph& graph) {
  const auto& phases = graph.columns().phase;
  return std::find(phases.begin(), phases.end(), Phase::backward) != phases.end();
}

class Fusion {
 public:
  explicit Fusion(const WhatIfInput& scenario) : editor_(scenario), graph_(scenario.graph) {}

  Result<Change> run(const std::vector<TaskId>& selection, const editing::FusionSettings& settings,
                     double kept_host) {
    editor_.keep_host(kept_host);
    std::vector<bool> selected(graph_.size(), false);
    for (const TaskId task : selection) selected[index(task)] = true;
    const bool training = has_backward(graph_);
    for (const editing::FusionChain& chain : editing::find_chains(editor_, selected, settings)) {
      fuse(chain, settings, kept_host, training);
    }
    if (chains_ == 0) {
      return Error{ErrorCode::no_match,
                   "no two pointwise or normalization kernels stand next to each other on a stream "
                   "and follow each other in launch order"};
    }
    TensorEditor tensors(editor_.edit());
    fused_.edit(editor_, tensors);
    const editing::KernelEditor::Sums& sums = editor_.sums();
    return editor_.finish(fmt::format(
        "{} kernels in {} chains: device time {:.2f} ms -> {:.2f} ms, {} launches and {:.2f} ms "
        "of host time between them removed; shapes recorded for {:.0f} % of that device time{}",
        sums.removed, chains_, editing::to_ms(sums.before_ns), editing::to_ms(sums.after_ns),
        sums.removed - chains_, editing::to_ms(host_),
        sums.before_ns == 0
            ? 0.0
            : 100.0 * static_cast<double>(known_) / static_cast<double>(sums.before_ns),
        tensors.note()));
  }

 private:
  void fuse(const editing::FusionChain& chain, editing::FusionSettings settings, double kept_host,
            bool training) {
    const TaskId first = chain.kernels.front();
    // Only what backward needs later has to be written.
    const bool saves = training && graph_.phase(first) != Phase::backward;
    if (!saves) settings.kept_writes = 0;
    const std::int64_t fused = editing::fused_ns(editor_, chain, settings);
    const std::string name = fmt::format("fused kernel of {}", chain.kernels.size());
    const TaskId put = editor_.replace(
        chain.kernels,
        {.name = name,
         .work = editing::fused_work(editor_, chain.kernels),
         .cost = {fused, Provenance::scaled, 0.9F, 1.1F},
         .launch = {graph_.duration_ns(chain.calls.front()), launch_link(graph_, first).lag_ns}});
    if (put == none<TaskId>) return;
    ++chains_;
    fused_.add(chain, editing::Stashed::stays);
    std::int64_t between = 0;
    for (std::size_t i = 0; i < chain.calls.size(); ++i) {
      const TaskId kernel = chain.kernels[i];
      if (i > 0) between += graph_.segment_ns(chain.calls[i]);
      if (editor_.about(kernel).amount.known()) known_ += graph_.duration_ns(kernel);
    }
    host_ += between - to_whole(static_cast<double>(between) * kept_host);
  }

  editing::KernelEditor editor_;
  const TaskGraph& graph_;
  editing::FusedTensors fused_;
  std::int64_t known_ = 0;
  std::int64_t host_ = 0;
  std::size_t chains_ = 0;
};

Result<Change> apply(const WhatIfInput& scenario, const ParamValues& params) {
  FORETRACE_TRY(
      auto selected,
      select(scenario.graph, params.text(select_param)).with_context("parameter 'select'"));
  editing::FusionSettings settings;
  settings.max_segment_ns = params.integer(editing::max_segment_param);
  settings.max_length = static_cast<std::size_t>(params.integer(max_length_param));
  settings.side_inputs = params.number(side_inputs_param);
  settings.kept_writes = params.number(kept_writes_param);
  return Fusion(scenario).run(selected, settings, params.number(editing::compiled_host_param));
}

constexpr std::array<std::string_view, 7> assumptions = {
    "Kernels next to each other on a stream, launched one after the other, work on one chain of "
    "tensors; where shapes are recorded, sizes must agree, where not, this is a guess.",
    "Pointwise kernels fuse with each other and with at most one normalization, softmax or "
    "reduction; a compiler may refuse (in-place views, random numbers, long rows) or fuse further.",
    "The fused kernel moves its bytes at the bandwidth its parts reached.",
    "In forward of a training run kept_writes of the intermediates are still written for backward.",
    "Of the host time between the removed launches kept_host stays.",
    "Recorded tensors that a chain makes and that are freed before anything after it is launched "
    "are never allocated; what is freed later is still written.",
    "More than max_segment of host time before a launch means that Python did something else "
    "there."};
constexpr std::array<std::string_view, 4> ignores = {
    "fusion into the epilogue of products", "recomputation instead of saving intermediates",
    "compile time, guards and recompilation",
    "register pressure and occupancy of large fused kernels"};

constexpr std::array params = {select_param,      max_length_param,  editing::max_segment_param,
                               side_inputs_param, kept_writes_param, editing::compiled_host_param};
constexpr std::array<std::string_view, 2> conflicts = {"data_movement",
                                                       "fusion_aware_checkpointing"};

}  // namespace

extern constexpr WhatIfInfo info = {
    .name = "kernel_fusion",
    .summary = "Fuse chains of pointwise and normalization kernels.",
    .paper =
        "A. Ivanov, N. Dryden, T. Ben-Nun, S. Li, T. Hoefler, Data Movement Is All You Need, "
        "MLSys 2021; J. Ansel et al., PyTorch 2, ASPLOS 2024",
    .recipe =
        "Chains of pointwise kernels with at most one normalization, softmax or reduction, "
        "adjacent on a stream and in launch order, become one launch and one kernel. Its time is "
        "the sum of its parts without the passes over what they handed on and with one ramp-up.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate =
        "kept_writes, side_inputs: bytes of compiled kernels from a profiler. kept_host: host "
        "time between launches of a compiled run.",
    .identity = {.none_because = "a chain becomes one kernel, whatever it still writes"},
    .params = params,
    .apply = apply,
    .stage = ApplyStage::fusion,
    .conflicts = conflicts};

}  // namespace foretrace::kernel_fusion_parts
