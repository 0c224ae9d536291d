// BPPSA: a chain of gradients becomes a parallel scan of Jacobians.
//
//   before   g4 -> g3 -> g2 -> g1                     n steps, one after the other
//   after    level by level: pairwise products up, then down     2 ceil(log2(n + 1)) - 1 levels
//   A chain is a row of products that give gradients of inputs, each of what the one before gave,
//   such as the time steps of a recurrent layer. Products for weights stay beside it.
//
// memory    the Jacobians of all stages are kept at once while the scan runs.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "models/editing/kernels/kernel_names.h"
#include "models/editing/tensors/training_pass.h"
#include "models/whatifs/what_if.h"
#include "sim/core/whole.h"
#include "sim/edit/selection.h"
#include "sim/edit/tensors.h"
#include "sim/graph/links.h"

namespace foretrace::bppsa_parts {
namespace {

constexpr ParamInfo select_param = {.name = "select",
                                    .type = ParamType::selection,
                                    .doc = "The chain, e.g. 'phase=backward&operator~lstm'."};
constexpr ParamInfo combine_param = {
    .name = "combine",
    .unit = "x",
    .default_text = "-1",
    .doc = "Time of one product of two Jacobians / time of a stage; -1: by the shapes.",
    .minimum = -1,
    .maximum = 1000000.0};
constexpr ParamInfo workers_param = {.name = "workers",
                                     .unit = "1",
                                     .default_text = "0",
                                     .doc = "Products at the same time; 0: all of a level.",
                                     .minimum = 0,
                                     .maximum = 1000000000.0};

// Products of every level: up-sweep from the leaves, then down-sweep.
std::vector<std::size_t> level_widths(std::size_t stages) {
  std::vector<std::size_t> up;
  for (std::size_t width = (stages + 1) / 2; width > 0; width /= 2) up.push_back(width);
  std::size_t levels = 0;
  for (std::size_t span = 1; span < stages + 1; span *= 2) ++levels;
  up.resize(levels, 1);
  std::vector<std::size_t> widths = up;
  for (std::size_t i = levels; i-- > 1;) widths.push_back(up[i - 1]);
  return widths;
}

struct Settings {
  double combine = -1;
  double workers = 0;
};

// A stage's gradient is a product of rows x out numbers with a weight of out x in.
struct Stage {
  TaskId kernel{};
  double rows = 0;
  double out = 0;
  double in = 0;
};
using Shape = std::tuple<double, double, double>;  // m, n, k

/// Products of forward: a backward one that turns rows x n into rows x k again is that for the
/// input; the one that sums over the rows is that for the weight.
std::set<Shape> input_gradients(const editing::KernelEditor& editor,
                                const editing::TrainingPass& pass) {
  std::set<Shape> shapes;
  for (const TaskId kernel : pass.forward) {
    if (!editing::is_linear(editor, kernel)) continue;
    const GemmShape& forward = *editor.about(kernel).amount.gemm;
    shapes.emplace(forward.m, forward.k, forward.n);
    shapes.emplace(forward.k, forward.m, forward.n);  // as libraries that store columns have it
  }
  return shapes;
}

class Scan {
 public:
  Scan(const WhatIfInput& scenario, const Settings& settings)
      : editor_(scenario), settings_(settings) {}

  Result<Change> run(const std::vector<TaskId>& selected) {
    std::vector<bool> chosen(editor_.graph().size(), false);
    for (const TaskId task : selected) chosen[index(task)] = true;
    for (const editing::TrainingPass& pass : editing::find_passes(editor_)) {
      for (const std::vector<Stage>& chain : chains_of(pass, chosen)) {
        FORETRACE_TRY(replace(chain));
      }
    }
    if (chains_ == 0) {
      return Error{ErrorCode::no_match,
                   "no chain of three or more input-gradient products of known shape, each of what "
                   "the one before gave, that is longer than its scan and has no wait inside a "
                   "level"};
    }
    TensorEditor tensors(editor_.edit());
    for (const Kept& kept : kept_) add_jacobians(kept, tensors);
    return editor_.finish(
        fmt::format("{} chains of {} stages on average: {}; {:.1f} MB of "
                    "Jacobians at once{}",
                    chains_, editor_.sums().removed / chains_, editor_.sums_text(), largest_ * 1e-6,
                    tensors.note()));
  }

