// Edits of kernels with their launches.
#include "models/editing/kernels/kernel_editor.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace foretrace::detail {

KernelEditor::KernelEditor(const Scenario& scenario)
    : graph_(scenario.graph),
      accelerator_(scenario.accelerator),
      descriptions_(describe_works(scenario.graph, scenario.accelerator)),
      view_(scenario.graph),
      builder_(scenario.graph),
      gone_(scenario.graph.size(), false) {
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
  const TaskId call = view_.launcher(kernel);
  if (call == none<TaskId> || !view_.is_plain_launch(call)) return none<TaskId>;
  return view_.launched(call).size() == 1 ? call : none<TaskId>;
}

Result<Cost> KernelEditor::moving_cost(double bytes, KernelClass kernel_class) const {
  double rate = 0;  // bytes per ns
  if (accelerator_ != nullptr) {
    rate = accelerator_->memory_bandwidth * bandwidth_share(kernel_class) * 1e-9;
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
  return Cost{std::llround(ns), Provenance::roofline, static_cast<float>(spread.low),
              static_cast<float>(spread.high)};
}

void KernelEditor::set(TaskId kernel, const Cost& cost) {
  builder_.change.durations.push_back(
      {kernel, cost.duration_ns, cost.provenance, cost.low, cost.high});
  sums_.before_ns += graph_.duration_ns(kernel);
  sums_.after_ns += cost.duration_ns;
  ++sums_.changed;
}

void KernelEditor::remove(TaskId kernel, SegmentOf host) {
  if (gone_[index(kernel)]) return;
  gone_[index(kernel)] = true;
  builder_.change.removed.push_back({kernel, SegmentOf::take});
  sums_.before_ns += graph_.duration_ns(kernel);
  ++sums_.removed;
  const TaskId call = view_.launcher(kernel);
  if (call == none<TaskId> || !view_.is_plain_launch(call) || gone_[index(call)]) return;
  const auto work = view_.launched(call);
  if (!std::all_of(work.begin(), work.end(), [&](TaskId task) { return gone_[index(task)]; })) {
    return;
  }
  gone_[index(call)] = true;
  builder_.change.removed.push_back({call, host});
}

void KernelEditor::remember_launches() {
  if (launch_ns_ >= 0) return;
  launch_ns_ = view_.median_launch_ns();
  lag_ns_ = view_.median_launch_lag_ns();
}

TaskId KernelEditor::insert_pair(TaskId like, TaskId anchor, Place place,
                                 const ExtraKernel& extra) {
  remember_launches();
  TaskSpec spec;
  spec.phase = graph_.phase(like);
  spec.layer = graph_.layer(like);
  spec.step = graph_.step(like);
  const TaskId like_call = own_call(like);
  TaskId call = none<TaskId>;
  if (like_call != none<TaskId>) {
    spec.lane = graph_.lane_id(like_call);
    spec.work =
        builder_.work(std::string("launch of ") + std::string(extra.name), TaskKind::launch);
    spec.kind = TaskKind::launch;
    spec.duration_ns = launch_ns_;
    spec.segment_ns = extra.host_ns;
    spec.provenance = Provenance::assumed;
    call = builder_.insert(spec, anchor, place);
    anchor = call;
    place = Place::after;
  }
  spec.lane = graph_.lane_id(like);
  spec.work = builder_.work(extra.name, TaskKind::kernel);
  spec.kind = TaskKind::kernel;
  spec.duration_ns = extra.cost.duration_ns;
  spec.segment_ns = accelerator_ != nullptr ? accelerator_->kernel_gap_ns : 0;
  spec.provenance = extra.cost.provenance;
  const TaskId kernel = builder_.insert(spec, anchor, place);
  if (call != none<TaskId>) {
    builder_.change.new_dependencies.push_back({.source = end_of(call),
                                                .task = kernel,
                                                .kind = DependencyKind::launch,
                                                .lag_ns = lag_ns_});
  }
  if (extra.cost.low != 1.0F || extra.cost.high != 1.0F) {
    builder_.change.durations.push_back(
        {kernel, extra.cost.duration_ns, extra.cost.provenance, extra.cost.low, extra.cost.high});
  }
  sums_.after_ns += extra.cost.duration_ns;
  return kernel;
}

TaskId KernelEditor::add(TaskId neighbour, Place place, const ExtraKernel& extra) {
  const TaskId call = own_call(neighbour);
  ++sums_.added;
  // Device work stands right after its call, so "before" means before the call.
  const TaskId anchor = place == Place::before && call != none<TaskId> ? call : neighbour;
  return insert_pair(neighbour, anchor, place, extra);
}

TaskId KernelEditor::replace(std::span<const TaskId> kernels, const ExtraKernel& extra) {
  const TaskId first = kernels.front();
  const TaskId call = own_call(first);
  ExtraKernel with_host = extra;
  if (call != none<TaskId>) {
    with_host.host_ns += std::max<std::int64_t>(graph_.segment_ns(call), 0);
  }
  double between = 0;
  for (const TaskId kernel : kernels.subspan(1)) {
    const TaskId other = own_call(kernel);
    if (other == none<TaskId>) continue;
    between += static_cast<double>(std::max<std::int64_t>(graph_.segment_ns(other), 0));
  }
  with_host.host_ns += std::llround(between * kept_host_);
  const TaskId fused =
      insert_pair(first, call != none<TaskId> ? call : first, Place::before, with_host);
  for (const TaskId kernel : kernels) remove(kernel, SegmentOf::take);
  return fused;
}

TaskId KernelEditor::copy(TaskId kernel, TaskId anchor, Place place, bool host_time) {
  const TaskId old_call = own_call(kernel);
  if (old_call == none<TaskId>) return none<TaskId>;
  TaskSpec spec;
  spec.lane = graph_.lane_id(anchor);
  spec.work = graph_.work_id(old_call);
  spec.kind = TaskKind::launch;
  spec.duration_ns = graph_.duration_ns(old_call);
  spec.segment_ns = host_time ? std::max<std::int64_t>(graph_.segment_ns(old_call), 0) : 0;
  spec.phase = graph_.phase(anchor);
  spec.layer = graph_.layer(kernel);
  spec.step = graph_.step(anchor);
  spec.provenance = Provenance::assumed;
  const TaskId call = builder_.insert(spec, anchor, place);
  spec.lane = graph_.lane_id(kernel);
  spec.work = graph_.work_id(kernel);
  spec.kind = graph_.kind(kernel);
  spec.duration_ns = graph_.duration_ns(kernel);
  spec.segment_ns = std::max<std::int64_t>(graph_.segment_ns(kernel), 0);
  const TaskId twin = builder_.insert(spec, call, Place::after);
  builder_.change.new_dependencies.push_back({.source = end_of(call),
                                              .task = twin,
                                              .kind = DependencyKind::launch,
                                              .lag_ns = view_.launch_lag(kernel)});
  sums_.after_ns += spec.duration_ns;
  ++sums_.added;
  return twin;
}

TaskId KernelEditor::call_of_new(TaskId kernel) const {
  // A call is inserted right before its kernel.
  if (kernel == none<TaskId> || index(kernel) <= graph_.size()) return kernel;
  const auto& inserted = builder_.change.inserted;
  const std::size_t before = index(kernel) - graph_.size() - 1;
  if (before >= inserted.size() || inserted[before].task.kind != TaskKind::launch) return kernel;
  return make_id<TaskId>(index(kernel) - 1);
}

std::string KernelEditor::sums_text() const {
  return fmt::format("{} kernels {:.2f} ms -> {:.2f} ms", sums_.changed + sums_.removed,
                     to_ms(sums_.before_ns), to_ms(sums_.after_ns));
}

Change KernelEditor::finish(std::string note) {
  if (!note.empty()) builder_.change.notes.push_back(std::move(note));
  return std::move(builder_.change);
}

Cost moved_share(std::int64_t measured_ns, KernelClass kernel_class, double factor) {
  const auto measured = static_cast<double>(measured_ns);
  const double fixed = std::min(measured, shortest_kernel_ns(kernel_class));
  const double ns = fixed + (measured - fixed) * factor;
  const Spread spread = class_spread(kernel_class);
  const double moving = ns > 0 ? (ns - fixed) / ns : 0;  // what does not change is certain
  return {std::llround(std::min(ns, 1e17)), Provenance::scaled,
          static_cast<float>(1 - moving * (1 - spread.low)),
          static_cast<float>(1 + moving * (spread.high - 1))};
}

}  // namespace foretrace::detail
