// Horizontal fusion: two independent kernels run as one, so that each uses what the other leaves.
//
//   before   launch -> histogram (arithmetic), launch -> pooling (bytes)
//   after    launch -> both, for max(histogram, pooling) + conflict x min(histogram, pooling)
//   Which kernels are independent is said by the user: `a` and `b`. A pair stands next to each
//   other on a stream; it is fused if that is faster.
//
// memory    none.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "models/editing/chains/corun_model.h"
#include "models/editing/kernels/kernel_editor.h"
#include "models/whatifs/optimization.h"
#include "sim/edit/selection.h"

namespace foretrace {
namespace {

constexpr ParamInfo a_param = {.name = "a",
                               .type = ParamType::selection,
                               .doc = "One side of the pairs, e.g. 'name~histogram'."};
constexpr ParamInfo b_param = {
    .name = "b", .type = ParamType::selection, .doc = "The other side of the pairs."};
constexpr ParamInfo conflict_param = {
    .name = "conflict",
    .unit = "x",
    .default_text = "-1",
    .doc = "Part of the shorter kernel that adds to the longer one; -1: by bottlenecks.",
    .minimum = -1,
    .maximum = 10};

class Pairing {
 public:
  Pairing(const Scenario& scenario, double conflict) : editor_(scenario), conflict_(conflict) {
    sides_.assign(scenario.graph.size(), 0);
  }

  void mark(const std::vector<TaskId>& tasks, unsigned char side) {
    for (const TaskId task : tasks) {
      const bool usable =
          editor_.graph().kind(task) == TaskKind::kernel && editor_.own_call(task) != none<TaskId>;
      if (usable) sides_[index(task)] = static_cast<unsigned char>(sides_[index(task)] | side);
    }
  }

  Result<Change> run() {
    std::vector<bool> taken(editor_.graph().size(), false);
    for (const TaskId first : editor_.kernels()) {
      const TaskId second = next_on_lane(editor_.graph(), first);
      if (second == none<TaskId> || taken[index(first)] || !fits(first, second)) continue;
      ++pairs_;
      const double fused = fused_ns(first, second);
      const auto alone = static_cast<double>(editor_.graph().duration_ns(first) +
                                             editor_.graph().duration_ns(second));
      if (fused >= alone) continue;
      const std::array<TaskId, 2> both = {first, second};
      // The pairs of the artifact scatter by 21 % around the model.
      const TaskId put = editor_.replace(
          both,
          {"horizontally fused pair", {std::llround(fused), Provenance::assumed, 0.79F, 1.21F}, 0});
      taken[index(second)] = put != none<TaskId>;
    }
    if (editor_.untouched()) {
      return Error{ErrorCode::no_match,
                   pairs_ == 0 ? std::string("no kernel of a stands next to one of b on a stream")
                               : fmt::format("none of {} pairs would be faster as one", pairs_)};
    }
    return editor_.finish(fmt::format("{} of {} pairs fused: {}", editor_.sums().removed / 2,
                                      pairs_, editor_.sums_text()));
  }

 private:
  [[nodiscard]] bool fits(TaskId first, TaskId second) const {
    const unsigned char a = sides_[index(first)];
    const unsigned char b = sides_[index(second)];
    return ((a & 1U) != 0 && (b & 2U) != 0) || ((a & 2U) != 0 && (b & 1U) != 0);
  }

  [[nodiscard]] double fused_ns(TaskId first, TaskId second) const {
    const auto a = static_cast<double>(editor_.graph().duration_ns(first));
    const auto b = static_cast<double>(editor_.graph().duration_ns(second));
    if (conflict_ >= 0) return std::max(a, b) + conflict_ * std::min(a, b);
    return model_.fused_time(editing::bottleneck_of(editor_.about(first).traits), a,
                             editing::bottleneck_of(editor_.about(second).traits), b);
  }

  editing::KernelEditor editor_;
  editing::CorunModel model_;
  double conflict_ = -1;
  std::vector<unsigned char> sides_;  // 1: in a, 2: in b
  std::size_t pairs_ = 0;
};

Result<Change> apply(const Scenario& scenario, const ParamValues& params) {
  auto a = select(scenario.graph, params.text(a_param));
  if (!a) return std::move(a).error().with_context("parameter 'a'");
  auto b = select(scenario.graph, params.text(b_param));
  if (!b) return std::move(b).error().with_context("parameter 'b'");
  Pairing pairing(scenario, params.number(conflict_param));
  pairing.mark(*a, 1);
  pairing.mark(*b, 2);
  return pairing.run();
}

constexpr std::array<std::string_view, 4> assumptions = {
    "The kernels named by a and b do not depend on each other: nothing in a trace tells.",
    "A fused pair takes the longer time and `conflict` of the shorter one: by bottlenecks, the "
    "mean "
    "of the pairs in the artifact of the paper (0.83 for two bound by bytes, 1.73 for two bound by "
    "arithmetic, 0.33 for different ones).",
    "Products are bound by arithmetic, gathers by latency, all others by bytes.",
    "A pair that would be slower stays as it is."};
constexpr std::array<std::string_view, 3> ignores = {
    "registers, shared memory and the split of threads in the fused kernel",
    "kernels that synchronize their whole grid and cannot be fused",
    "pairs with other kernels between them"};
constexpr std::array params = {a_param, b_param, conflict_param};

}  // namespace

namespace optimizations {

extern const OptimizationInfo horizontal_fusion;
constinit const OptimizationInfo horizontal_fusion = {
    .name = "horizontal_fusion",
    .summary = "Run pairs of independent kernels as one kernel.",
    .paper =
        "A. Li, B. Zheng, G. Pekhimenko, F. Long, Automatic Horizontal Fusion for GPU Kernels, "
        "CGO 2022",
    .recipe =
        "Each kernel of a that stands next to one of b on a stream is replaced, together with "
        "it, by one launch and one kernel that takes the longer time and `conflict` of the "
        "shorter one, if that is faster than one after the other.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate =
        "conflict: (fused - longer) / shorter from one fused pair, or from both kernels on "
        "two streams.",
    .params = params,
    .apply = apply};

}  // namespace optimizations
}  // namespace foretrace
