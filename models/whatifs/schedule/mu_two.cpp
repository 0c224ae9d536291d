// mu-TWO: several models train together, one half of them in forward while the other is in
// backward.
//
//   before   [forward 1        ][backward 1              ][update 1]            one model
//   after    [forward 1 and backward 2][backward 1 and forward 2][update 1][update 2]   models=2
//            to host    [maps of 1 ...]    [maps of 2 ...]                              swap=1
//            to device         [maps of 2 ...]    [maps of 1 ...]
//   The models are two sub-arrays. Within one, the same kernel of all its models is one kernel with
//   one launch; of the two sub-arrays, the second is half a step behind. What runs together shares
//   the device as the published pairs of kernels do. A step then does a step of every model.
//
// memory    weights, gradients, states of all models; activations of the second sub-array, half a
//           step later; swapped ones are on the device only around their use.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "models/editing/copies/host_link.h"
#include "models/editing/parameters/model_state.h"
#include "models/editing/transfers/transfers.h"
#include "models/whatifs/schedule/half_step_maps.h"
#include "models/whatifs/what_if.h"
#include "sim/core/whole.h"

namespace foretrace::mu_two_parts {
namespace {

constexpr ParamInfo models_param = {.name = "models",
                                    .type = ParamType::integer,
                                    .unit = "1",
                                    .doc = "Models that train at once; 1 changes nothing.",
                                    .minimum = 1,
                                    .maximum = 64};
constexpr ParamInfo conflict_param = {
    .name = "conflict",
    .unit = "x",
    .default_text = "-1",
    .doc = "Part of a kernel's time that adds to one beside it; -1: by bottlenecks.",
    .minimum = -1,
    .maximum = 10};
constexpr ParamInfo swap_param = {
    .name = "swap",
    .unit = "1",
    .default_text = "0",
    .doc = "Share of the activations' bytes that leave between forward and backward.",
    .minimum = 0,
    .maximum = 1};
constexpr ParamInfo least_param = {.name = "least",
                                   .type = ParamType::bytes,
                                   .unit = "B",
                                   .default_text = "1 MiB",
                                   .doc = "Smaller activations stay on the device.",
                                   .minimum = 1,
                                   .maximum = 1e15};

using editing::TrainingPass;

class MuTwo {
 public:
  MuTwo(const WhatIfInput& scenario, const ParamValues& params)
      : editor_(scenario),
        models_(params.integer(models_param)),
        second_(std::floor(static_cast<double>(models_) / 2)),
        first_(static_cast<double>(models_) - second_),
        step_(editor_, first_, second_, params.number(conflict_param)),
        maps_(editor_, step_,
              editing::host_link_bandwidth(scenario.graph, scenario.accelerator, params),
              params.number(swap_param), params.number(least_param)) {}

  Result<Change> run();

 private:
  [[nodiscard]] std::string note(std::size_t passes) const;
  void repeat_parameters();
  void repeat_moves();
  void repeat_exchanges();

