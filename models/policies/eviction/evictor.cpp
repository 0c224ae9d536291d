// Accounts are kept by the engine; this decides who leaves and puts tasks where they are needed.
#include "models/policies/eviction/evictor.h"

#include <algorithm>

#include <fmt/format.h>

#include "models/editing/kernels/launch_times.h"
#include "models/hardware/costs/kernel_cost.h"
#include "sim/core/statistics.h"
#include "sim/core/whole.h"
#include "sim/graph/links.h"

namespace foretrace::editing {
namespace {

[[nodiscard]] bool is_movable(TensorCategory category) {
  switch (category) {
    case TensorCategory::activation:
    case TensorCategory::temporary:
    case TensorCategory::activation_gradient: return true;
    default: return false;
  }
}

}  // namespace

Evictor::Evictor(const TaskGraph& graph, const EvictorOptions& options)
    : graph_(graph),
      options_(options),
      uses_(graph, options.remakes_backward ? TensorUses::Repeats::all
                                            : TensorUses::Repeats::not_backward) {
  const std::vector<Tensor>& tensors = graph.context().tensors;
  accessed_ns_.assign(tensors.size(), 0);
  pins_.assign(tensors.size(), 0);
  on_host_.assign(tensors.size(), false);
  leaving_.assign(tensors.size(), none<TaskId>);
  arriving_.assign(tensors.size(), none<TaskId>);
  busy_.assign(tensors.size(), false);
  is_movable_.assign(tensors.size(), false);
  is_present_.assign(tensors.size(), false);
  born_in_.resize(graph.size());
  run_pinned_.assign(uses_.runs().size(), false);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const auto tensor = make_id<TensorId>(i);
    const TensorMaking& making = uses_.making(tensor);
    if (!is_movable(tensors[i].category) || tensors[i].bytes < options.least_bytes ||
        making.runs.empty() || !making.is_use_known || !(can_remake(tensor) || can_copy())) {
      continue;
    }
    is_movable_[i] = true;
    if (tensors[i].allocated_in == none<TaskId>) {
      note_present(tensor);
    } else {
      born_in_[index(tensors[i].allocated_in)].push_back(tensor);
    }
  }
  std::int64_t sum = 0;
  std::vector<std::int64_t> segments;
  for (const OperatorRun& run : uses_.runs()) {
    device_before_ns_.push_back(sum);
    segments.push_back(graph.segment_ns(run.launches.front()));
    for (const TaskId launch : run.launches) {
      for (const TaskId task : launched_by(graph_, launch)) sum += graph.duration_ns(task);
    }
  }
  if (options.ahead > 0) find_demand();
  usual_segment_ns_ = lower_median(std::move(segments));
  const LaunchTimes usual = usual_launch(graph);
  usual_launch_ns_ = usual.call_ns;
  usual_lag_ns_ = usual.latency_ns;
  on_stream_.resize(graph.context().lanes.size());
  next_on_.assign(on_stream_.size(), 0);
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const auto task = make_id<TaskId>(i);
    if (!is_device(graph.kind(task))) continue;
    on_stream_[index(graph.lane_id(task))].push_back(task);
    kernels_ += graph.kind(task) == TaskKind::kernel ? 1 : 0;
  }
}

Status Evictor::check(std::string_view policy) const {
  const std::vector<Tensor>& tensors = graph_.context().tensors;
  std::int64_t maps = 0;
  std::int64_t unknown = 0;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].category != TensorCategory::activation) continue;
    maps += tensors[i].bytes;
    unknown += uses_.making(make_id<TensorId>(i)).is_use_known ? 0 : tensors[i].bytes;
  }
  constexpr std::string_view expected =
      "expected a trace that records what operators read (torch.profiler with record_shapes=True)";
  if (unknown > maps / 2) {
    return Error{ErrorCode::unsupported,
                 fmt::format("{}: no use in the backward pass is known of {:.0f} % of the bytes "
                             "that the forward pass leaves to it, {}",
                             policy, 100 * static_cast<double>(unknown) / static_cast<double>(maps),
                             expected)};
  }
  if (options_.remakes_backward && uses_.is_backward_bare()) {
    return Error{ErrorCode::unsupported,
                 fmt::format("{}: backward=true: most operators of the backward pass have no "
                             "recorded inputs, {}",
                             policy, expected)};
  }
  return ok_status();
}

