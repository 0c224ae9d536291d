// Edits of kernels with their launches.
#include "models/editing/kernels/kernel_editor.h"

#include <algorithm>

#include <fmt/format.h>

#include "sim/core/whole.h"

namespace foretrace::editing {

KernelEditor::KernelEditor(const WhatIfInput& scenario)
    : graph_(scenario.graph),
      accelerator_(scenario.accelerator),
      descriptions_(describe_works(scenario.graph, scenario.accelerator)),
      editor_(scenario.graph) {
  for (std::size_t i = 0; i < graph_.size(); ++i) {
    const auto task = make_id<TaskId>(i);
    if (graph_.kind(task) == TaskKind::kernel) kernels_.push_back(task);
  }
}

double KernelEditor::number_bytes(TaskId task) const {
  const int bytes = bytes_per_number(about(task).traits.precision);
  return bytes > 0 ? bytes : 4;
}

TaskId KernelEditor::own_call(TaskId kernel) const {
  const TaskId call = launch_of(graph_, kernel);
  if (call == none<TaskId> || !is_plain_launch(graph_, call)) return none<TaskId>;
  return launched_by(graph_, call).only() == kernel ? call : none<TaskId>;
}

Result<Cost> KernelEditor::moving_cost(double bytes, KernelClass kernel_class) const {
  double rate = 0;  // bytes per ns
  if (accelerator_ != nullptr) {
    rate = memory_rate(*accelerator_, kernel_class) * 1e-9;
  } else {
    // The fastest that a kernel of known size was seen to move; short ones are all ramp-up.
    for (const TaskId kernel : kernels_) {
      const KernelDescription& known = about(kernel);
      const double moving =
          static_cast<double>(graph_.duration_ns(kernel)) - shortest_kernel_ns(kernel_class);
      if (known.traits.kernel_class != KernelClass::elementwise || known.amount.numbers <= 0 ||
          moving < 10 * shortest_kernel_ns(kernel_class)) {
        continue;
      }
      rate = std::max(rate, known.amount.numbers * number_bytes(kernel) / moving);
    }
  }
  if (!(rate > 0)) return missing_cost("a kernel that moves bytes");
  const Spread spread = class_spread(kernel_class);
  const double ns = std::min(shortest_kernel_ns(kernel_class) + bytes / rate, 1e17);
  return Cost{to_whole(ns), Provenance::roofline, static_cast<float>(spread.low),
              static_cast<float>(spread.high)};
}

void KernelEditor::set(TaskId kernel, const Cost& cost) {
  editor_.set_duration(kernel, cost.duration_ns, {cost.provenance, cost.low, cost.high});
  sums_.before_ns += graph_.duration_ns(kernel);
  sums_.after_ns += cost.duration_ns;
  ++sums_.changed;
}

void KernelEditor::describe(TaskId kernel, int variant, const std::function<KernelWork()>& now) {
  const auto [at, is_new] = described_.try_emplace({graph_.work_id(kernel), variant});
  if (is_new) {
    const KernelWork was = same_work(*this, kernel);
    const KernelWork what = now();
    at->second = graph_.work_id(kernel);
    if (what == was) return;
    Work work = graph_.work(kernel);
    work.precision = what.precision;
    if (what.shapes != was.shapes) {
      work.flops = -1;  // amounts are those of the recorded shapes
      if (work.bytes > 0) work.bytes = -1;
    }
    at->second = editor_.add_work(work, WorkTexts{.name = graph_.name(kernel),
                                                  .operator_name = what.operator_name,
                                                  .shapes = what.shapes,
                                                  .types = what.types});
  }
  if (at->second != graph_.work_id(kernel)) editor_.describe(kernel, at->second);
}

void KernelEditor::remove(TaskId kernel, SegmentOf host) {
  if (editor_.is_gone(kernel)) return;
  sums_.before_ns += graph_.duration_ns(kernel);
  ++sums_.removed;
  const TaskId call = launch_of(graph_, kernel);
  const bool plain = call == none<TaskId> || is_plain_launch(graph_, call);
  editor_.remove(std::span(&kernel, 1), {.host = host,
                                         .device = SegmentOf::take,
                                         .partners = plain ? Partners::both : Partners::alone});
}

WorkId KernelEditor::work_of(const ExtraKernel& extra) {
  const KernelWork& what = extra.work;
  const auto [at, is_new] = new_works_.try_emplace(
      {std::string(extra.name), what.operator_name, what.shapes, what.types, what.precision});
  if (is_new) {
    Work work;
    work.kind = TaskKind::kernel;
    work.precision = what.precision;
    at->second = editor_.add_work(work, WorkTexts{.name = extra.name,
                                                  .operator_name = what.operator_name,
                                                  .shapes = what.shapes,
                                                  .types = what.types});
  }
  return at->second;
}

NewCall KernelEditor::call_for(const ExtraKernel& extra) {
  if (!usual_) usual_ = usual_launch(graph_);
  NewCall call;
  call.work = editor_.add_work("launch of " + std::string(extra.name), TaskKind::launch);
  call.duration_ns = extra.launch.call_ns >= 0 ? extra.launch.call_ns : usual_->call_ns;
  call.segment_ns = extra.host_ns;
  call.latency_ns = extra.launch.latency_ns >= 0 ? extra.launch.latency_ns : usual_->latency_ns;
  return call;
}

TaskId KernelEditor::add(TaskId neighbour, Place place, const ExtraKernel& extra) {
  TaskSpec device = editor_.like(neighbour);
  device.work = work_of(extra);
  device.kind = TaskKind::kernel;
  device.duration_ns = extra.cost.duration_ns;
  device.segment_ns = accelerator_ != nullptr ? accelerator_->kernel_gap_ns : 0;
  device.provenance = extra.cost.provenance;
  const TaskId like_call = own_call(neighbour);
  TaskId kernel = none<TaskId>;
  if (like_call == none<TaskId>) {
    kernel = editor_.insert(device, neighbour, place);
  } else {
    const NewCall how = call_for(extra);
    TaskSpec call = device;
    call.lane = graph_.lane_id(like_call);
    call.work = how.work;
    call.kind = TaskKind::launch;
    call.duration_ns = how.duration_ns;
    call.segment_ns = how.segment_ns;
    call.provenance = how.provenance;
    // Device work stands right after its call, so "before" means before the call.
    const TaskId anchor = place == Place::before ? like_call : neighbour;
    const Launched put =
        editor_.insert(Editor::NewPair{call, device, how.latency_ns}, anchor, place);
    kernel = put.device;
    remember(put);
  }
  if (place == Place::before) {
    editor_.share_waits(kernel, neighbour);
  } else {
    editor_.share_waiting(kernel, neighbour);
  }
  if (extra.cost.low != 1.0F || extra.cost.high != 1.0F) {
    editor_.set_duration(kernel, extra.cost.duration_ns,
                         {extra.cost.provenance, extra.cost.low, extra.cost.high});
  }
  sums_.after_ns += extra.cost.duration_ns;
  ++sums_.added;
  return kernel;
}

TaskId KernelEditor::replace(std::span<const TaskId> kernels, const ExtraKernel& extra) {
  double between = 0;
  for (const TaskId kernel : kernels.subspan(1)) {
    const TaskId call = own_call(kernel);
    if (call == none<TaskId>) continue;
    between += static_cast<double>(std::max<std::int64_t>(graph_.segment_ns(call), 0));
  }
  NewWork work;
  work.work = work_of(extra);
  work.duration_ns = extra.cost.duration_ns;
  work.trust = {extra.cost.provenance, extra.cost.low, extra.cost.high};
  work.gap_ns = accelerator_ != nullptr ? accelerator_->kernel_gap_ns : 0;
  work.call = call_for(extra);
  work.call.segment_ns += to_whole(between * kept_host_);
  const auto put = editor_.replace(kernels, std::span(&work, 1));
  if (!put) {
    ++sums_.refused;
    return none<TaskId>;
  }
  for (const TaskId kernel : kernels) sums_.before_ns += graph_.duration_ns(kernel);
  sums_.removed += kernels.size();
  sums_.after_ns += extra.cost.duration_ns;
  remember(put->front());
  const TaskId device = put->front().device;
  for (const TaskId kernel : kernels) replaced_[kernel] = {device, kernels.front()};
  return device;
}

TaskId KernelEditor::doing(TaskId kernel) const {
  const auto found = replaced_.find(kernel);
  if (found != replaced_.end()) return found->second.put;
  return editor_.is_gone(kernel) ? none<TaskId> : kernel;
}

TaskId KernelEditor::first_replaced(TaskId kernel) const {
  const auto found = replaced_.find(kernel);
  return found == replaced_.end() ? kernel : found->second.first;
}

/// The call in whose place another one stands now is that one.
TaskId KernelEditor::standing(TaskId call) const {
  const auto launched = launched_by(graph_, call);
  if (launched.empty()) return call;
  const TaskId now = doing(launched.front());
  return now == none<TaskId> || now == launched.front() ? call : call_of_new(now);
}

TaskId KernelEditor::copy(TaskId kernel, TaskId anchor, Place place, bool host_time) {
  const TaskId old_call = own_call(kernel);
  if (old_call == none<TaskId>) return none<TaskId>;
  if (!repeated_) repeated_.emplace(graph_);
  const RepeatedLaunches::Times times = repeated_->of(kernel, old_call);
  TaskSpec call = editor_.like(old_call);
  call.lane = graph_.lane_id(anchor);
  call.duration_ns = times.call_ns;
  call.segment_ns = host_time ? times.host_ns : 0;
  // What is computed again in the backward pass belongs to it; a gradient is one wherever it is.
  const bool is_gradient = graph_.phase(kernel) == Phase::backward;
  call.phase = is_gradient ? Phase::backward : graph_.phase(anchor);
  call.layer = graph_.layer(kernel);
  call.step = graph_.step(anchor);
  call.provenance = Provenance::assumed;
  TaskSpec device = editor_.like(kernel);
  device.segment_ns = std::max<std::int64_t>(graph_.segment_ns(kernel), 0);
  device.phase = call.phase;
  device.step = call.step;
  device.provenance = Provenance::assumed;
  const Launched put = editor_.insert(
      Editor::NewPair{call, device, launch_link(graph_, kernel).lag_ns}, standing(anchor), place);
  remember(put);
  editor_.repeat(put.device, kernel);
  sums_.after_ns += device.duration_ns;
  ++sums_.added;
  return put.device;
}

TaskId KernelEditor::call_of_new(TaskId kernel) const {
  const auto found = calls_of_new_.find(kernel);
  return found == calls_of_new_.end() || found->second == none<TaskId> ? kernel : found->second;
}

std::string KernelEditor::sums_text() const {
  std::string text = fmt::format("{} kernels {:.2f} ms -> {:.2f} ms", sums_.changed + sums_.removed,
                                 to_ms(sums_.before_ns), to_ms(sums_.after_ns));
  if (sums_.refused > 0) {
    text +=
        fmt::format(" ({} groups stay, since a wait lies between their kernels)", sums_.refused);
  }
  return text;
}

Change KernelEditor::finish(std::string_view note) {
  if (!note.empty()) editor_.note(note);
  return editor_.finish();
}

Cost moved_share(std::int64_t measured_ns, KernelClass kernel_class, double factor) {
  if (factor == 1) return kept_cost(measured_ns);
  const auto measured = static_cast<double>(measured_ns);
  const double fixed = std::min(measured, shortest_kernel_ns(kernel_class));
  const double ns = fixed + (measured - fixed) * factor;
  const Spread spread = class_spread(kernel_class);
  const double moving = ns > 0 ? (ns - fixed) / ns : 0;  // what does not change is certain
  return {to_whole(std::min(ns, 1e17)), Provenance::scaled,
          static_cast<float>(1 - moving * (1 - spread.low)),
          static_cast<float>(1 + moving * (spread.high - 1))};
}

}  // namespace foretrace::editing
