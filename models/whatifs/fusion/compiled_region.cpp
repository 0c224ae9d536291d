// Compiled region: a named module is compiled: its chains fuse, its launches become a graph.
//
//   before   [py]gemm[py]bias[py]gelu[py]dropout[py]gemm ...
//   after    [guard]gemm[py]fused 3 [py]gemm ...                       mode=default
//            [guard][gemm, fused 3, gemm ... as nodes of one graph]    mode=reduce-overhead
//            [guard][gemm with epilogue, gemm ...]                     mode=max-autotune
//   Every run of the module's launches, forward and backward, is a region. Synchronizations,
//   blocking copies, hand-overs between threads, long host time and `breaks` cut it into graphs,
//   each with guards of its own; nothing fuses across them.
//
// memory    intermediates of fused chains that are freed before anything after them is launched.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/editing/chains/fused_tensors.h"
#include "models/editing/chains/fusion_chain.h"
#include "models/editing/kernels/data_neighbours.h"
#include "models/whatifs/fusion/region_parts.h"
#include "models/whatifs/what_if.h"
#include "sim/edit/text_pattern.h"

namespace foretrace::compiled_region_parts {
namespace {

constexpr ParamInfo module_param = {
    .name = "module",
    .type = ParamType::text,
    .doc = "Expression for the path of the module, e.g. 'encoder/layer'; '.' is the whole model."};
constexpr ParamInfo mode_param = {
    .name = "mode",
    .type = ParamType::text,
    .default_text = "default",
    .doc =
        "default: chains fuse; reduce-overhead: and launches become graphs; max-autotune: and "
        "pointwise chains go into the product before them.",
    .choices = "default|reduce-overhead|max-autotune"};
constexpr ParamInfo breaks_param = {
    .name = "breaks",
    .type = ParamType::integer,
    .unit = "1",
    .default_text = "0",
    .doc = "Graph breaks in every run of the module, besides those that the trace shows.",
    .minimum = 0,
    .maximum = 1e6};
constexpr ParamInfo guard_param = {.name = "guard",
                                   .type = ParamType::time,
                                   .unit = "us",
                                   .default_text = "20 us",
                                   .doc = "Host time of the guards of one graph.",
                                   .minimum = 0,
                                   .maximum = 1e9,
                                   .optimistic = "5 us",
                                   .pessimistic = "100 us"};
constexpr ParamInfo node_cost_param = {
    .name = "node_cost",
    .type = ParamType::time,
    .unit = "us",
    .default_text = "0.2 us",
    .doc = "Host time of a graph launch per node, as in cuda_graph.",
    .minimum = 0,
    .maximum = 1e9,
    .optimistic = "0.02 us",
    .pessimistic = "1.5 us"};
constexpr ParamInfo max_break_param = {
    .name = "max_segment",
    .type = ParamType::time,
    .unit = "ms",
    .default_text = "1 ms",
    .doc = "More host time than this before a call of the module is a graph break.",
    .minimum = 0,
    .maximum = 1e12};

constexpr double kept_writes = 0.5;  // as kernel_fusion: what the backward pass needs is written

struct Mode {
  bool epilogues = false;
  double kept_host = 0;
  editing::CompiledCalls calls;
};

class Compiler {
 public:
  Compiler(const WhatIfInput& scenario, const Mode& mode)
      : editor_(scenario), graph_(scenario.graph), mode_(mode) {
    editor_.keep_host(mode.kept_host);
    const auto& phases = graph_.columns().phase;
    training_ = std::find(phases.begin(), phases.end(), Phase::backward) != phases.end();
  }

  /// `whole`: all kernels, also those of no recorded module.
  Result<Change> run(const selecting::TextPattern& module, bool whole,
                     const editing::RegionRules& rules) {
    const std::vector<bool> kernels = kernels_of(module, whole);
    const editing::RegionParts regions = editing::find_region_parts(editor_, kernels, rules);
    if (regions.parts.empty()) {
      return Error{ErrorCode::no_match,
                   "no kernel of a module with such a path is launched by a call of its own, "
                   "expected a trace with with_modules or with_stack and an expression that finds "
                   "one of its modules"};
    }
    fuse(kernels, regions, rules);
    for (std::size_t p = 0; p < regions.parts.size(); ++p) {
      host_.add(editing::compile_calls(editor_, regions.parts[p], new_calls_[p], mode_.calls));
    }
    TensorEditor tensors(editor_.edit());
    fused_.edit(editor_, tensors);
    Change change = editor_.finish(fmt::format(
        "{} runs of the module in {} graphs: {} chains fuse, {} go into the product before them: "
        "{}; {} launches, {:.2f} ms of host time -> {:.2f} ms{}",
        regions.runs, regions.parts.size(), chains_, epilogues_, editor_.sums_text(),
        host_.launches, editing::to_ms(host_.before_ns), editing::to_ms(host_.after_ns),
        tensors.note()));
    // Host time before a chain inside of a graph goes, which a replacement leaves.
    for (Removal& removal : change.removed) {
      if (inside_.contains(removal.task)) removal.segment = SegmentOf::take;
    }
    return change;
  }

