// BPPSA: a chain of gradients becomes a parallel scan of Jacobians.
//
//   before   g4 -> g3 -> g2 -> g1                     n steps, one after the other
//   after    level by level: pairwise products up, then down     2 ceil(log2(n + 1)) - 1 levels
//   The selected kernels of a backward pass are the chain, such as the time steps of a recurrent
//   layer.
//
// memory    n + 1 Jacobians of the stages are kept at once.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "models/editing/tensors/training_pass.h"
#include "models/whatifs/optimization.h"
#include "sim/edit/selection.h"

namespace foretrace {
namespace {

constexpr ParamInfo select_param = {.name = "select",
                                    .type = ParamType::selection,
                                    .doc = "The chain, e.g. 'phase=backward&operator~lstm'."};
constexpr ParamInfo stage_param = {.name = "stage",
                                   .type = ParamType::integer,
                                   .unit = "1",
                                   .default_text = "1",
                                   .doc = "Kernels per stage of the chain.",
                                   .minimum = 1,
                                   .maximum = 1000};
constexpr ParamInfo combine_param = {
    .name = "combine",
    .unit = "x",
    .default_text = "1",
    .doc = "Time of one product of two Jacobians / time of a stage.",
    .minimum = 0,
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
  std::size_t stage = 1;
  double combine = 1;
  double workers = 0;
};

// The levels share the places of the chain, so that launches stay where they were.
bool scan(editing::KernelEditor& editor, const std::vector<TaskId>& chain,
          const Settings& settings) {
  const std::size_t stages = chain.size() / settings.stage;
  const auto widths = level_widths(stages);
  if (stages < 2 || widths.size() >= chain.size()) return false;
  double sum = 0;
  for (const TaskId kernel : chain) sum += static_cast<double>(editor.graph().duration_ns(kernel));
  const double combine = settings.combine * sum / static_cast<double>(stages);
  std::vector<std::vector<TaskId>> groups;
  for (std::size_t level = 0; level < widths.size(); ++level) {
    const auto at = [&](std::size_t l) {
      return chain.begin() + static_cast<std::ptrdiff_t>(chain.size() * l / widths.size());
    };
    groups.emplace_back(at(level), at(level + 1));
    // A scan with a wait inside one of its levels is none.
    if (!editor.edit().can_be_one(groups.back())) return false;
  }
  for (std::size_t level = 0; level < widths.size(); ++level) {
    const double rounds =
        settings.workers > 0 ? std::ceil(static_cast<double>(widths[level]) / settings.workers) : 1;
    const Cost cost{std::llround(std::min(rounds * combine, 1e17)), Provenance::assumed, 0.8F,
                    1.25F};
    editor.replace(groups[level], {"level of the scan", cost, 0});
  }
  return true;
}

Result<Change> apply(const Scenario& scenario, const ParamValues& params) {
  auto selected = select(scenario.graph, params.text(select_param));
  if (!selected) return std::move(selected).error().with_context("parameter 'select'");
  editing::KernelEditor editor(scenario);
  std::vector<bool> chosen(scenario.graph.size(), false);
  for (const TaskId task : *selected) chosen[index(task)] = true;
  Settings settings;
  settings.stage = static_cast<std::size_t>(params.integer(stage_param));
  settings.combine = params.number(combine_param);
  settings.workers = params.number(workers_param);
  std::size_t chains = 0;
  for (const editing::TrainingPass& pass : editing::find_passes(editor)) {
    std::vector<TaskId> chain;
    for (const TaskId kernel : pass.backward) {
      if (chosen[index(kernel)] && editor.own_call(kernel) != none<TaskId>) chain.push_back(kernel);
    }
    if (scan(editor, chain, settings)) ++chains;
  }
  if (chains == 0) {
    return Error{
        ErrorCode::no_match,
        "no chain of selected backward kernels that is longer than its scan and has no wait "
        "inside a level"};
  }
  return editor.finish(fmt::format("{} chains of {} stages on average: {}", chains,
                                   editor.sums().removed / settings.stage / chains,
                                   editor.sums_text()));
}

constexpr std::array<std::string_view, 3> assumptions = {
    "The selected kernels are one chain: each needs the gradient of the one before.",
    "Multiplying two Jacobians takes `combine` times a step of the chain; dense "
    "Jacobians of width h and batch 1 take h times, sparse ones about 1.",
    "Products of one level run at the same time, `workers` of them."};
constexpr std::array<std::string_view, 2> ignores = {
    "making the Jacobians", "gradients of weights, which follow in parallel as before"};
constexpr std::array params = {select_param, stage_param, combine_param, workers_param};

}  // namespace

namespace optimizations {

extern const OptimizationInfo bppsa;
constinit const OptimizationInfo bppsa = {
    .name = "bppsa",
    .summary = "Compute a chain of gradients as a parallel scan.",
    .paper =
        "S. Wang, Y. Bai, G. Pekhimenko, BPPSA: Scaling Back-propagation by Parallel "
        "Scan Algorithm, MLSys 2020",
    .recipe =
        "The selected backward kernels of each pass, n stages of `stage` kernels, are "
        "replaced by 2 ceil(log2(n + 1)) - 1 kernels, one per level of an up- and a "
        "down-sweep; a level with w products takes ceil(w / workers) x combine x the "
        "mean time of a stage.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate = "combine: time of one product of two Jacobians / time of one step of the chain.",
    .params = params,
    .apply = apply};

}  // namespace optimizations
}  // namespace foretrace
