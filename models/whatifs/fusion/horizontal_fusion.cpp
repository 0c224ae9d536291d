// Horizontal fusion: two independent kernels run as one, so that each uses what the other leaves.
//
//   before   launch -> histogram (arithmetic), launch -> pooling (bytes)
//   after    launch -> both, for max(histogram, pooling) + conflict x min(histogram, pooling)
//   The user names both sides, `a` and `b`. A pair stands next to each other on a stream, and
//   shapes show that the second does not read the first; it is fused if that is faster.
//
// memory    none.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "models/editing/chains/corun_model.h"
#include "models/editing/kernels/data_neighbours.h"
#include "models/editing/kernels/kernel_editor.h"
#include "models/hardware/costs/operator_shapes.h"
#include "models/whatifs/what_if.h"
#include "sim/core/whole.h"
#include "sim/edit/selection.h"

namespace foretrace::horizontal_fusion_parts {
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

constexpr ParamInfo independent_param = {
    .name = "independent",
    .type = ParamType::boolean,
    .default_text = "false",
    .doc = "True: neighbours of a and b are independent where shapes do not tell."};

// What the trace tells of two neighbours.
enum class Relation : std::uint8_t { independent, second_may_read_first, unknown };

Relation relation_of(const editing::KernelEditor& editor, TaskId first, TaskId second) {
  const Work& a = editor.graph().work(first);
  const Work& b = editor.graph().work(second);
  const auto is_product = [&](TaskId kernel) {
    return editor.class_of(kernel) == KernelClass::gemm ||
           editor.class_of(kernel) == KernelClass::convolution;
  };
  const bool one_call = a.operator_name != NameId{} && a.operator_name == b.operator_name &&
                        a.shapes == b.shapes && b.shapes != NameId{};
  if (one_call && editor.graph().phase(first) == Phase::backward) {
    // The gradients of input and weight read the same, and neither reads the other; whatever else
    // a call launches prepares its product or finishes it.
    return is_product(first) && is_product(second) && a.name != b.name
               ? Relation::independent
               : Relation::second_may_read_first;
  }
  const WorkAmount& amount = editor.about(first).amount;
  const double written =
      amount.gemm ? amount.gemm->batch * amount.gemm->m * amount.gemm->n : amount.output;
  if (!(written > 0) || editor.graph().names()[b.shapes].empty()) return Relation::unknown;
  for (const auto& tensors : editor.inputs_of(second).tensors) {
    for (const Dims& dims : tensors) {
      if (element_count(dims) == written) return Relation::second_may_read_first;
    }
  }
  return Relation::independent;
}

class Pairing {
 public:
  Pairing(const WhatIfInput& scenario, double conflict, bool are_independent)
      : editor_(scenario), conflict_(conflict), are_independent_(are_independent) {
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
      const TaskId second = editing::data_after(editor_.graph(), first);
      if (second == none<TaskId> || taken[index(first)] || !fits(first, second)) continue;
      const Relation relation = relation_of(editor_, first, second);
      reading_ += relation == Relation::second_may_read_first ? 1 : 0;
      unknown_ += relation == Relation::unknown && !are_independent_ ? 1 : 0;
      if (relation == Relation::second_may_read_first ||
          (relation == Relation::unknown && !are_independent_)) {
        continue;
      }
      ++pairs_;
      const double fused = fused_ns(first, second);
      const auto alone = static_cast<double>(editor_.graph().duration_ns(first) +
                                             editor_.graph().duration_ns(second));
      if (fused >= alone) continue;
      const std::array<TaskId, 2> both = {first, second};
      // The pairs of the artifact scatter by 21 % around the model.
      const TaskId put =
          editor_.replace(both, {"horizontally fused pair",
                                 editing::fused_work(editor_, both),
                                 {to_whole(fused), Provenance::assumed, 0.79F, 1.21F}});
      taken[index(second)] = put != none<TaskId>;
    }
    if (editor_.untouched()) {
      return Error{ErrorCode::no_match, refusal()};
    }
    return editor_.finish(fmt::format("{} of {} pairs fused: {}{}", editor_.sums().removed / 2,
                                      pairs_, editor_.sums_text(), left_text()));
  }

 private:
  [[nodiscard]] std::string left_text() const {
    std::string text;
    if (reading_ > 0) {
      text += fmt::format("; {} more pairs stay, since the second may read what the first writes",
                          reading_);
    }
    if (unknown_ > 0) {
      text += fmt::format("; {} more have unknown shapes (independent=true)", unknown_);
    }
    return text;
  }

  [[nodiscard]] std::string refusal() const {
    if (pairs_ > 0) {
      return fmt::format("none of {} pairs would be faster fused{}", pairs_, left_text());
    }
    return reading_ + unknown_ == 0
               ? std::string("no kernel of a stands next to one of b on a stream")
               : "no kernel of a stands next to an independent one of b" + left_text();
  }

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
  bool are_independent_ = false;
  std::size_t pairs_ = 0;
  std::size_t reading_ = 0;
  std::size_t unknown_ = 0;
};

Result<Change> apply(const WhatIfInput& scenario, const ParamValues& params) {
  FORETRACE_TRY(auto a, select(scenario.graph, params.text(a_param)).with_context("parameter 'a'"));
  FORETRACE_TRY(auto b, select(scenario.graph, params.text(b_param)).with_context("parameter 'b'"));
  Pairing pairing(scenario, params.number(conflict_param), params.boolean(independent_param));
  pairing.mark(a, 1);
  pairing.mark(b, 2);
  return pairing.run();
}

constexpr std::array<std::string_view, 4> assumptions = {
    "Neighbours of a and b are independent if no recorded input of the second has as many numbers "
    "as the first writes, or if they are the two gradients of one product. Where no shapes are "
    "recorded, independent=true has to state it.",
    "A fused pair takes the longer time and `conflict` of the shorter one: by bottlenecks, the "
    "mean of the pairs in the artifact of the paper (0.83 for two bound by bytes, 1.73 for two "
    "bound by arithmetic, 0.33 for different ones).",
    "Products are bound by arithmetic, gathers by latency, all others by bytes.",
    "A pair that would be slower stays as it is."};
constexpr std::array<std::string_view, 3> ignores = {
    "registers, shared memory and the split of threads in the fused kernel",
    "kernels that synchronize their whole grid and cannot be fused",
    "pairs with other kernels between them"};
constexpr std::array params = {a_param, b_param, conflict_param, independent_param};

}  // namespace

extern constexpr WhatIfInfo info = {
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
    .identity = {.none_because = "two kernels become one"},
    .params = params,
    .apply = apply};

}  // namespace foretrace::horizontal_fusion_parts