 private:
  [[nodiscard]] std::vector<bool> kernels_of(const selecting::TextPattern& module,
                                             bool whole) const {
    std::vector<bool> wanted;
    for (const Layer& layer : graph_.context().layers) {
      const bool named = layer.name != NameId{};
      wanted.push_back(whole || (named && module.found_in(graph_.names()[layer.name])));
    }
    std::vector<bool> kernels(graph_.size(), false);
    for (const TaskId kernel : editor_.kernels()) {
      kernels[index(kernel)] =
          wanted[index(graph_.layer(kernel))] && graph_.phase(kernel) != Phase::update;
    }
    return kernels;
  }

  void fuse(const std::vector<bool>& kernels, const editing::RegionParts& regions,
            const editing::RegionRules& rules) {
    editing::FusionSettings settings;
    settings.max_segment_ns = rules.max_segment_ns;
    settings.max_length = 64;
    new_calls_.resize(regions.parts.size());
    part_of_ = &regions.part;
    for (const editing::RegionPart& part : regions.parts) opening_.insert(part.calls.front());
    for (const auto& chain : editing::find_chains(editor_, kernels, settings)) {
      editing::FusionChain piece;
      for (std::size_t i = 0; i < chain.kernels.size(); ++i) {
        const bool other = i > 0 && part_of(chain.kernels[i]) != part_of(chain.kernels[i - 1]);
        if (other) fuse(std::exchange(piece, {}), settings);
        piece.kernels.push_back(chain.kernels[i]);
        piece.calls.push_back(chain.calls[i]);
      }
      fuse(piece, settings);
    }
    if (!mode_.epilogues) return;
    for (const TaskId kernel : editor_.kernels()) {
      const bool pointwise = editor_.class_of(kernel) == KernelClass::elementwise;
      if (!kernels[index(kernel)] || !pointwise || editor_.edit().is_gone(kernel)) continue;
      const TaskId call = editor_.own_call(kernel);
      if (call != none<TaskId>) absorb({{call}, {kernel}}, settings);
    }
  }

  [[nodiscard]] std::uint32_t part_of(TaskId kernel) const { return (*part_of_)[index(kernel)]; }

  void fuse(const editing::FusionChain& chain, editing::FusionSettings settings) {
    if (chain.kernels.size() < 2) return;
    const bool backward = graph_.phase(chain.kernels.front()) == Phase::backward;
    settings.kept_writes = training_ && !backward ? kept_writes : 0;
    if (mode_.epilogues && absorb(chain, settings)) return;
    const std::int64_t ns = editing::fused_ns(editor_, chain, settings);
    const TaskId put =
        editor_.replace(chain.kernels, {fmt::format("compiled kernel of {}", chain.kernels.size()),
                                        editing::fused_work(editor_, chain.kernels),
                                        {ns, Provenance::scaled, 0.85F, 1.2F}});
    if (put == none<TaskId>) return;
    fused_.add(chain, editing::Stashed::stays);
    if (part_of(chain.kernels.front()) > 0) {
      new_calls_[part_of(chain.kernels.front()) - 1].push_back(editor_.call_of_new(put));
    }
    const TaskId first = chain.calls.front();
    if (mode_.calls.graphs && !opening_.contains(first)) inside_.insert(first);
    ++chains_;
  }

  /// The product takes what the chain moves besides the result that passes between the two.
  bool absorb(const editing::FusionChain& chain, const editing::FusionSettings& settings) {
    const TaskId first = chain.kernels.front();
    const TaskId product = editing::data_before(graph_, first);
    if (product == none<TaskId> || graph_.kind(product) != TaskKind::kernel ||
        editor_.class_of(product) != KernelClass::gemm || part_of(product) != part_of(first) ||
        editor_.edit().is_gone(product) || set_.contains(product)) {
      return false;
    }
    for (const TaskId kernel : chain.kernels) {
      if (editor_.class_of(kernel) != KernelClass::elementwise) return false;
    }
    const double result = editor_.about(first).amount.output;
    if (!(result > 0) || editor_.edit().cut(chain.kernels).size() != 1) return false;
    const auto passed =
        editor_.moving_cost(2 * result * editor_.number_bytes(first), KernelClass::elementwise);
    if (!passed) return false;
    const std::int64_t more = std::max<std::int64_t>(
        0, editing::fused_ns(editor_, chain, settings) - passed->duration_ns);
    editor_.set(product, {graph_.duration_ns(product) + more, Provenance::scaled, 0.9F, 1.2F});
    for (const TaskId kernel : chain.kernels) editor_.remove(kernel, SegmentOf::take);
    set_.insert(product);
    ++epilogues_;
    return true;
  }

