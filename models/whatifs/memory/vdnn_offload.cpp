// vDNN: feature maps go to the host after their use in forward and come back before backward.
//
//   before   compute: [conv 1][conv 2][conv 3] ... [conv 3'][conv 2'][conv 1']
//   after    compute: [conv 1][conv 2][conv 3] ... [conv 3'][conv 2'][conv 1']
//            to host:         [x1    ][x2    ]
//            to device:                        [x2     ][x1     ]
//   Copies run on streams of their own. The layer after the next waits until a map has left
//   (safe=true), and the backward kernel that needs it until it is back.
//
// memory    of the offloaded maps only those that are in use or on their way are on the device.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/editing/copies/copy_engine.h"
#include "models/editing/copies/host_link.h"
#include "models/editing/tensors/stash.h"
#include "models/whatifs/what_if.h"
#include "sim/edit/tensors.h"

namespace foretrace::vdnn_offload_parts {
namespace {

constexpr ParamInfo least_param = {.name = "least",
                                   .type = ParamType::bytes,
                                   .unit = "B",
                                   .default_text = "1 MiB",
                                   .doc = "Smaller activations stay on the device.",
                                   .minimum = 1,
                                   .maximum = 1e15};
constexpr ParamInfo policy_param = {
    .name = "policy",
    .type = ParamType::text,
    .default_text = "all",
    .doc = "all: every activation; conv: those that a convolution reads.",
    .choices = "all|conv"};
constexpr ParamInfo safe_param = {
    .name = "safe",
    .type = ParamType::boolean,
    .default_text = "true",
    .doc = "The forward pass waits until each activation has been copied to the host."};

using editing::CopyEngine;

struct Offload {
  editing::KernelEditor& editor;
  CopyEngine& engine;
  TensorEditor tensors;
  bool safe = true;

