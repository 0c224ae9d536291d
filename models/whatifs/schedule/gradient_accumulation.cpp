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
#include "models/editing/parameters/update_of_pass.h"
#include "models/editing/tensors/pass_copy.h"
#include "models/editing/tensors/training_pass.h"
#include "models/editing/transfers/transfers.h"
#include "models/whatifs/what_if.h"

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

/// Passes of whose kernels all launches are recorded; in the middle of the others the recording
/// began. Errors: none such, or kernels that are launched with others.
Result<std::vector<editing::TrainingPass>> whole_passes(const editing::KernelEditor& editor) {
  std::vector<editing::TrainingPass> whole;
  std::size_t cut = 0;
  for (editing::TrainingPass& pass : editing::find_passes(editor)) {
    std::size_t unlaunched = 0;
    std::size_t captured = 0;
    for (const auto* kernels : {&pass.forward, &pass.backward}) {
      for (const TaskId kernel : *kernels) {
        if (editor.own_call(kernel) != none<TaskId>) continue;
        const bool launched = launch_of(editor.graph(), kernel) != none<TaskId>;
        ++(launched ? captured : unlaunched);
      }
    }
    if (captured > 0) {
      return Error{ErrorCode::no_match,
                   fmt::format("{} of the {} kernels of a pass are launched with others, as by a "
                               "CUDA graph: no kernel of a pass may be left out of its copy; "
                               "expected launches of their own",
                               captured, pass.forward.size() + pass.backward.size())};
    }
    if (unlaunched == 0) {
      whole.push_back(std::move(pass));
    } else {
      ++cut;
    }
  }
  if (!whole.empty()) return whole;
  return Error{
      ErrorCode::no_match,
      fmt::format("all {} passes have kernels without a recorded launch, as of a recording "
                  "that began in the middle of a pass; expected a whole pass",
                  cut)};
}

class Accumulation {
 public:
  Accumulation(editing::KernelEditor& editor, const std::vector<editing::TrainingPass>& passes,
               std::int64_t steps)
      : editor_(editor), passes_(passes), steps_(steps), copier_(editor, passes) {}

  void run(bool load) {
    const auto loading = editing::loading_times(editor_.graph());
    for (std::size_t i = 0; i < passes_.size(); ++i) {
      const TaskId anchor = editor_.own_call(passes_[i].forward.front());
      const auto found = loading.find(editor_.graph().step(anchor));
      repeat(i, anchor, load && found != loading.end() ? found->second : 0);
    }
  }

  [[nodiscard]] std::string note(std::size_t cut) const {
    std::string text = fmt::format(
        "{} kernels of {} passes run {} times: {:.2f} ms of device time, {:.2f} ms of loading and "
        "{:.2f} ms of {} other calls are added; a step now does {} times the samples, so compare "
        "step time / {}",
        editor_.sums().added, passes_.size(), steps_, editing::to_ms(editor_.sums().after_ns),
        editing::to_ms(loaded_ns_), editing::to_ms(copier_.calls_ns()), copier_.calls(), steps_,
        steps_);
    if (cut > 0) {
      text += fmt::format("; left out: {} passes whose launches are not all recorded", cut);
    }
    return text;
  }

 private:
  /// Copies a pass before its first call. `wait`: what loading its data takes.
  void repeat(std::size_t pass, TaskId anchor, std::int64_t wait) {
    for (std::int64_t copy = 1; copy < steps_; ++copy) {
      const TaskId first = copier_.put(pass, anchor);
      // The recorded loading serves the first copy; later ones and the pass itself load anew.
      if (copy > 1 && first != none<TaskId>)
        editor_.edit().spec_of(editor_.call_of_new(first)).segment_ns += wait;
      loaded_ns_ += wait;
    }
    if (wait > 0) {
      editor_.edit().set_segment(anchor, editor_.graph().segment_ns(anchor) + wait);
    }
  }

  editing::KernelEditor& editor_;
  const std::vector<editing::TrainingPass>& passes_;
  std::int64_t steps_ = 1;
  editing::PassCopier copier_;
  std::int64_t loaded_ns_ = 0;
};

Result<Change> apply(const WhatIfInput& scenario, const ParamValues& params) {
  editing::KernelEditor editor(scenario);
  const std::int64_t steps = params.integer(steps_param);
  const std::size_t recorded = editing::find_passes(editor).size();
  if (recorded == 0) {
    return Error{ErrorCode::no_match,
                 "no forward kernels with a backward pass after them, expected a training step"};
  }
  if (steps == 1) return editor.finish("one pass per update, as recorded");
  FORETRACE_TRY(auto passes, whole_passes(editor));
  FORETRACE_TRY(expect_only_gradients(editor, passes));
  Accumulation accumulation(editor, passes, steps);
  accumulation.run(params.boolean(load_param));
  Change change = editor.finish(accumulation.note(recorded - passes.size()));
  change.samples = static_cast<double>(steps);
  if (!editing::records_update(editor)) {
    change.doubts.push_back({.text = "no update is recorded behind any pass"});
  }
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

constexpr std::array trends = {Trend{&steps_param, Larger::is_slower}};

}  // namespace

extern constexpr WhatIfInfo info = {
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
    .identity = {.setting = "steps=1"},
    .params = params,
    .trends = trends,
    .apply = apply,
    .stage = ApplyStage::schedule,
    .memory_settings = memory_settings};

}  // namespace foretrace::gradient_accumulation_parts
