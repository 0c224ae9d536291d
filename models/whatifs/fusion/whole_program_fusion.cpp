// SIRIUS: everything between two products becomes one kernel, host code included.
//
//   before   [gemm][py][add][py][norm][py][gelu][py][sum][gemm]
//   after    [gemm][one kernel                         ][gemm]
//   Regions of pointwise, normalization, softmax, reduction and copy kernels, launched one after
//   the other without a wait, fuse across reductions (a grid synchronization each); their host time
//   goes.
//
// memory    intermediates of a region, but for what backward needs: recorded tensors that are freed
//           before anything after the region is launched.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "models/editing/chains/fused_tensors.h"
#include "models/editing/chains/fusion_chain.h"
#include "models/editing/kernels/data_neighbours.h"
#include "models/editing/kernels/kernel_editor.h"
#include "models/whatifs/what_if.h"

namespace foretrace::whole_program_fusion_parts {
namespace {

constexpr ParamInfo sync_param = {
    .name = "sync",
    .type = ParamType::time,
    .unit = "us",
    .default_text = "3 us",
    .doc = "One synchronization of all thread blocks inside a kernel.",
    .minimum = 0,
    .maximum = 1000000000.0,
    .optimistic = "1.5 us",
    .pessimistic = "6 us"};
constexpr ParamInfo kept_writes_param = {.name = "kept_writes",
                                         .unit = "1",
                                         .default_text = "0.25",
                                         .doc = "Share of intermediates that are still written.",
                                         .minimum = 0,
                                         .maximum = 1,
                                         .optimistic = "0",
                                         .pessimistic = "1"};
constexpr ParamInfo longest_param = {.name = "longest",
                                     .type = ParamType::integer,
                                     .unit = "1",
                                     .default_text = "64",
                                     .doc = "Kernels in one region at most.",
                                     .minimum = 2,
                                     .maximum = 1000000.0};

class Program {
 public:
  explicit Program(const WhatIfInput& scenario, double kept_host) : editor_(scenario) {
    editor_.keep_host(kept_host);
  }

  Result<Change> run(std::int64_t sync_ns, const editing::FusionSettings& settings) {
    settings_ = settings;
    for (TaskId task : first_on_lanes(editor_.graph(), LaneKind::host_thread)) {
      for (; task != none<TaskId>; task = next_on_lane(editor_.graph(), task)) {
        visit(task, sync_ns);
      }
      close(sync_ns);
    }
    if (editor_.untouched()) {
      return Error{ErrorCode::no_match,
                   "no two kernels other than products are launched one after the other"};
    }
    TensorEditor tensors(editor_.edit());
    fused_.edit(editor_, tensors);
    return editor_.finish(fmt::format("{} regions, {} grid synchronizations inside: {}{}", regions_,
                                      syncs_, editor_.sums_text(), tensors.note()));
  }

 private:
  [[nodiscard]] bool fusable(TaskId kernel) const {
    switch (editor_.class_of(kernel)) {
      case KernelClass::elementwise:
      case KernelClass::normalization:
      case KernelClass::softmax:
      case KernelClass::reduction:
      case KernelClass::copy: return true;
      default: return false;
    }
  }

  void visit(TaskId call, std::int64_t sync_ns) {
    const TaskGraph& graph = editor_.graph();
    if (editing::launches_what_moves_nothing(graph, call)) return;
    const TaskId kernel =
        is_plain_launch(graph, call) ? launched_by(graph, call).only() : none<TaskId>;
    if (kernel == none<TaskId> || graph.kind(kernel) != TaskKind::kernel || !fusable(kernel)) {
      return close(sync_ns);
    }
    if (!open_.kernels.empty()) {
      const TaskId last = open_.kernels.back();
      if (editing::data_before(graph, kernel) != last ||
          open_.kernels.size() >= settings_.max_length ||
          graph.segment_ns(call) > settings_.max_segment_ns ||
          graph.phase(kernel) != graph.phase(last) || hands_over(graph, call)) {
        close(sync_ns);
      }
    }
    open_.calls.push_back(call);
    open_.kernels.push_back(kernel);
  }