  editing::KernelEditor editor_;
  const TaskGraph& graph_;
  const Mode& mode_;
  bool training_ = false;
  const std::vector<std::uint32_t>* part_of_ = nullptr;
  std::vector<std::vector<TaskId>> new_calls_;  // by part
  std::set<TaskId> set_;                        // products with an epilogue
  std::set<TaskId> opening_;                    // the first call of each part
  std::set<TaskId> inside_;                     // first calls of chains that are not
  editing::FusedTensors fused_;
  std::size_t chains_ = 0;
  std::size_t epilogues_ = 0;
  editing::RegionHost host_;
};

Result<Change> apply(const WhatIfInput& scenario, const ParamValues& params) {
  FORETRACE_TRY(auto module, selecting::TextPattern::compile(params.text(module_param))
                                 .with_context("parameter 'module'"));
  const std::string& name = params.text(mode_param);
  const Mode mode{.epilogues = name == "max-autotune",
                  .kept_host = params.number(editing::compiled_host_param),
                  .calls = {.graphs = name != "default",
                            .guard_ns = params.integer(guard_param),
                            .node_ns = params.integer(node_cost_param)}};
  const editing::RegionRules rules{
      .max_segment_ns = params.integer(max_break_param),
      .breaks = static_cast<std::size_t>(params.integer(breaks_param))};
  return Compiler(scenario, mode).run(module, params.text(module_param) == ".", rules);
}

constexpr std::array<std::string_view, 6> assumptions = {
    "Shapes and control flow of the module are the same every time, and it is compiled already: "
    "compilation takes seconds to minutes once.",
    "Its backward is compiled with it: kernels of the module in the backward pass are regions, "
    "too, with graph breaks where the forward has them.",
    "Pointwise kernels fuse with each other and with at most one normalization, softmax or "
    "reduction, as in kernel_fusion; half of the forward intermediates are still written.",
    "max-autotune puts pointwise kernels right behind a product into it where the size of its "
    "result is known; products keep their own time.",
    "reduce-overhead and max-autotune launch a graph per region: a node costs node_cost on the "
    "host and starts when it is reached; gaps on the stream shrink to 1 us, a gap longer than "
    "max_segment breaks the graph.",
    "Guards cost `guard` for every graph."};
constexpr std::array<std::string_view, 4> ignores = {
    "products and convolutions that autotuning makes faster, and other layouts",
    "copies of inputs into the static buffers of a graph", "recompilation for other shapes",
    "recomputation in place of saving (fusion_aware_checkpointing)"};
constexpr std::array params = {module_param,
                               mode_param,
                               breaks_param,
                               guard_param,
                               node_cost_param,
                               max_break_param,
                               editing::compiled_host_param};
constexpr std::array<std::string_view, 5> conflicts = {"cuda_graph", "data_movement",
                                                       "fusion_aware_checkpointing",
                                                       "kernel_fusion", "whole_program_fusion"};

}  // namespace

extern constexpr WhatIfInfo info = {
    .name = "compiled_region",
    .summary = "Compile a named module: fuse its chains, use epilogues, launch it as graphs.",
    .paper =
        "J. Ansel et al., PyTorch 2: Faster Machine Learning Through Dynamic Python Bytecode "
        "Transformation and Graph Compilation, ASPLOS 2024",
    .recipe =
        "Kernels of layers whose path matches `module` form regions by thread, cut at graph "
        "breaks. Within one, chains of pointwise kernels are replaced by one launch and one "
        "kernel, or go into the product before them; host time between replaced launches shrinks "
        "to kept_host, guards come before the first call, and with graphs every other call takes "
        "node_cost without host time before it.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate =
        "guard: host time between the calls around a compiled module; breaks: TORCH_LOGS="
        "graph_breaks.",
    .identity = {.none_because = "every call of a compiled module checks guards"},
    .params = params,
    .apply = apply,
    .stage = ApplyStage::schedule,
    .conflicts = conflicts};

}  // namespace foretrace::compiled_region_parts
