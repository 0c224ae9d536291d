// Dynamic batching: the same operators of samples that run one by one are launched once.
//
//   before   [a1][b1][c1] [a2][b2][c2] [a3][b3][c3]      three samples
//   after    [a x 3][b x 3][c x 3]
//   A stretch of kernels that is exactly the same `samples` times in a row, in works and layers,
//   merges, the i-th of each sample; times grow with the model of their shapes.
//
// memory    activations of all samples live at the same time.
#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "models/editing/chains/repeats.h"
#include "models/editing/kernels/kernel_names.h"
#include "models/whatifs/what_if.h"
#include "sim/core/whole.h"

namespace foretrace::dynamic_batching_parts {
namespace {

constexpr ParamInfo samples_param = {
    .name = "samples",
    .type = ParamType::integer,
    .unit = "1",
    .doc = "Samples that the recorded step runs one by one; 1 changes nothing.",
    .minimum = 1,
    .maximum = 1000000};
constexpr ParamInfo gather_param = {
    .name = "gather",
    .unit = "1",
    .default_text = "0.25",
    .doc = "Bytes copied to bring inputs together / bytes that the kernels move.",
    .minimum = 0,
    .maximum = 10,
    .optimistic = "0",
    .pessimistic = "1"};

class Batching {
 public:
  Batching(const WhatIfInput& scenario, std::size_t samples, double gather)
      : editor_(scenario), samples_(samples), gather_(gather) {}

  Result<Change> run() {
    std::map<std::tuple<std::int32_t, Phase, LaneId>, std::vector<TaskId>> runs;
    const TaskGraph& graph = editor_.graph();
    for (const TaskId kernel : editor_.kernels()) {
      if (graph.phase(kernel) == Phase::update || editor_.own_call(kernel) == none<TaskId>)
        continue;
      runs[{graph.step(kernel), graph.phase(kernel), graph.lane_id(kernel)}].push_back(kernel);
    }
    std::size_t left = 0;
    if (samples_ == 1) return editor_.finish("one sample is the recorded run");
    for (const auto& [key, kernels] : runs) left += kernels.size() - merge_repeats(kernels);
    if (editor_.untouched()) {
      return Error{ErrorCode::no_match,
                   fmt::format("no kernels of a step do exactly the same {} times in a row, in the "
                               "same layers (or, where no layers are recorded, from the first "
                               "kernel of a pass on)",
                               samples_)};
    }
    if (editor_.sums().after_ns > editor_.sums().before_ns) {
      return Error{ErrorCode::no_match,
                   fmt::format("batched kernels and the copies that bring their inputs together "
                               "take longer than the samples one by one: {}",
                               editor_.sums_text())};
    }
    Change change = editor_.finish(
        fmt::format("{} kernels become {}, {} are in no repeat: {}", editor_.sums().removed,
                    editor_.sums().removed / samples_, left, editor_.sums_text()));
    change.samples = 1;  // the same samples, in one run instead of many
    return change;
  }

 private:
  // How many kernels of a run were batched. Layers of a stack are alike, too: where no layers are
  // recorded, samples are believed only if they begin with the run itself, before any stack does.
  std::size_t merge_repeats(const std::vector<TaskId>& kernels) {
    const auto items = editing::kernel_items(editor_, kernels, editing::SameBy::work);
    const editing::Repeats found = editing::longest_repeats(items, samples_);
    const std::span<const TaskId> all = kernels;
    const bool is_known =
        found.period > 0 &&
        (editing::knows_layers(editor_.graph(), editor_.kernels())
             ? editing::knows_layers(editor_.graph(), all.subspan(found.begin, found.period))
             : found.begin == 0);
    if (!is_known) return 0;
    for (std::size_t i = 0; i < found.period; ++i) {
      std::vector<TaskId> group;
      for (std::size_t s = 0; s < samples_; ++s) {
        group.push_back(kernels[found.begin + s * found.period + i]);
      }
      merge(group);
    }
    return samples_ * found.period;
  }

  void merge(const std::vector<TaskId>& group) {
    std::int64_t sum = 0;
    for (const TaskId kernel : group) sum += editor_.graph().duration_ns(kernel);
    const TaskId first = group.front();
    const KernelDescription& known = editor_.about(first);
    const auto count = static_cast<double>(group.size());
    // One ramp-up instead of many, and the copies that bring inputs together.
    const double fixed = shortest_kernel_ns(known.traits.kernel_class);
    const double moving = std::max(0.0, static_cast<double>(sum) - count * fixed);
    Cost cost{to_whole(std::min(static_cast<double>(sum), fixed) + moving * (1 + gather_)),
              Provenance::scaled, 0.85F, 1.25F};
    if (editing::is_linear(editor_, first) && editor_.accelerator() != nullptr) {
      const Precision precision = known.traits.precision;
      GemmShape all = *known.amount.gemm;
      const double one = gemm_ns(*editor_.accelerator(), precision, all);
      all.m *= count;
      const double batched = gemm_ns(*editor_.accelerator(), precision, all);
      if (one > 0 && batched > 0) {
        const double mean = static_cast<double>(sum) / count;
        cost.duration_ns = to_whole(std::min(mean * batched / one, static_cast<double>(sum)));
      }
    }
    editor_.replace(group, {"batched kernel", editing::batched_work(editor_, first, count), cost});
  }

  editing::KernelEditor editor_;
  std::size_t samples_ = 1;
  double gather_ = 0;
};

Result<Change> apply(const WhatIfInput& scenario, const ParamValues& params) {
  return Batching(scenario, static_cast<std::size_t>(params.integer(samples_param)),
                  params.number(gather_param))
      .run();
}

constexpr std::array<std::string_view, 3> assumptions = {
    "The recorded step runs `samples` samples one after the other with equal "
    "operators, and nothing of one sample depends on another; without recorded layers, a pass "
    "begins with the first sample.",
    "A product with shared weights takes the model time of the summed rows / that "
    "of one sample; all other kernels move the summed bytes with one ramp-up.",
    "Host time of all samples but the first goes."};
constexpr std::array<std::string_view, 3> ignores = {"kernels outside the repeats: they stay",
                                                     "padding of ragged shapes",
                                                     "the scheduler's own host time"};
constexpr std::array params = {samples_param, gather_param};

}  // namespace

extern constexpr WhatIfInfo info = {
    .name = "dynamic_batching",
    .summary = "Batch equal operators of samples that were run one by one.",
    .paper =
        "S. Chen, P. Fegade, T. Chen, P. Gibbons, T. Mowry, ED-Batch: Efficient "
        "Automatic Batching of Dynamic Neural Networks via Learned Finite State "
        "Machines, ICML 2023",
    .recipe =
        "The longest stretch of kernels of a step, phase and stream that is exactly the same "
        "`samples` times in a row, in works and layers, is batched: the i-th kernels of all "
        "samples are replaced, at the place of the first, by one launch and one kernel. A linear "
        "product has the summed rows, others move the summed bytes, and `gather` of those once "
        "more to bring inputs together.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate = "gather: bytes copied to make batched inputs contiguous / bytes moved.",
    .identity = {.setting = "samples=1"},
    .params = params,
    .apply = apply,
    .stage = ApplyStage::workload};

}  // namespace foretrace::dynamic_batching_parts