  editing::KernelEditor editor_;
  std::int64_t models_ = 1;
  double second_ = 0;  // models in the sub-array beside the recorded kernels
  double first_ = 1;   // in theirs
  editing::HalfStep step_;
  editing::HalfStepMaps maps_;
};

std::string MuTwo::note(std::size_t passes) const {
  const double one = editing::to_ms(step_.one_ns());
  const double all = editing::to_ms(step_.all_ns());
  std::string text = fmt::format(
      "{} models, {} and {} at once, {} passes: {:.2f} ms of device time per model become {:.2f} "
      "ms for all, {:.2f} ms per model; a step now is one of every model, so compare step time / "
      "{}",
      models_, first_, second_, passes, one, all, all / static_cast<double>(models_), models_);
  const double bytes = maps_.moved_bytes();
  if (bytes > 0) {
    text += fmt::format("; {:.0f} MB of activations copied to the host and back", bytes * 1e-6);
  }
  return text + maps_.note();
}

/// Every model has its own.
void MuTwo::repeat_parameters() {
  editing::ParameterEditor parameters(editor_);
  for (Parameter& row : parameters.table().rows) row.elements *= static_cast<double>(models_);
  parameters.finish();
}

/// What other what-ifs put in for a model, each model has: maps that leave and return, an update on
/// the host, a checkpoint. What was recorded stays once, see `ignores`.
void MuTwo::repeat_moves() {
  const TaskGraph& graph = editor_.graph();
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const auto task = make_id<TaskId>(i);
    const TaskKind kind = graph.kind(task);
    const Provenance from = graph.provenance(task);
    const bool is_put_in = from == Provenance::assumed || from == Provenance::roofline;
    // A pass of accumulation has its calls from the recorded one.
    const bool is_of_model = kind == TaskKind::copy
                                 ? graph.phase(task) != Phase::data_loading
                                 : kind == TaskKind::host && graph.phase(task) == Phase::update;
    if (!is_put_in || !is_of_model) continue;
    const double ns = static_cast<double>(graph.duration_ns(task)) * static_cast<double>(models_);
    editor_.edit().set_duration(task, to_whole(std::min(ns, 1e17)), {from, 1.0F, 1.0F});
  }
}

/// Every model exchanges its own gradients, states and activations; waiting for other ranks stays.
void MuTwo::repeat_exchanges() {
  const TaskGraph& graph = editor_.graph();
  const auto transfers = editing::find_transfers(graph, "kind=collective");
  if (models_ == 1 || !transfers.ok()) return;
  const editing::MovingTimes moving(graph, *transfers);
  for (const editing::Transfer& transfer : *transfers) {
    const auto more = static_cast<double>(moving.of(transfer)) * static_cast<double>(models_ - 1);
    const double ns = static_cast<double>(graph.duration_ns(transfer.task)) + more;
    editor_.edit().set_duration(transfer.task, to_whole(std::min(ns, 1e17)));
  }
}

Result<Change> MuTwo::run() {
  const auto launched = [&](const std::vector<TaskId>& kernels) {
    return std::any_of(kernels.begin(), kernels.end(),
                       [&](TaskId kernel) { return editor_.own_call(kernel) != none<TaskId>; });
  };
  std::size_t passes = 0;
  for (const TrainingPass& pass : editing::find_passes_in_turn(editor_)) {
    if (!launched(pass.forward) || !launched(pass.backward)) continue;
    ++passes;
    step_.share(pass.forward, pass.backward);
    step_.share(pass.backward, pass.forward);
    maps_.keep(pass);
  }
  if (passes == 0) {
    return Error{ErrorCode::no_match,
                 "no forward pass with a backward pass after it, both launched by calls of their "
                 "own, expected a training step"};
  }
  for (const TaskId kernel : editor_.kernels()) {
    if (editor_.graph().phase(kernel) == Phase::update) step_.repeat(kernel);
  }
  maps_.finish();
  repeat_moves();
  repeat_exchanges();
  repeat_parameters();
  Change change = editor_.finish(note(passes));
  change.samples = static_cast<double>(models_);
  return change;
}

Result<Change> apply(const WhatIfInput& scenario, const ParamValues& params) {
  return MuTwo(scenario, params).run();
}

constexpr std::array<std::string_view, 5> assumptions = {
    "The models have one architecture, and all read the same samples: data is loaded once.",
    "Half of the models (of an odd number, one more) run each kernel as one for all of them: "
    "ramp-up once, matrix products in waves where the accelerator is known, one launch.",
    "Kernels of the two halves take turns where one of them fills the device by its grid (pairs on "
    "an H100 miss that by 6 % on average); others that run at once slow down by 1 + conflict: by "
    "bottlenecks, the mean of the pairs of HFuse (0.83 for two bound by bytes, 0.33 for different "
    "ones; two bound by arithmetic take turns), which is off by 21 % on average.",
    "The recorded window is the middle of a run: the second half enters it with its forward done.",
    "The models are launched from one process, the second half's kernels with the host time of "
    "the recorded ones."};
constexpr std::array<std::string_view, 5> ignores = {
    "recorded copies and sets: they stay once; collectives move the bytes of every model where "
    "they stand, and the second half's kernels beside them do not wait for their own",
    "recomputing, with which mu-TWO also saves memory, and its search for what to swap: what is "
    "made first is swapped first",
    "kernels that get slower while copies use the same memory",
    "temporaries of the second half's kernels, and the order in which updates could run beside "
    "the passes",
    "kernels that already overlap on several streams: a pass is taken as one after the other"};
constexpr std::array params = {models_param, conflict_param, swap_param, editing::host_link_param,
                               least_param};

}  // namespace

extern constexpr WhatIfInfo info = {
    .name = "mu_two",
    .summary = "Train several models at once, half of them in forward beside the other's backward.",
    .paper =
        "S. Purandare, A. Wasay, S. Idreos, A. Jain, mu-TWO: 3x Faster Multi-Model Training with "
        "Orchestration and Memory Optimization, MLSys 2023",
    .recipe =
        "Each kernel of a pass takes the time of the first half of the models. Copies of the "
        "backward kernels with their calls are inserted among the forward kernels, and of forward "
        "kernels among the backward ones, where they end when both share the device. Updates run "
        "for each half. Swapped activations get copies to the host and back, on a stream per "
        "direction, for which the kernels that need them wait.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate =
        "conflict: (both - longer) / shorter of a forward and a backward pass on two streams; "
        "bandwidth: a pinned copy of some MB.",
    .identity = {.setting = "models=1"},
    .params = params,
    .apply = apply,
    .stage = ApplyStage::schedule};

}  // namespace foretrace::mu_two_parts
