// Dynamic batching: the same operators of samples that run one by one are launched once.
//
//   before   [a1][b1][c1] [a2][b2][c2] [a3][b3][c3]      three samples
//   after    [a x 3][b x 3][c x 3]
//   Kernels that occur `samples` times (or a multiple) with equal name, operator and shapes in one
//   step and phase merge, the i-th of each sample; times grow with the model of their shapes.
//
// memory    activations of all samples live at the same time.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "models/editing/kernels/kernel_names.h"
#include "models/whatifs/optimization.h"

namespace foretrace {
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
  Batching(const Scenario& scenario, std::size_t samples, double gather)
      : editor_(scenario), samples_(samples), gather_(gather) {}

  Result<Change> run() {
    // Works are interned: equal name, operator, shapes and types have one id.
    std::map<std::tuple<std::int32_t, Phase, LaneId, WorkId>, std::vector<TaskId>> equal;
    const TaskGraph& graph = editor_.graph();
    for (const TaskId kernel : editor_.kernels()) {
      if (graph.phase(kernel) == Phase::update || editor_.own_call(kernel) == none<TaskId>)
        continue;
      equal[{graph.step(kernel), graph.phase(kernel), graph.lane_id(kernel), graph.work_id(kernel)}]
          .push_back(kernel);
    }
    std::size_t left = 0;
    for (const auto& [key, kernels] : equal) {
      if (samples_ < 2 || kernels.size() < samples_ || kernels.size() % samples_ != 0) {
        left += kernels.size();
        continue;
      }
      const std::size_t each = kernels.size() / samples_;
      for (std::size_t i = 0; i < each; ++i) {
        std::vector<TaskId> group;
        for (std::size_t s = 0; s < samples_; ++s) group.push_back(kernels[s * each + i]);
        merge(group);
      }
    }
    if (samples_ > 1 && editor_.untouched()) {
      return Error{
          ErrorCode::no_match,
          fmt::format("no kernel occurs {} times, or a multiple of it, in a step", samples_)};
    }
    Change change = editor_.finish(
        fmt::format("{} kernels become {}, {} occur too seldom: {}", editor_.sums().removed,
                    editor_.sums().removed / samples_, left, editor_.sums_text()));
    change.samples = 1;  // the same samples, in one run instead of many
    return change;
  }

 private:
  void merge(const std::vector<TaskId>& group) {
    std::int64_t sum = 0;
    for (const TaskId kernel : group) sum += editor_.graph().duration_ns(kernel);
    const TaskId first = group.front();
    const KernelDescription& known = editor_.about(first);
    const auto count = static_cast<double>(group.size());
    // One ramp-up instead of many, and the copies that bring inputs together.
    const double fixed = shortest_kernel_ns(known.traits.kernel_class);
    const double moving = std::max(0.0, static_cast<double>(sum) - count * fixed);
    Cost cost{std::llround(std::min(static_cast<double>(sum), fixed) + moving * (1 + gather_)),
              Provenance::scaled, 0.85F, 1.25F};
    if (editing::is_linear(editor_, first) && editor_.accelerator() != nullptr) {
      const Precision precision = known.traits.precision;
      GemmShape all = *known.amount.gemm;
      const double one = gemm_ns(*editor_.accelerator(), precision, all);
      all.m *= count;
      const double batched = gemm_ns(*editor_.accelerator(), precision, all);
      if (one > 0 && batched > 0) {
        const double mean = static_cast<double>(sum) / count;
        cost.duration_ns = std::llround(std::min(mean * batched / one, static_cast<double>(sum)));
      }
    }
    editor_.replace(group, {"batched kernel", cost, 0});
  }

  editing::KernelEditor editor_;
  std::size_t samples_ = 1;
  double gather_ = 0;
};

Result<Change> apply(const Scenario& scenario, const ParamValues& params) {
  return Batching(scenario, static_cast<std::size_t>(params.integer(samples_param)),
                  params.number(gather_param))
      .run();
}

constexpr std::array<std::string_view, 3> assumptions = {
    "The recorded step runs `samples` samples one after the other with equal "
    "operators, and nothing of one sample depends on another.",
    "A product with shared weights takes the model time of the summed rows / that "
    "of one sample; all other kernels move the summed bytes with one ramp-up.",
    "Host time of all samples but the first goes."};
constexpr std::array<std::string_view, 3> ignores = {
    "kernels whose number is no multiple of the samples: they stay", "padding of ragged shapes",
    "the scheduler's own host time"};
constexpr std::array params = {samples_param, gather_param};

}  // namespace

namespace optimizations {

extern const OptimizationInfo dynamic_batching;
constinit const OptimizationInfo dynamic_batching = {
    .name = "dynamic_batching",
    .summary = "Batch equal operators of samples that were run one by one.",
    .paper =
        "S. Chen, P. Fegade, T. Chen, P. Gibbons, T. Mowry, ED-Batch: Efficient "
        "Automatic Batching of Dynamic Neural Networks via Learned Finite State "
        "Machines, ICML 2023",
    .recipe =
        "Kernels of equal work, step and phase whose number is a multiple of `samples` "
        "are divided into `samples` runs; the i-th kernels of all runs are replaced, at "
        "the place of the first, by one launch and one kernel. A linear product has the "
        "summed rows, others move the summed bytes, and `gather` of those once more to "
        "bring inputs together.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate = "gather: bytes copied to make batched inputs contiguous / bytes moved.",
    .params = params,
    .apply = apply,
    .stage = ApplyStage::workload};

}  // namespace optimizations
}  // namespace foretrace
