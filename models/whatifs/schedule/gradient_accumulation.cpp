// Gradient accumulation: several forward and backward passes, then one update.
//
//   before   [load][forward][backward][all-reduce][update]
//   after    [load][forward][backward] [load][forward][backward][all-reduce][update]     steps=2
//   Copies of what a pass does, kernels with their launches, other calls (synchronizations, copies,
//   cudaFree) and the host time before them, come before the pass; exchanges of gradients and the
//   update stay once. A step then does `steps` times the samples. Passes that communicate anything
//   else (all-to-alls of embeddings, all-gathers of parameters, layers in parts) are declined: each
//   of them communicates anew.
//
// memory    none: activations of one pass at a time; gradients live through all passes, as they do
//           when they are zeroed and not freed.
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/editing/kernels/kernel_editor.h"
#include "models/editing/kernels/loading_time.h"
#include "models/editing/tensors/pass_copy.h"
#include "models/editing/tensors/training_pass.h"
#include "models/editing/transfers/transfers.h"
#include "models/whatifs/optimization.h"

namespace foretrace::gradient_accumulation_parts {
namespace {

constexpr ParamInfo steps_param = {
    .name = "steps",
    .type = ParamType::integer,
    .unit = "1",
    .doc = "Forward and backward passes per update; 1 changes nothing.",
    .minimum = 1,
    .maximum = 64};
constexpr ParamInfo load_param = {.name = "load",
                                  .type = ParamType::boolean,
                                  .default_text = "true",
                                  .doc = "Every pass loads data of its own before it begins."};

/// Where a pass begins, its forward part ends and it ends, by the calls of its rank.
struct PassCalls {
  TaskId begin = none<TaskId>;
  TaskId turn{};
  TaskId end{};
};

std::map<std::int32_t, std::vector<PassCalls>> calls_of_passes(
    const editing::KernelEditor& editor, const std::vector<editing::TrainingPass>& passes) {
  std::map<std::int32_t, std::vector<PassCalls>> found;
  for (const editing::TrainingPass& pass : passes) {
    PassCalls calls;
    for (const auto* kernels : {&pass.forward, &pass.backward}) {
      for (const TaskId kernel : *kernels) {
        const TaskId call = editor.own_call(kernel);
        if (call == none<TaskId>) continue;
        calls.begin = std::min(calls.begin, call);
        calls.end = std::max(calls.end, call);
        if (kernels == &pass.forward) calls.turn = std::max(calls.turn, call);
      }
    }
    found[editor.graph().lane(pass.forward.front()).rank].push_back(calls);
  }
  return found;
}

/// Gradients are added up behind the forward part, by ranks that hold the whole layer; buffers are
/// sent around, and barriers met, once per update.
bool is_once(const Work& work, bool is_forward, const std::set<std::uint32_t>& splitting) {
  switch (work.collective) {
    case CollectiveKind::broadcast:
    case CollectiveKind::barrier: return true;
    case CollectiveKind::none:
    case CollectiveKind::all_reduce:
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::reduce: return !is_forward && !splitting.contains(work.communicator);
    default: return false;
  }
}

/// Declines collectives that every further pass would need and that are not repeated.
Status expect_only_gradients(const editing::KernelEditor& editor,
                             const std::vector<editing::TrainingPass>& passes) {
  const TaskGraph& graph = editor.graph();
  const auto transfers = editing::find_transfers(graph, "kind=collective");
  if (!transfers.ok()) return ok_status();
  const auto splitting = editing::layer_splitting(graph, *transfers);
  const auto calls = calls_of_passes(editor, passes);
  std::set<std::string_view> kinds;
  std::size_t number = 0;
  for (std::size_t t = 0; t < graph.size(); ++t) {
    const auto task = make_id<TaskId>(t);
    const Work& work = graph.work(task);
    const auto of_rank = calls.find(graph.lane(task).rank);
    if (graph.kind(task) != TaskKind::collective || work.part == TaskPart::finish ||
        of_rank == calls.end()) {
      continue;
    }
    const TaskId call = launch_of(graph, task) == none<TaskId> ? task : launch_of(graph, task);
    for (const PassCalls& pass : of_rank->second) {
      if (pass.begin == none<TaskId> || call < pass.begin || call > pass.end) continue;
      if (is_once(work, call < pass.turn, splitting)) continue;
      kinds.insert(to_string(work.collective));
      ++number;
    }
  }
  if (number == 0) return ok_status();
  return Error{
      ErrorCode::no_match,
      fmt::format("{} collectives inside the {} passes are no exchanges of gradients ({}): "
                  "every further pass would do them again on all ranks, and copies of a "
                  "pass leave them out; expected passes that exchange gradients only",
                  number, passes.size(), fmt::join(kinds, ", "))};
}

Result<Change> apply(const Scenario& scenario, const ParamValues& params) {
  editing::KernelEditor editor(scenario);
  const std::int64_t steps = params.integer(steps_param);
  const auto passes = editing::find_passes(editor);
  if (passes.empty()) {
    return Error{ErrorCode::no_match,
                 "no forward kernels with a backward pass after them, expected a training step"};
  }
  for (const editing::TrainingPass& pass : passes) {
    for (const auto* kernels : {&pass.forward, &pass.backward}) {
      const auto captured = std::count_if(
          kernels->begin(), kernels->end(),
          [&editor](TaskId kernel) { return editor.own_call(kernel) == none<TaskId>; });
      if (steps > 1 && captured > 0) {
        return Error{ErrorCode::no_match,
                     fmt::format("{} of the {} kernels of a pass are launched with others, as by a "
                                 "CUDA graph: no kernel of a pass may be left out of its copy; "
                                 "expected launches of their own",
                                 captured, kernels->size())};
      }
    }
  }
  if (steps > 1) {
    if (Status status = expect_only_gradients(editor, passes); !status) {
      return std::move(status).error();
    }
  }
  const bool load = params.boolean(load_param);
  const auto loading = editing::loading_times(scenario.graph);
  std::int64_t loaded_ns = 0;
  editing::PassCopier copier(editor, passes);
  for (std::size_t i = 0; i < passes.size(); ++i) {
    const editing::TrainingPass& pass = passes[i];
    TaskId anchor = none<TaskId>;
    for (const TaskId kernel : pass.forward) {
      if (anchor == none<TaskId>) anchor = editor.own_call(kernel);
    }
    if (anchor == none<TaskId>) continue;
    const auto found = loading.find(scenario.graph.step(anchor));
    const std::int64_t wait = load && found != loading.end() ? found->second : 0;
    for (std::int64_t copy = 1; copy < steps; ++copy) {
      const TaskId first = copier.put(i, anchor);
      // The recorded loading serves the first copy; later ones and the pass itself load anew.
      if (copy > 1 && first != none<TaskId>)
        editor.edit().spec_of(editor.call_of_new(first)).segment_ns += wait;
      loaded_ns += wait;
    }
    if (steps > 1 && wait > 0) {
      editor.edit().set_segment(anchor, scenario.graph.segment_ns(anchor) + wait);
    }
  }
  Change change = editor.finish(fmt::format(
      "{} kernels of {} passes run {} times: {:.2f} ms of device time, {:.2f} ms of loading and "
      "{:.2f} ms of {} other calls are added; a step now does {} times the samples, so compare "
      "step "
      "time / {}",
      editor.sums().added, passes.size(), steps, editing::to_ms(editor.sums().after_ns),
      editing::to_ms(loaded_ns), editing::to_ms(copier.calls_ns()), copier.calls(), steps, steps));
  change.samples = static_cast<double>(steps);
  return change;
}

constexpr std::array<std::string_view, 3> assumptions = {
    "Every further pass takes as long as the recorded one, on the device and on the host, and runs "
    "on the thread of the forward pass.",
    "Loading the data of a further pass takes the host time and the copies that the recorded step "
    "spends on it, one after the other (load=true).",
    "Gradients are added where they are written, as they are when they are zeroed in place."};
constexpr std::array<std::string_view, 3> ignores = {
    "broadcasts and barriers inside a pass: they stay once per update, as under no_sync()",
    "one more read and write of every gradient where the first pass would only store it",
    "accuracy and the number of steps to reach it"};
constexpr std::array params = {steps_param, load_param};
constexpr std::array<std::string_view, 3> memory_settings = {"steps=2;batch_size:factor=0.5",
                                                             "steps=4;batch_size:factor=0.25",
                                                             "steps=8;batch_size:factor=0.125"};

constexpr OptimizationInfo info = {
    .name = "gradient_accumulation",
    .summary = "Run several forward and backward passes before each update.",
    .paper =
        "M. Ott, S. Edunov, D. Grangier, M. Auli, Scaling Neural Machine Translation, WMT "
        "2018; P. Izsak, M. Berchansky, O. Levy, How to Train BERT with an Academic Budget, "
        "EMNLP 2021",
    .recipe =
        "Copies of all that host and device do from the first to the last launch of a pass "
        "(kernels, copies, sets, synchronizations, cudaFree), with the host time before each and "
        "what each waits for, are inserted in front of the pass, steps - 1 times. Exchanges of "
        "gradients, the update, loading and what only some passes do (first uses) stay once. "
        "Passes that communicate anything else are declined: every pass would do that again.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate = "nothing: steps is the user's choice; load=false for a loader that keeps up.",
    .params = params,
    .apply = apply,
    .stage = ApplyStage::schedule,
    .memory_settings = memory_settings};

}  // namespace
}  // namespace foretrace::gradient_accumulation_parts

namespace foretrace::optimizations {
extern const OptimizationInfo gradient_accumulation;
constinit const OptimizationInfo gradient_accumulation = gradient_accumulation_parts::info;
}  // namespace foretrace::optimizations
