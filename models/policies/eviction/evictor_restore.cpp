// Tensors come back: their kernels run again.
#include <algorithm>

#include "models/policies/eviction/evictor.h"
#include "sim/graph/links.h"

namespace foretrace::editing {
namespace {

// A policy that repeats the whole run this often is no answer even where it gets through: the paper
// of DTR ends its curves at twice the work.
constexpr std::size_t most_repeats = 10;

}  // namespace

void Evictor::note_present(TensorId tensor) {
  if (is_movable_[index(tensor)] && !is_present_[index(tensor)]) {
    is_present_[index(tensor)] = true;
    present_.push_back(tensor);
  }
}

// What is on the device is a small part of what a run ever allocates: a search looks at it alone.
// What was evicted, or is gone for good, is noted again when it comes back.
void Evictor::drop_gone(const Simulation& simulation) {
  std::erase_if(present_, [&](TensorId tensor) {
    const bool stays = simulation.is_resident(tensor) || !is_born(tensor, simulation);
    is_present_[index(tensor)] = stays;
    return !stays;
  });
}

bool Evictor::find_room(TensorId tensor, std::int64_t more, TaskId task, Simulation& simulation) {
  const std::int64_t missing = bytes_of(tensor) + more - simulation.room_bytes(tensor);
  if (missing <= 0) return true;
  const Freed freed = free_up(missing, place_of(tensor), task, simulation);
  if (freed == Freed::nothing) {
    const auto [rank, device] = place_of(tensor);
    const Tensor& row = graph_.context().tensors[index(tensor)];
    const std::int64_t budget = simulation.budget_bytes(tensor);
    const std::int64_t room = simulation.room_bytes(tensor);
    note({.task = task,
          .rank = rank,
          .device = device,
          .missing_bytes = bytes_of(tensor) + more - room,
          .live_bytes = budget - room,
          .budget_bytes = budget,
          .operator_name = row.operator_name,
          .layer = row.layer});
  }
  return freed == Freed::now;
}

bool Evictor::bring_back(TensorId tensor, TaskId task, Simulation& simulation) {
  if (on_host_[index(tensor)]) {
    if (!find_room(tensor, 0, task, simulation) || !simulation.restore(tensor)) return false;
    note_present(tensor);
    copy_in(tensor, task, simulation);
    return true;
  }
  return remake(tensor, task, simulation);
}

// What it is made from comes first and stays until it is made.
bool Evictor::remake(TensorId tensor, TaskId task, Simulation& simulation) {
  const TensorMaking& making = uses_.making(tensor);
  if (!can_remake(tensor)) return false;
  if (account().recomputed_kernels > most_repeats * (kernels_ + 1)) {
    account().gave_up = true;
    return false;
  }
  busy_[index(tensor)] = true;
  std::vector<TensorId> held;
  bool ready = true;
  for (const TensorId from : making.from) {
    if (busy_[index(from)] || !is_born(from, simulation)) continue;
    if (!simulation.is_resident(from)) {
      if (uses_.making(from).runs.empty()) continue;
      if (!bring_back(from, task, simulation)) {
        ready = false;
        break;
      }
    }
    ++pins_[index(from)];
    held.push_back(from);
  }
  if (ready) {
    ready = find_room(tensor, workspace_bytes(tensor, simulation), task, simulation) &&
            simulation.restore(tensor);
  }
  if (ready) {
    note_present(tensor);
    for (const std::uint32_t run : making.runs) {
      const OperatorRun& found = uses_.runs()[run];
      if (simulation.has_started(found.launches.back())) repeat(found, task, simulation);
    }
    accessed_ns_[index(tensor)] = simulation.now_ns();
  }
  busy_[index(tensor)] = false;
  for (const TensorId from : held) --pins_[index(from)];
  if (ready && !is_wanted(tensor, simulation)) revived_.push_back(tensor);
  return ready;
}

// What the program had freed before, and was only there to make others from.
void Evictor::drop_revived(Simulation& simulation) {
  for (const TensorId tensor : revived_) {
    if (pins_[index(tensor)] == 0 && simulation.is_resident(tensor)) simulation.evict(tensor);
  }
  revived_.clear();
}

// Scratch space is there while its operator is launched.
std::int64_t Evictor::workspace_bytes(TensorId tensor, const Simulation& simulation) const {
  std::int64_t most = 0;
  for (const std::uint32_t run : uses_.making(tensor).runs) {
    std::int64_t bytes = 0;
    for (const TensorId made : uses_.runs()[run].makes) {
      const bool is_scratch =
          graph_.context().tensors[index(made)].category == TensorCategory::workspace;
      if (is_scratch && is_born(made, simulation) && !simulation.is_resident(made)) {
        bytes += bytes_of(made);
      }
    }
    most = std::max(most, bytes);
  }
  return most;
}

void Evictor::use_workspaces(const OperatorRun& run, Simulation& simulation) {
  std::vector<TensorId> used;
  for (const TensorId made : run.makes) {
    const bool is_scratch =
        graph_.context().tensors[index(made)].category == TensorCategory::workspace;
    if (is_scratch && is_born(made, simulation) && !simulation.is_resident(made) &&
        simulation.restore(made)) {
      used.push_back(made);
    }
  }
  for (const TensorId made : used) simulation.evict(made);
}

TaskId Evictor::call_before(TaskId task, WorkId work, std::int64_t duration_ns,
                            std::int64_t segment_ns, Simulation& simulation) {
  const TaskSpec spec{.lane = graph_.lane_id(task),
                      .work = work,
                      .kind = TaskKind::launch,
                      .duration_ns = duration_ns,
                      .segment_ns = segment_ns,
                      .phase = graph_.phase(task),
                      .layer = graph_.layer(task),
                      .step = graph_.step(task),
                      .provenance = Provenance::assumed};
  const Result<TaskId> added =
      simulation.append({.task = spec, .dependencies = {}, .demands = {}, .before = task});
  FORETRACE_CHECK(added.ok());
  return *added;
}

TaskId Evictor::next_on(LaneId stream, const Simulation& simulation) {
  const std::vector<TaskId>& list = on_stream_[index(stream)];
  std::size_t& at = next_on_[index(stream)];
  const auto has_gone = [&](TaskId task) {
    const TaskId call = launch_of(graph_, task);
    return call == none<TaskId> || simulation.has_started(call) || simulation.has_started(task);
  };
  while (at < list.size() && has_gone(list[at])) ++at;
  return at < list.size() ? list[at] : none<TaskId>;
}

// Kernels of the same stream come after by their order.
void Evictor::wait_for_arrivals(const OperatorRun& run, TaskId device_task, Simulation& simulation,
                                std::vector<Dependency>* into) {
  for (const TensorId tensor : run.reads) {
    const TaskId bringer = arriving_[index(tensor)];
    if (bringer == none<TaskId> || simulation.has_ended(bringer)) continue;
    const Dependency wait{
        .source = end_of(bringer), .task = device_task, .kind = DependencyKind::data};
    if (into != nullptr) {
      into->push_back(wait);
    } else if (!simulation.has_started(device_task)) {
      (void)simulation.add_dependency(wait);
    }
  }
}

void Evictor::repeat(const OperatorRun& run, TaskId task, Simulation& simulation) {
  use_workspaces(run, simulation);
  for (const TaskId launch : run.launches) {
    repeat_launch(launch, run, task, simulation);
  }
}

void Evictor::repeat_launch(TaskId launch, const OperatorRun& run, TaskId task,
                            Simulation& simulation) {
  // What a first call loads, and what the program does before an operator, is not repeated.
  const TaskId call = call_before(
      task, graph_.work_id(launch), std::min(graph_.duration_ns(launch), usual_launch_ns_),
      std::min(graph_.segment_ns(launch), usual_segment_ns_), simulation);
  for (const TaskId original : launched_by(graph_, launch)) {
    TaskSpec spec{.lane = graph_.lane_id(original),
                  .work = graph_.work_id(original),
                  .kind = graph_.kind(original),
                  .duration_ns = graph_.duration_ns(original),
                  .segment_ns = graph_.segment_ns(original),
                  .phase = graph_.phase(original),
                  .layer = graph_.layer(original),
                  .step = graph_.step(task),
                  .provenance = graph_.provenance(original)};
    std::vector<Dependency> dependencies = {{.source = end_of(call),
                                             .task = {},
                                             .kind = DependencyKind::launch,
                                             .lag_ns = launch_link(graph_, original).lag_ns}};
    wait_for_arrivals(run, {}, simulation, &dependencies);
    const Result<TaskId> added = simulation.append({.task = spec,
                                                    .dependencies = dependencies,
                                                    .demands = {},
                                                    .before = next_on(spec.lane, simulation)});
    FORETRACE_CHECK(added.ok());
    account().recomputed_kernels += spec.kind == TaskKind::kernel ? 1 : 0;
    account().recomputed_ns += spec.duration_ns;
    for (const TensorId made : run.makes) arriving_[index(made)] = *added;
  }
}

}  // namespace foretrace::editing
