// Tensors leave for the host and come back, ahead of their use where there is room.
#include <algorithm>

#include "models/policies/eviction/evictor.h"
#include "sim/graph/links.h"

namespace foretrace::editing {

const CopyPlaces& Evictor::places_of(TensorId tensor) {
  const auto place = place_of(tensor);
  const auto found = places_.find(place);
  if (found != places_.end()) return found->second;
  return places_.emplace(place, copy_places(graph_, place)).first->second;
}

bool Evictor::can_copy_now(TensorId tensor, const Simulation& simulation) {
  for (const std::uint32_t run : uses_.making(tensor).uses) {
    for (const TaskId launch : uses_.runs()[run].launches) {
      if (!simulation.has_started(launch)) continue;
      for (const TaskId task : launched_by(graph_, launch)) {
        if (!simulation.has_started(task) && task > next_on(graph_.lane_id(task), simulation)) {
          return false;
        }
      }
    }
  }
  return true;
}

TaskId Evictor::append_copy(TensorId tensor, LaneId lane, WorkId work,
                            std::span<const Dependency> dependencies, Simulation& simulation) {
  const TaskSpec spec{.lane = lane,
                      .work = work,
                      .kind = TaskKind::copy,
                      .duration_ns = copy_ns(tensor),
                      .provenance = Provenance::assumed};
  const Result<TaskId> copy =
      simulation.append({.task = spec, .dependencies = dependencies, .demands = {}});
  FORETRACE_CHECK(copy.ok());
  account().copy_ns += spec.duration_ns;
  return *copy;
}

// The host need not wait for its calls; the copy waits for the last kernel that used the tensor.
void Evictor::copy_out(TensorId tensor, TaskId task, Simulation& simulation) {
  const CopyPlaces& places = places_of(tensor);
  const TaskId call = call_before(task, places.call, usual_launch_ns_, 0, simulation);
  std::vector<Dependency> dependencies = {{.source = end_of(call),
                                           .task = {},
                                           .kind = DependencyKind::launch,
                                           .lag_ns = usual_lag_ns_}};
  for (const std::uint32_t run : uses_.making(tensor).uses) {
    for (const TaskId launch : uses_.runs()[run].launches) {
      if (!simulation.has_started(launch)) continue;
      const TaskId last = launched_by(graph_, launch).back();
      if (simulation.has_ended(last)) continue;
      dependencies.push_back({.source = end_of(last), .task = {}, .kind = DependencyKind::data});
    }
  }
  if (arriving_[index(tensor)] != none<TaskId>) {
    dependencies.push_back(
        {.source = end_of(arriving_[index(tensor)]), .task = {}, .kind = DependencyKind::data});
  }
  const TaskId copy = append_copy(tensor, places.out, places.out_work, dependencies, simulation);
  leaving_[index(tensor)] = copy;
  copies_.emplace_back(copy, tensor);
  ++account().swaps;
  account().out_bytes += bytes_of(tensor);
  copies_out_until_ns_ = std::max(copies_out_until_ns_, simulation.now_ns()) + copy_ns(tensor);
  // The memory is free when the copy has ended.
  FORETRACE_CHECK(
      simulation
          .add_dependency({.source = end_of(copy), .task = task, .kind = DependencyKind::memory})
          .ok());
}

void Evictor::copy_in(TensorId tensor, TaskId task, Simulation& simulation) {
  const CopyPlaces& places = places_of(tensor);
  const TaskId call = call_before(task, places.call, usual_launch_ns_, 0, simulation);
  const std::vector<Dependency> dependencies = {{.source = end_of(call),
                                                 .task = {},
                                                 .kind = DependencyKind::launch,
                                                 .lag_ns = usual_lag_ns_}};
  arriving_[index(tensor)] =
      append_copy(tensor, places.in, places.in_work, dependencies, simulation);
  accessed_ns_[index(tensor)] = simulation.now_ns();
  away_.erase(tensor);
  account().in_bytes += bytes_of(tensor);
}

void Evictor::find_demand() {
  const std::vector<Tensor>& tensors = graph_.context().tensors;
  std::map<std::pair<std::int32_t, std::int32_t>, std::vector<std::pair<TaskId, std::int64_t>>>
      changes;
  for (const Tensor& tensor : tensors) {
    if (tensor.allocated_in == none<TaskId>) continue;
    auto& list = changes[{graph_.lane(tensor.allocated_in).rank, tensor.device}];
    list.emplace_back(tensor.allocated_in, tensor.bytes);
    if (tensor.freed_in != none<TaskId>) list.emplace_back(tensor.freed_in, -tensor.bytes);
  }
  for (auto& [place, list] : changes) {
    std::stable_sort(list.begin(), list.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<std::int64_t>& live_at = live_at_[place];
    std::int64_t live = 0;
    std::size_t next = 0;
    for (const OperatorRun& run : uses_.runs()) {
      std::int64_t most = live;
      for (; next < list.size() && list[next].first <= run.launches.back(); ++next) {
        live += list[next].second;
        most = std::max(most, live);
      }
      live_at.push_back(most);
    }
  }
}

// How much more than now will be asked for before the next use.
std::int64_t Evictor::demand_until_use(TensorId tensor) {
  const auto& runs = uses_.making(tensor).uses;
  const auto next = std::upper_bound(runs.begin(), runs.end(), current_run_);
  if (next == runs.end()) return 0;
  const auto live = live_at_[place_of(tensor)].begin();
  const std::int64_t before = current_run_ == 0 ? 0 : live[current_run_ - 1];
  return std::max<std::int64_t>(0, *std::max_element(live + current_run_, live + *next) - before);
}

// Only into room that nobody will ask for before the use.
void Evictor::fetch_ahead(TaskId task, Simulation& simulation) {
  std::vector<std::pair<std::int64_t, TensorId>> soon;
  for (const TensorId tensor : away_) {
    const std::int64_t until = until_use_ns(tensor);
    const double reach = options_.ahead * static_cast<double>(copy_ns(tensor));
    if (static_cast<double>(until) <= reach) soon.emplace_back(until, tensor);
  }
  std::sort(soon.begin(), soon.end());
  for (const auto& [until, tensor] : soon) {
    if (!is_wanted(tensor, simulation)) {
      away_.erase(tensor);
    } else if (!simulation.is_resident(tensor) &&
               simulation.room_bytes(tensor) - demand_until_use(tensor) >= bytes_of(tensor) &&
               simulation.restore(tensor)) {
      note_present(tensor);
      copy_in(tensor, task, simulation);
    }
  }
}

}  // namespace foretrace::editing