  void run(const editing::TrainingPass& pass, std::vector<editing::Stash> stashes);
};

void Offload::run(const editing::TrainingPass& pass, std::vector<editing::Stash> stashes) {
  // In the order of the backward pass; normally the last map made is the first one needed.
  std::stable_sort(stashes.begin(), stashes.end(),
                   [](const auto& a, const auto& b) { return a.needed_by < b.needed_by; });
  TaskId previous_need = none<TaskId>;
  for (const editing::Stash& stash : stashes) {
    const TaskId out = engine.copy({.direction = CopyEngine::Direction::to_host,
                                    .bytes = stash.bytes,
                                    .anchor = pass.forward[stash.last_use],
                                    .after = pass.forward[stash.made]});
    if (out == none<TaskId>) continue;
    if (safe && stash.last_use + 1 < pass.forward.size()) {
      engine.wait(pass.forward[stash.last_use + 1], out);
    }
    const TaskId issue = previous_need != none<TaskId> ? previous_need : pass.backward.front();
    const TaskId anchor = editor.own_call(issue) != none<TaskId> ? issue : stash.needed_by;
    const TaskId in = engine.copy({.direction = CopyEngine::Direction::to_device,
                                   .bytes = stash.bytes,
                                   .anchor = anchor,
                                   .place = Place::before,
                                   .after = out});
    previous_need = stash.needed_by;
    if (in == none<TaskId>) continue;
    engine.wait(stash.needed_by, in);
    if (stash.recorded()) {
      tensors.leave(stash.tensor, editor.call_of_new(out), editor.call_of_new(in));
    }
  }
}

bool hands_on(KernelClass kernel_class) {
  return kernel_class == KernelClass::elementwise || kernel_class == KernelClass::copy ||
         kernel_class == KernelClass::other;
}

/// The forward kernel that makes the map. Where kernels became one, what the later of them allocated
/// comes to the next call, at the very begin of the host time before it.
std::size_t maker_of(const editing::KernelEditor& editor, const editing::Stash& stash) {
  if (!stash.recorded() || stash.made == 0) return stash.made;
  const TaskGraph& graph = editor.graph();
  const Tensor& tensor = graph.context().tensors[stash.tensor];
  const std::int64_t segment = graph.segment_ns(tensor.allocated_in);
  const bool comes_from_before = segment > 0 && tensor.allocated_offset_ns >= segment;
  return comes_from_before ? stash.made - 1 : stash.made;
}

/// Whether a convolution reads the map. ReLU, bias and layout changes may stand between, but not
/// what makes a map of its own: that one goes on, whether kernels are fused or not.
bool feeds_convolution(const editing::KernelEditor& editor, const editing::TrainingPass& pass,
                       const editing::Stash& stash, const std::set<std::size_t>& makers) {
  for (std::size_t i = maker_of(editor, stash) + 1; i < pass.forward.size(); ++i) {
    const KernelClass kernel_class = editor.class_of(pass.forward[i]);
    if (kernel_class == KernelClass::convolution) return true;
    if (!hands_on(kernel_class) || makers.contains(i)) return false;
  }
  return false;
}

void keep_convolutions(const editing::KernelEditor& editor, const editing::TrainingPass& pass,
                       std::vector<editing::Stash>& stashes) {
  std::set<std::size_t> makers;
  for (const editing::Stash& stash : stashes) makers.insert(maker_of(editor, stash));
  std::erase_if(stashes, [&](const editing::Stash& stash) {
    return !feeds_convolution(editor, pass, stash, makers);
  });
}

Result<Change> apply(const WhatIfInput& scenario, const ParamValues& params) {
  editing::KernelEditor editor(scenario);
  const double bandwidth =
      editing::host_link_bandwidth(scenario.graph, scenario.accelerator, params);
  CopyEngine engine(editor, bandwidth);
  const bool convolutions = params.text(policy_param) == "conv";
  Offload offload{editor, engine, TensorEditor(editor.edit()), params.boolean(safe_param)};
  std::size_t maps = 0;
  for (const editing::TrainingPass& pass : editing::find_passes(editor)) {
    auto stashes = editing::find_stashes(editor, pass, params.number(least_param));
    if (convolutions) keep_convolutions(editor, pass, stashes);
    maps += stashes.size();
    offload.run(pass, std::move(stashes));
  }
  const double bytes = engine.bytes(CopyEngine::Direction::to_host);
  if (editor.edit().change().inserted.empty()) {
    return Error{ErrorCode::no_match,
                 "no activation of that size is kept from forward to backward, expected a training "
                 "step with recorded memory events or shapes"};
  }
  return editor.finish(
      fmt::format("{} activations, {:.0f} MB, are copied to the host and back over the recorded "
                  "window: {:.2f} ms of copies each way{}",
                  maps, bytes * 1e-6, bytes / bandwidth * 1e3, offload.tensors.note()));
}

constexpr std::array<std::string_view, 4> assumptions = {
    "Host memory is pinned, large enough, and the link to it is not shared with other devices.",
    "An activation is read by the kernel after the one that writes it, and then not until its "
    "backward.",
    "A prefetch is issued when the backward reaches the activation needed before; both directions "
    "of the link work at the same time.",
    "With safe=true the forward pass waits after each use until the activation has left, as vDNN "
    "does; without it, memory must be large enough."};
constexpr std::array<std::string_view, 3> ignores = {
    "kernels that get slower while copies use the same memory",
    "time to allocate and free on the device",
    "activations that several layers share: by shapes, they are counted once per layer"};
constexpr std::array params = {editing::host_link_param, least_param, policy_param, safe_param};
constexpr std::array<std::string_view, 3> memory_settings = {"policy=conv", "least=16MiB",
                                                             "least=256MiB"};

}  // namespace

extern constexpr WhatIfInfo info = {
    .name = "vdnn_offload",
    .summary = "Keep activations in host memory between forward and backward.",
    .paper =
        "M. Rhu et al., vDNN: Virtualized Deep Neural Networks for Scalable, Memory-Efficient "
        "Neural Network Design, MICRO 2016",
    .recipe =
        "For every activation that lives from forward to backward, a copy to the host is inserted "
        "after its use and a copy back before the backward of the activation that is needed before "
        "it, on one stream per direction, with their calls. The next forward kernel and the "
        "backward kernel that needs the activation wait for them.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate = "bandwidth: a pinned copy of some MB in any trace of the machine.",
    .identity = {.none_because = "activations leave the device and return"},
    .params = params,
    .apply = apply,
    .stage = ApplyStage::storage,
    .memory_settings = memory_settings};

}  // namespace foretrace::vdnn_offload_parts