std::int64_t Evictor::bytes_of(TensorId tensor) const {
  return graph_.context().tensors[index(tensor)].bytes;
}

std::int64_t Evictor::idle_ns(TensorId tensor, const Simulation& simulation) const {
  return std::max<std::int64_t>(1, simulation.now_ns() - accessed_ns_[index(tensor)]);
}

bool Evictor::is_born(TensorId tensor, const Simulation& simulation) const {
  const TaskId in = graph_.context().tensors[index(tensor)].allocated_in;
  return in == none<TaskId> || simulation.has_started(in);
}

bool Evictor::is_wanted(TensorId tensor, const Simulation& simulation) const {
  const TaskId freed = graph_.context().tensors[index(tensor)].freed_in;
  return freed == none<TaskId> || !simulation.has_started(freed);
}

bool Evictor::must_be_remade(TensorId tensor, const Simulation& simulation) const {
  return !simulation.is_resident(tensor) && !on_host_[index(tensor)] &&
         is_born(tensor, simulation) && !uses_.making(tensor).runs.empty();
}

std::int64_t Evictor::remake_ns(TensorId tensor, const Simulation& simulation) {
  std::vector<TensorId> seen = {tensor};
  busy_[index(tensor)] = true;
  std::int64_t ns = 0;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    const TensorMaking& making = uses_.making(seen[i]);
    ns += making.device_ns;
    for (const TensorId from : making.from) {
      if (busy_[index(from)] || !must_be_remade(from, simulation)) continue;
      busy_[index(from)] = true;
      seen.push_back(from);
    }
  }
  for (const TensorId visited : seen) busy_[index(visited)] = false;
  return ns;
}

std::int64_t Evictor::copy_ns(TensorId tensor) const {
  const double ns = shortest_kernel_ns(KernelClass::copy) +
                    static_cast<double>(bytes_of(tensor)) / options_.bandwidth * 1e9;
  return to_whole(std::clamp(ns, 0.0, 1e17));
}

std::int64_t Evictor::until_use_ns(TensorId tensor) const {
  const auto& runs = uses_.making(tensor).uses;
  const auto next = std::upper_bound(runs.begin(), runs.end(), current_run_);
  if (next == runs.end()) return INT64_MAX;
  return device_before_ns_[*next] - device_before_ns_[current_run_];
}

std::int64_t Evictor::copies_out_ns(const Simulation& simulation) const {
  return std::max<std::int64_t>(0, copies_out_until_ns_ - simulation.now_ns());
}

std::pair<std::int32_t, std::int32_t> Evictor::place_of(TensorId tensor) const {
  const Tensor& row = graph_.context().tensors[index(tensor)];
  return {graph_.lane(row.allocated_in).rank, row.device};
}

// Not while it is used or on its way, nor before all that makes it has been launched.
bool Evictor::may_leave(TensorId tensor, const Simulation& simulation) const {
  const std::size_t i = index(tensor);
  if (pins_[i] > 0 || busy_[i] || leaving_[i] != none<TaskId> || !simulation.is_resident(tensor)) {
    return false;
  }
  const OperatorRun& maker = uses_.runs()[uses_.making(tensor).runs.front()];
  return simulation.has_started(maker.launches.back());
}

TensorId Evictor::choose_victim(std::int32_t device, std::int32_t rank, Simulation& simulation) {
  TensorId best = none<TensorId>;
  double least = 0;
  drop_gone(simulation);
  for (const TensorId tensor : present_) {
    if (!may_leave(tensor, simulation) || place_of(tensor) != std::pair(rank, device)) continue;
    if (!can_remake(tensor) && !on_host_[index(tensor)] && !can_copy_now(tensor, simulation)) {
      continue;
    }
    const double value = score(tensor, simulation);
    const bool is_less = value < least || (value == least && tensor < best);
    if (best != none<TensorId> && !is_less) continue;
    best = tensor;
    least = value;
  }
  return best;
}