 private:
  struct Kept {
    TaskId first{};
    TaskId last{};
    double bytes = 0;
  };

  [[nodiscard]] std::vector<std::vector<Stage>> chains_of(const editing::TrainingPass& pass,
                                                          const std::vector<bool>& chosen) const {
    const std::set<Shape> wanted = input_gradients(editor_, pass);
    std::map<LaneId, std::vector<std::vector<Stage>>> open;
    for (const TaskId kernel : pass.backward) {
      if (!chosen[index(kernel)] || editor_.own_call(kernel) == none<TaskId> ||
          !editing::is_linear(editor_, kernel) || editor_.about(kernel).shape_from_grid) {
        continue;
      }
      const GemmShape& shape = *editor_.about(kernel).amount.gemm;
      if (!wanted.contains({shape.m, shape.n, shape.k})) continue;
      const Stage stage{kernel, shape.m, shape.k, shape.n};
      auto& lists = open[editor_.graph().lane_id(kernel)];
      if (lists.empty() || lists.back().back().rows != stage.rows ||
          lists.back().back().in != stage.out) {
        lists.emplace_back();
      }
      lists.back().push_back(stage);
    }
    std::vector<std::vector<Stage>> chains;
    for (auto& [lane, lists] : open) {
      for (auto& list : lists) {
        if (list.size() > 2) chains.push_back(std::move(list));
      }
    }
    return chains;
  }

  // Every row has Jacobians of its own: a product of two is a batched one.
  Result<double> level_ns(const std::vector<Stage>& chain, std::size_t width) const {
    const double at_once = settings_.workers > 0
                               ? std::min(settings_.workers, static_cast<double>(width))
                               : static_cast<double>(width);
    const double rounds = std::ceil(static_cast<double>(width) / at_once);
    if (settings_.combine >= 0) {
      double sum = 0;
      for (const Stage& stage : chain) {
        sum += static_cast<double>(editor_.graph().duration_ns(stage.kernel));
      }
      return rounds * settings_.combine * sum / static_cast<double>(chain.size());
    }
    if (editor_.accelerator() == nullptr) return missing_cost("a product of two Jacobians");
    double side = 0;
    for (const Stage& stage : chain) side = std::max({side, stage.in, stage.out});
    const GemmShape product{chain.front().rows * at_once, side, side, side};
    return rounds * gemm_ns(*editor_.accelerator(),
                            editor_.about(chain.front().kernel).traits.precision, product);
  }

  // The levels share the places of the chain, so that launches stay where they were.
  Status replace(const std::vector<Stage>& chain) {
    const auto widths = level_widths(chain.size());
    if (widths.size() >= chain.size()) return ok_status();
    const double bytes = jacobian_bytes(chain);
    if (editor_.accelerator() != nullptr &&
        bytes > static_cast<double>(editor_.accelerator()->memory_bytes)) {
      return Error{ErrorCode::no_match,
                   fmt::format("{:.1f} GB of Jacobians of {} stages lie in memory at once, {} has "
                               "{:.1f} GB",
                               bytes * 1e-9, chain.size(), editor_.accelerator()->name,
                               static_cast<double>(editor_.accelerator()->memory_bytes) * 1e-9)};
    }
    std::vector<std::vector<TaskId>> groups;
    for (std::size_t level = 0; level < widths.size(); ++level) {
      groups.emplace_back();
      const std::size_t end = chain.size() * (level + 1) / widths.size();
      for (std::size_t i = chain.size() * level / widths.size(); i < end; ++i) {
        groups.back().push_back(chain[i].kernel);
      }
      // A scan with a wait inside one of its levels is none.
      if (!editor_.edit().can_be_one(groups.back())) return ok_status();
    }
    for (std::size_t level = 0; level < widths.size(); ++level) {
      FORETRACE_TRY(const double ns, level_ns(chain, widths[level]));
      const Provenance from = settings_.combine >= 0 ? Provenance::assumed : Provenance::roofline;
      const Cost cost{to_whole(std::min(ns, 1e17)), from, 0.8F, 1.25F};
      editor_.replace(groups[level],
                      {"level of the scan", editing::fused_work(editor_, groups[level]), cost});
    }
    keep_jacobians(chain);
    ++chains_;
    return ok_status();
  }