  void close(std::int64_t sync_ns) {
    const editing::FusionChain chain = std::move(open_);
    open_ = {};
    for (const editing::FusionChain& region : editing::cut(editor_, chain)) fuse(region, sync_ns);
  }

  /// Whether one kernel of `ns` is there sooner than these, of `sum`: whichever takes longer there,
  /// the device or the calls that launch.
  [[nodiscard]] bool gains(const editing::FusionChain& chain, std::int64_t ns,
                           std::int64_t sum) const {
    const TaskGraph& graph = editor_.graph();
    std::int64_t launching = 0;
    for (const TaskId call : chain.calls) launching += graph.duration_ns(call);
    return std::max(ns, graph.duration_ns(chain.calls.front())) < std::max(sum, launching);
  }

  void fuse(const editing::FusionChain& chain, std::int64_t sync_ns) {
    std::int64_t reductions = 0;
    std::int64_t sum = 0;
    for (const TaskId kernel : chain.kernels) {
      const KernelClass kernel_class = editor_.class_of(kernel);
      if (kernel_class != KernelClass::elementwise && kernel_class != KernelClass::copy) {
        ++reductions;
      }
      sum += editor_.graph().duration_ns(kernel);
    }
    const std::int64_t ns = editing::fused_ns(editor_, chain, settings_) + reductions * sync_ns;
    if (!gains(chain, ns, sum)) return;
    const TaskId put = editor_.replace(chain.kernels, {"fused region",
                                                       editing::fused_work(editor_, chain.kernels),
                                                       {ns, Provenance::scaled, 0.8F, 1.25F}});
    if (put == none<TaskId>) return;
    ++regions_;
    fused_.add(chain, editing::Stashed::stays);
    syncs_ += static_cast<std::size_t>(reductions);
  }

  editing::KernelEditor editor_;
  editing::FusionSettings settings_;
  editing::FusionChain open_;
  editing::FusedTensors fused_;
  std::size_t regions_ = 0;
  std::size_t syncs_ = 0;
};

Result<Change> apply(const WhatIfInput& scenario, const ParamValues& params) {
  editing::FusionSettings settings;
  settings.max_segment_ns = params.integer(editing::max_segment_param);
  settings.max_length = static_cast<std::size_t>(params.integer(longest_param));
  settings.kept_writes = params.number(kept_writes_param);
  return Program(scenario, params.number(editing::compiled_host_param))
      .run(params.integer(sync_param), settings);
}

constexpr std::array<std::string_view, 4> assumptions = {
    "The compiler sees the whole program: host code between the launches has no "
    "effect but launching. More than max_segment of it means that Python did something else.",
    "Neighbours depend on each other in a line, and the fused kernel reaches the "
    "bandwidth that its parts reached.",
    "A reduction inside a region costs one synchronization of the grid.",
    "Products stay as they are and end a region."};
constexpr std::array<std::string_view, 3> ignores = {
    "products inside a region", "code size, registers and compile time",
    "data-dependent control flow on the host: waits end a region"};
constexpr std::array params = {sync_param, kept_writes_param, editing::compiled_host_param,
                               longest_param, editing::max_segment_param};
constexpr std::array<std::string_view, 3> conflicts = {
    "data_movement", "fusion_aware_checkpointing", "kernel_fusion"};

}  // namespace

extern constexpr WhatIfInfo info = {
    .name = "whole_program_fusion",
    .summary = "Fuse all kernels between products, together with the host code.",
    .paper =
        "Y. Li, J. Zhao, Q. Sun et al., SIRIUS: Harvesting Whole-Program Optimization "
        "Opportunities for DNNs, MLSys 2023",
    .recipe =
        "Maximal runs of calls that launch one pointwise, normalization, softmax, "
        "reduction or copy kernel each on one stream, in one phase, are replaced by one "
        "launch and one kernel: the sum of their times without what passes between "
        "them, one ramp-up, and `sync` per reduction inside.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate = "sync: time of one grid synchronization; kept_host: a compiled run.",
    .identity = {.none_because = "the kernels of a region become one"},
    .params = params,
    .apply = apply,
    .stage = ApplyStage::fusion,
    .conflicts = conflicts};

}  // namespace foretrace::whole_program_fusion_parts
