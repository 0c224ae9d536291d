// Cortex: all operators of one level of a recursive model are one kernel, weights stay on the chip.
//
//   before   level 1: [gemm][add][tanh]   level 2: [gemm][add][tanh]   ...
//   after    level 1: [one kernel     ]   level 2: [one kernel     ]   weights read once
//   The selected kernels of each step are `levels` runs of equal operators.
//
// memory    intermediates inside a level are not stored.
#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/editing/chains/repeats.h"
#include "models/editing/kernels/kernel_names.h"
#include "models/whatifs/what_if.h"
#include "sim/core/whole.h"
#include "sim/edit/selection.h"

namespace foretrace::cortex_parts {
namespace {

constexpr ParamInfo levels_param = {
    .name = "levels",
    .type = ParamType::integer,
    .unit = "1",
    .doc = "Levels of the recursion in a step, such as the depth of the trees.",
    .minimum = 1,
    .maximum = 1000000};
constexpr ParamInfo select_param = {.name = "select",
                                    .type = ParamType::selection,
                                    .default_text = "kind=kernel&phase=forward",
                                    .doc = "Kernels of the recursion."};
constexpr ParamInfo weights_param = {
    .name = "weights",
    .type = ParamType::bytes,
    .unit = "B",
    .default_text = "0 B",
    .doc = "Weights of the cell; 0: by the shapes of the products of a level.",
    .minimum = 0,
    .maximum = 1000000000000000.0};
constexpr ParamInfo sync_param = {.name = "sync",
                                  .type = ParamType::time,
                                  .unit = "us",
                                  .default_text = "3 us",
                                  .doc = "One synchronization of all thread blocks per level.",
                                  .minimum = 0,
                                  .maximum = 1000000000.0,
                                  .optimistic = "1.5 us",
                                  .pessimistic = "6 us"};

struct Settings {
  std::size_t levels = 1;
  double weights = 0;
  std::int64_t sync_ns = 0;
};

double ramp_up(const editing::KernelEditor& editor, TaskId kernel) {
  return std::min(shortest_kernel_ns(editor.class_of(kernel)),
                  static_cast<double>(editor.graph().duration_ns(kernel)));
}

// Bytes of weights that the products of a level read.
double weight_bytes(const editing::KernelEditor& editor, const std::vector<TaskId>& level) {
  double bytes = 0;
  for (const TaskId kernel : level) {
    if (!editing::is_linear(editor, kernel)) continue;
    const GemmShape& shape = *editor.about(kernel).amount.gemm;
    bytes += shape.k * shape.n * editor.number_bytes(kernel);
  }
  return bytes;
}

// Levels call the same operators in the same layers: weights are shared where the cell is one.
bool are_equal_levels(const editing::KernelEditor& editor, const std::vector<TaskId>& kernels,
                      std::size_t each) {
  const auto items = editing::kernel_items(editor, kernels, editing::SameBy::operator_called);
  return std::equal(items.begin() + static_cast<std::ptrdiff_t>(each), items.end(), items.begin());
}

bool fuse_levels(editing::KernelEditor& editor, const std::vector<TaskId>& kernels,
                 const Settings& settings) {
  const std::size_t each = kernels.size() / settings.levels;
  if (each < 2 || kernels.size() % settings.levels != 0) return false;
  if (!are_equal_levels(editor, kernels, each)) return false;
  for (std::size_t l = 0; l < settings.levels; ++l) {
    const auto begin = kernels.begin() + static_cast<std::ptrdiff_t>(l * each);
    const std::vector<TaskId> level(begin, begin + static_cast<std::ptrdiff_t>(each));
    double ns = 0;
    double longest_ramp_up = 0;
    for (const TaskId kernel : level) {
      const double ramp = ramp_up(editor, kernel);
      ns += static_cast<double>(editor.graph().duration_ns(kernel)) - ramp;
      longest_ramp_up = std::max(longest_ramp_up, ramp);
    }
    if (l > 0 && editor.accelerator() != nullptr) {
      const double bytes = settings.weights > 0 ? settings.weights : weight_bytes(editor, level);
      ns -= bytes / memory_rate(*editor.accelerator(), KernelClass::gemm) * 1e9;
    }
    const std::int64_t total = to_whole(std::max(0.0, ns) + longest_ramp_up) + settings.sync_ns;
    editor.replace(level, {"level of the recursion",
                           editing::fused_work(editor, level),
                           {total, Provenance::scaled, 0.75F, 1.33F}});
  }
  return true;
}

Result<Change> apply(const WhatIfInput& scenario, const ParamValues& params) {
  FORETRACE_TRY(
      auto selected,
      select(scenario.graph, params.text(select_param)).with_context("parameter 'select'"));
  editing::KernelEditor editor(scenario);
  Settings settings;
  settings.levels = static_cast<std::size_t>(params.integer(levels_param));
  settings.weights = params.number(weights_param);
  settings.sync_ns = params.integer(sync_param);
  std::map<std::pair<std::int32_t, LaneId>, std::vector<TaskId>> runs;
  for (const TaskId task : selected) {
    if (scenario.graph.kind(task) != TaskKind::kernel || editor.own_call(task) == none<TaskId>) {
      continue;
    }
    runs[{scenario.graph.step(task), scenario.graph.lane_id(task)}].push_back(task);
  }
  for (const auto& [key, kernels] : runs) fuse_levels(editor, kernels, settings);
  if (editor.untouched()) {
    return Error{ErrorCode::no_match,
                 fmt::format("in no step are the selected kernels {} equal levels of two or more: "
                             "the same operators, in the same layers",
                             settings.levels)};
  }
  return editor.finish(editor.sums_text());
}

constexpr std::array<std::string_view, 3> assumptions = {
    "The selected kernels are the recursion: all levels call the same operators in the same "
    "layers. Where no layers are recorded, all of them share their weights.",
    "Weights fit on the chip, or in its cache, and are read once per step.",
    "Kernels made by a compiler do the arithmetic as fast as those of libraries."};
constexpr std::array<std::string_view, 2> ignores = {
    "intermediates of a level, which need not be written",
    "load balance between the nodes of a level"};
constexpr std::array params = {levels_param, select_param, weights_param, sync_param};

}  // namespace

extern constexpr WhatIfInfo info = {
    .name = "cortex",
    .summary = "Run each level of a recursive model as one kernel.",
    .paper =
        "P. Fegade, T. Chen, P. Gibbons, T. Mowry, Cortex: A Compiler for Recursive "
        "Deep Learning Models, MLSys 2021",
    .recipe =
        "The selected kernels of each step and stream, in launch order, are `levels` runs of "
        "the same operators in the same layers; each is replaced by one launch and one kernel that "
        "takes the sum of the times beyond the ramp-ups, without the bytes of weights "
        "after the first level, and `sync` per level.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate = "sync: time of one grid synchronization; weights: bytes of the cell's weights.",
    .identity = {.none_because = "every level of the recursion becomes one kernel"},
    .params = params,
    .apply = apply,
    .basis = Basis::formula};

}  // namespace foretrace::cortex_parts