  [[nodiscard]] double jacobian_bytes(const std::vector<Stage>& chain) const {
    double bytes = 0;
    for (const Stage& stage : chain) {
      bytes += stage.rows * stage.in * stage.out * editor_.number_bytes(stage.kernel);
    }
    return bytes;
  }

  void keep_jacobians(const std::vector<Stage>& chain) {
    const double bytes = jacobian_bytes(chain);
    largest_ = std::max(largest_, bytes);
    kept_.push_back({chain.front().kernel, chain.back().kernel, bytes});
  }

  // Only where the recording has tensors: a peak of Jacobians alone would be no answer.
  void add_jacobians(const Kept& kept, TensorEditor& tensors) {
    const TaskGraph& graph = editor_.graph();
    if (graph.context().tensors.empty()) return;
    // The launches of the chain are gone; what was launched before and after them is not.
    const TaskId from = previous_on_lane(graph, editor_.own_call(kept.first));
    const TaskId to = next_on_lane(graph, editor_.own_call(kept.last));
    if (from == none<TaskId> || to == none<TaskId>) return;
    Tensor jacobians{.rank = graph.lane(kept.first).rank,
                     .device = graph.lane(kept.first).device,
                     .category = TensorCategory::temporary,
                     .phase = Phase::backward,
                     .provenance = Provenance::roofline,
                     .layer = graph.layer(kept.first),
                     .stream = graph.lane_id(kept.first),
                     .allocated_in = from,
                     .freed_in = to};
    tensors.add(jacobians, kept.bytes, "Jacobians");
  }

  editing::KernelEditor editor_;
  Settings settings_;
  std::size_t chains_ = 0;
  std::vector<Kept> kept_;
  double largest_ = 0;
};

Result<Change> apply(const WhatIfInput& scenario, const ParamValues& params) {
  FORETRACE_TRY(
      auto selected,
      select(scenario.graph, params.text(select_param)).with_context("parameter 'select'"));
  const Settings settings{params.number(combine_param), params.number(workers_param)};
  return Scan(scenario, settings).run(selected);
}

constexpr std::array<std::string_view, 3> assumptions = {
    "Selected products that turn gradients of outputs into gradients of inputs, with the sizes of "
    "a forward product and of what the one before gave, are one chain.",
    "Jacobians are dense and differ from row to row: two of them take a batched product of h x h x "
    "h numbers per row. Set `combine` for sparse ones, or for one Jacobian for all rows.",
    "Products of one level run at the same time, `workers` of them."};
constexpr std::array<std::string_view, 2> ignores = {
    "making the Jacobians, for which kernels between the products stand",
    "gradients of weights, which follow in parallel as before"};
constexpr std::array params = {select_param, combine_param, workers_param};

}  // namespace

extern constexpr WhatIfInfo info = {
    .name = "bppsa",
    .summary = "Compute a chain of gradients as a parallel scan.",
    .paper =
        "S. Wang, Y. Bai, G. Pekhimenko, BPPSA: Scaling Back-propagation by Parallel "
        "Scan Algorithm, MLSys 2020",
    .recipe =
        "Each chain of n selected input-gradient products of a backward pass is replaced by 2 "
        "ceil(log2(n + 1)) - 1 kernels, one per level of an up- and a down-sweep; a level with w "
        "products takes the model time of w x rows batched products of Jacobians.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate = "combine: time of one product of two Jacobians / time of one step of the chain.",
    .identity = {.none_because = "a chain of stages becomes a scan of products"},
    .params = params,
    .apply = apply};

}  // namespace foretrace::bppsa_parts
