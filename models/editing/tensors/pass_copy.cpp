// Calls are copied in program order, all onto one thread, and their waits with them.
#include "models/editing/tensors/pass_copy.h"

#include <algorithm>
#include <utility>

#include "sim/core/text.h"
#include "sim/core/whole.h"
#include "sim/edit/carried_links.h"

namespace foretrace::editing {
namespace {

// What a lone pass does at first use, by the names of the calls: allocators keep what they got, and
// code stays loaded.
bool is_done_once(std::string_view call) {
  return contains_any(call, {"Malloc", "ModuleLoad", "LoadData"});
}

/// The only work on the device that a call launches; none for calls that launch nothing.
TaskId device_work(const TaskGraph& graph, TaskId call) {
  return graph.kind(call) == TaskKind::launch ? launched_by(graph, call).only() : none<TaskId>;
}

bool launches_kernel(const TaskGraph& graph, TaskId call) {
  const TaskId work = device_work(graph, call);
  return work != none<TaskId> && graph.kind(work) == TaskKind::kernel;
}

}  // namespace

PassCopier::PassCopier(KernelEditor& editor, std::span<const TrainingPass> passes)
    : editor_(editor), graph_(editor.graph()), waits_(editor.graph().context().waits) {
  std::map<std::int32_t, std::size_t> passes_of_rank;
  std::map<Name, std::vector<std::size_t>> numbers;
  std::map<Name, std::vector<std::int64_t>> times;
  for (const TrainingPass& pass : passes) {
    calls_of_pass_.push_back(calls_of(pass));
    first_kernel_.push_back(pass.forward.front());
    ++passes_of_rank[graph_.lane(pass.forward.front()).rank];
    std::map<Name, std::size_t> own;
    std::map<Name, std::int64_t> own_ns;
    for (const TaskId call : calls_of_pass_.back()) {
      if (launches_kernel(graph_, call)) continue;
      ++own[name_of(call)];
      own_ns[name_of(call)] += graph_.duration_ns(call);
    }
    for (const auto& [name, number] : own) numbers[name].push_back(number);
    for (const auto& [name, ns] : own_ns) times[name].push_back(ns);
  }
  for (auto& [name, list] : numbers) {
    const std::size_t of_rank = passes_of_rank[name.first];
    list.resize(std::max(of_rank, list.size()));  // passes without such a call
    std::sort(list.begin(), list.end());
    const bool is_lone = of_rank < 2;
    const bool is_once = is_lone && is_done_once(graph_.names()[name.second]);
    usual_number_[name] = is_once ? 0 : list[(list.size() - 1) / 2];
    // Of two passes the shorter one: the other may be the first.
    std::vector<std::int64_t>& all = times[name];
    std::sort(all.begin(), all.end());
    usual_ns_[name] = all[(all.size() - 1) / 2];
  }
  for (std::vector<TaskId>& calls : calls_of_pass_) {
    leave_out_extra(calls);
    kept_.push_back(kept_shares(calls));
  }
}

std::vector<TaskId> PassCopier::calls_of(const TrainingPass& pass) const {
  std::map<LaneId, std::pair<TaskId, TaskId>> range;  // of each thread
  for (const auto* kernels : {&pass.forward, &pass.backward}) {
    for (const TaskId kernel : *kernels) {
      const TaskId call = editor_.own_call(kernel);
      if (call == none<TaskId>) continue;
      auto& [first, last] = range.try_emplace(graph_.lane_id(call), call, call).first->second;
      first = std::min(first, call);
      last = std::max(last, call);
    }
  }
  std::vector<TaskId> calls;
  for (const auto& [thread, ends] : range) {
    for (TaskId call = ends.first; call != none<TaskId> && call <= ends.second;
         call = next_on_lane(graph_, call)) {
      if (is_of_pass(call)) calls.push_back(call);
    }
  }
  std::sort(calls.begin(), calls.end());
  return calls;
}

bool PassCopier::is_of_pass(TaskId call) const {
  const auto is_other = [&](TaskId task) {
    const Phase phase = graph_.phase(task);
    return phase == Phase::update || phase == Phase::data_loading ||
           phase == Phase::communication || graph_.kind(task) == TaskKind::collective;
  };
  if (graph_.kind(call) == TaskKind::mark || is_other(call)) return false;
  if (graph_.kind(call) != TaskKind::launch) return true;
  const TaskId work = device_work(graph_, call);
  return work != none<TaskId> && !is_other(work);
}

/// A pair of begin and finish is one call: both stay or go.
void PassCopier::leave_out_extra(std::vector<TaskId>& calls) const {
  std::map<Name, std::size_t> number;
  for (const TaskId call : calls) {
    if (!launches_kernel(graph_, call)) ++number[name_of(call)];
  }
  std::map<Name, std::size_t> seen;
  const auto is_extra = [&](TaskId call) {
    if (launches_kernel(graph_, call)) return false;
    // The first ones go: that is when code is loaded and memory is got.
    const Name name = name_of(call);
    const auto usual = usual_number_.find(name);
    return usual != usual_number_.end() && number[name] > usual->second &&
           seen[name]++ < number[name] - usual->second;
  };
  calls.erase(std::remove_if(calls.begin(), calls.end(), is_extra), calls.end());
}

std::map<PassCopier::Name, double> PassCopier::kept_shares(const std::vector<TaskId>& calls) const {
  std::map<Name, std::int64_t> own;
  for (const TaskId call : calls) {
    if (!launches_kernel(graph_, call)) own[name_of(call)] += graph_.duration_ns(call);
  }
  std::map<Name, double> kept;
  for (const auto& [name, ns] : own) {
    const std::int64_t usual = usual_ns_.at(name);
    if (ns > usual) kept[name] = static_cast<double>(usual) / static_cast<double>(ns);
  }
  return kept;
}

TaskId PassCopier::put(std::size_t pass, TaskId anchor) {
  const std::vector<TaskId>& calls = calls_of_pass_[pass];
  twins_.clear();
  if (calls.empty()) return none<TaskId>;
  if (begin_ != calls.front()) last_before_.clear();  // copies before were of another pass
  begin_ = calls.front();
  for (const TaskId call : calls) {
    const TaskId work = device_work(graph_, call);
    if (work == none<TaskId> || graph_.kind(work) != TaskKind::kernel) {
      copy_call(call, anchor, kept_[pass]);
      continue;
    }
    const TaskId twin = editor_.copy(work, anchor, Place::before, work != first_kernel_[pass]);
    if (twin == none<TaskId>) continue;
    twins_[work] = twin;
    twins_[call] = editor_.call_of_new(twin);
  }
  for (const auto& [task, twin] : twins_) connect(task);
  // By now an event before the pass is one behind this copy.
  std::map<LaneId, TaskId> last;
  for (const auto& [task, twin] : twins_) {
    if (is_device(graph_.kind(task))) last[graph_.lane_id(task)] = twin;
  }
  last_before_ = std::move(last);
  for (const auto& [task, twin] : twins_) follow_copy(task, task);
  const auto first = twins_.find(first_kernel_[pass]);
  return first == twins_.end() ? none<TaskId> : first->second;
}

void PassCopier::copy_call(TaskId call, TaskId anchor, const std::map<Name, double>& kept) {
  Editor& edit = editor_.edit();
  const auto of_copy = [&](TaskSpec spec) {
    spec.phase = graph_.phase(anchor);
    spec.step = graph_.step(anchor);
    spec.provenance = Provenance::assumed;
    return spec;
  };
  TaskSpec spec = of_copy(edit.like(call));
  spec.lane = graph_.lane_id(anchor);
  const auto share = kept.find(name_of(call));
  spec.duration_ns = graph_.duration_ns(call);
  if (share != kept.end()) {
    spec.duration_ns = to_whole(static_cast<double>(spec.duration_ns) * share->second);
  }
  spec.segment_ns = std::max<std::int64_t>(graph_.segment_ns(call), 0);
  calls_ns_ += spec.duration_ns + spec.segment_ns;
  ++calls_;
  const TaskId work = device_work(graph_, call);
  if (work == none<TaskId>) {
    twins_[call] = edit.insert(spec, anchor, Place::before);
    return;
  }
  TaskSpec device = of_copy(edit.like(work));
  device.segment_ns = std::max<std::int64_t>(graph_.segment_ns(work), 0);
  const Launched put = edit.insert(Editor::NewPair{spec, device, launch_link(graph_, work).lag_ns},
                                   anchor, Place::before);
  twins_[call] = put.call;
  twins_[work] = put.device;
}

/// To the copy of its task, if there is one. False for what the pass at hand does and its copy does
/// not.
bool PassCopier::moves(Point& point) const {
  const auto twin = twins_.find(task_of(point));
  if (twin == twins_.end()) return task_of(point) < begin_;
  point = is_end(point) ? end_of(twin->second) : start_of(twin->second);
  return true;
}

/// What a task waits for on a stream since before the pass is the last work there: of a copy in
/// between, where that puts some there.
void PassCopier::follow_copy(TaskId task, TaskId waiting) {
  for (const Link& link : sources(graph_, task)) {
    if (link.kind != DependencyKind::event_wait || link.source == no_point) continue;
    const TaskId source = task_of(link.source);
    if (source >= begin_ || !is_device(graph_.kind(source))) continue;
    const auto last = last_before_.find(graph_.lane_id(source));
    if (last != last_before_.end()) {
      editor_.edit().depend(waiting, last->second, DependencyKind::event_wait);
    }
  }
}

void PassCopier::connect(TaskId task) {
  const TaskId twin = twins_.at(task);
  follow_copy(task, twin);
  const auto carries = [](DependencyKind kind) {  // launches are there already
    return kind == DependencyKind::event_wait || kind == DependencyKind::synchronization ||
           kind == DependencyKind::data || kind == DependencyKind::memory ||
           kind == DependencyKind::control;
  };
  const auto adapts = [this](Wait& wait) {
    Point at = start_of(wait.at);
    if (!moves(at)) return false;
    wait.at = task_of(at);
    return true;
  };
  carry_links(editor_.edit(), waits_, task, twin,
              {[this](Point& point) { return moves(point); }, carries, adapts});
}

}  // namespace foretrace::editing