Evictor::Freed Evictor::free_up(std::int64_t missing, std::pair<std::int32_t, std::int32_t> place,
                                TaskId task, Simulation& simulation) {
  bool waits = false;
  // What is leaving already may be enough.
  for (const auto& [copy, tensor] : copies_) {
    if (missing <= 0) break;
    if (leaving_[index(tensor)] != copy || place_of(tensor) != place) continue;
    missing -= bytes_of(tensor);
    waits = true;
    (void)simulation.add_dependency(
        {.source = end_of(copy), .task = task, .kind = DependencyKind::memory});
  }
  while (missing > 0) {
    const TensorId tensor = choose_victim(place.second, place.first, simulation);
    if (tensor == none<TensorId>) return waits ? Freed::later : Freed::nothing;
    missing -= bytes_of(tensor);
    const bool copies = can_copy() && is_wanted(tensor, simulation) &&
                        (on_host_[index(tensor)] || !can_remake(tensor) ||
                         (prefers_copy(tensor, simulation) && can_copy_now(tensor, simulation)));
    if (copies && !on_host_[index(tensor)]) {
      copy_out(tensor, task, simulation);
      waits = true;
      continue;
    }
    if (copies) away_.insert(tensor);
    ++account().evictions;
    account().evicted_bytes += bytes_of(tensor);
    simulation.evict(tensor);
  }
  return waits ? Freed::later : Freed::now;
}

void Evictor::make_room(const MemoryPressure& pressure, Simulation& simulation) {
  note(pressure);
  (void)free_up(pressure.missing_bytes, {pressure.rank, pressure.device}, pressure.task,
                simulation);
}

void Evictor::pin(std::uint32_t run, int by) {
  const OperatorRun& found = uses_.runs()[run];
  for (const auto* list : {&found.makes, &found.reads}) {
    for (const TensorId tensor : *list) {
      pins_[index(tensor)] += static_cast<std::uint32_t>(by);
    }
  }
  run_pinned_[run] = by > 0;
}

bool Evictor::may_start(TaskId task, Simulation& simulation) {
  const std::uint32_t run = index(task) < graph_.size() ? uses_.run_of(task) : TensorUses::no_run;
  if (run == TensorUses::no_run) return true;
  const OperatorRun& found = uses_.runs()[run];
  if (!run_pinned_[run]) pin(run, 1);
  current_run_ = run;
  for (const auto* list : {&found.reads, &found.makes}) {
    for (const TensorId tensor : *list) {
      if (simulation.is_resident(tensor) || !is_born(tensor, simulation) ||
          !is_wanted(tensor, simulation)) {
        continue;
      }
      if (!bring_back(tensor, task, simulation)) return false;
    }
  }
  drop_revived(simulation);
  for (const TaskId launched : launched_by(graph_, task)) {
    wait_for_arrivals(found, launched, simulation, nullptr);
  }
  if (options_.ahead > 0) fetch_ahead(task, simulation);
  return true;
}

void Evictor::on_start(TaskId task, Simulation& simulation) {
  if (index(task) >= graph_.size()) return;
  for (const TensorId tensor : born_in_[index(task)]) note_present(tensor);
  const std::uint32_t run = uses_.run_of(task);
  if (run == TensorUses::no_run) return;
  const OperatorRun& found = uses_.runs()[run];
  for (const auto* list : {&found.makes, &found.reads}) {
    for (const TensorId tensor : *list) accessed_ns_[index(tensor)] = simulation.now_ns();
  }
  if (task == found.launches.back() && run_pinned_[run]) pin(run, -1);
}

void Evictor::on_end(TaskId task, Simulation& simulation) {
  const auto found = std::find_if(copies_.begin(), copies_.end(),
                                  [task](const auto& copy) { return copy.first == task; });
  if (found == copies_.end()) return;
  const TensorId tensor = found->second;
  copies_.erase(found);
  leaving_[index(tensor)] = none<TaskId>;
  on_host_[index(tensor)] = true;
  // Used again meanwhile, it stays; freed meanwhile, nothing is left to evict.
  if (pins_[index(tensor)] > 0 || busy_[index(tensor)] || !simulation.is_resident(tensor)) return;
  away_.insert(tensor);
  ++account().evictions;
  account().evicted_bytes += bytes_of(tensor);
  simulation.evict(tensor);
}

}  // namespace foretrace::editing
