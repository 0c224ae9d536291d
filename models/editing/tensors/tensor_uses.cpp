// Operators by their launches; operands by time, size and the order of the host.
#include "models/editing/tensors/tensor_uses.h"

#include <algorithm>
#include <string_view>

#include "models/editing/kernels/data_neighbours.h"
#include "models/editing/kernels/kernel_names.h"
#include "models/hardware/costs/operator_shapes.h"
#include "sim/graph/links.h"

namespace foretrace::editing {
namespace {

// Of smaller tensors there are too many of one size to tell them apart.
constexpr double least_matched_bytes = 4096;

// Bytes per number of input `i`: types are "float" or ["float", "c10::Half", ""].
std::int64_t bytes_per_number(std::string_view types, std::size_t i) {
  std::string_view type = types;
  if (types.starts_with('[')) {
    for (; i > 0; --i) {
      const std::size_t comma = types.find(',');
      if (comma == std::string_view::npos) return 4;
      types.remove_prefix(comma + 1);
    }
    type = types.substr(0, types.find(','));
  }
  const auto has = [type](std::string_view part) {
    return type.find(part) != std::string_view::npos;
  };
  if (has("Half") || has("BFloat16") || has("bfloat16")) return 2;
  if (has("double") || has("long")) return 8;
  if (has("bool") || has("char") || has("Byte")) return 1;
  return 4;
}

// No operator reads more tensors that end with it; lists of them belong to optimizers.
constexpr std::size_t most_last_uses = 16;

// Launches keep their order of calls across threads by their ids.
template <typename T>
void push_new(std::vector<T>& list, T value) {
  if (std::find(list.begin(), list.end(), value) == list.end()) list.push_back(value);
}

}  // namespace

TensorUses::TensorUses(const TaskGraph& graph, Repeats repeats)
    : graph_(graph),
      repeats_(repeats),
      run_of_(graph.size(), no_run),
      makings_(graph.context().tensors.size()),
      starts_(graph.size(), false) {
  find_runs();
  find_makers();
  find_last_uses();
  find_reads();
  for (TensorMaking& making : makings_) std::sort(making.uses.begin(), making.uses.end());
  find_repeatable();
  find_unknown_uses();
}

const Work& TensorUses::work_of(const OperatorRun& run) const {
  return graph_.work(launched_by(graph_, run.launches.front()).front());
}

bool TensorUses::has_inputs(const OperatorRun& run) const {
  return !graph_.names()[work_of(run).shapes].empty();
}

bool TensorUses::starts_run(TaskId launch, TaskId previous) const {
  if (previous == none<TaskId> || starts_[index(launch)]) return true;
  const Work& a = graph_.work(launched_by(graph_, launch).front());
  const Work& b = graph_.work(launched_by(graph_, previous).front());
  return graph_.phase(launch) != graph_.phase(previous) ||
         graph_.step(launch) != graph_.step(previous) || a.operator_name == NameId{} ||
         a.operator_name != b.operator_name || a.shapes != b.shapes;
}

// The first launch at or after a task of its thread begins another call of an operator.
void TensorUses::mark_start(TaskId task) {
  if (task == none<TaskId>) return;
  const auto thread = launches_.find(graph_.lane_id(task));
  if (thread == launches_.end()) return;
  const auto first = std::lower_bound(thread->second.begin(), thread->second.end(), task);
  if (first != thread->second.end()) starts_[index(*first)] = true;
}

void TensorUses::find_runs() {
  for (std::size_t i = 0; i < graph_.size(); ++i) {
    const auto task = make_id<TaskId>(i);
    if (!is_device(graph_.kind(task)) && !launched_by(graph_, task).empty() &&
        !launches_what_moves_nothing(graph_, task)) {
      launches_[graph_.lane_id(task)].push_back(task);
    }
  }
  // What lives across operators comes and goes between their calls, or first thing in one.
  for (const Tensor& tensor : graph_.context().tensors) {
    if (tensor.bytes == 0 || tensor.category == TensorCategory::workspace) continue;
    mark_start(tensor.allocated_in);
    mark_start(tensor.freed_in);
  }
  for (const auto& [lane, list] : launches_) {
    TaskId previous = none<TaskId>;
    for (const TaskId launch : list) {
      if (starts_run(launch, previous)) runs_.emplace_back();
      runs_.back().launches.push_back(launch);
      previous = launch;
    }
  }
  std::sort(runs_.begin(), runs_.end(), [](const OperatorRun& a, const OperatorRun& b) {
    return a.launches.front() < b.launches.front();
  });
  for (std::uint32_t r = 0; r < runs_.size(); ++r) {
    for (const TaskId launch : runs_[r].launches) run_of_[index(launch)] = r;
  }
}

// The first launch at or after a task of its thread.
std::uint32_t TensorUses::run_from(TaskId task) const {
  const auto thread = launches_.find(graph_.lane_id(task));
  if (thread == launches_.end()) return no_run;
  const auto found = std::lower_bound(thread->second.begin(), thread->second.end(), task);
  return found == thread->second.end() ? no_run : run_of(*found);
}

// The last launch before a task of its thread.
std::uint32_t TensorUses::run_until(TaskId task) const {
  const auto thread = launches_.find(graph_.lane_id(task));
  if (thread == launches_.end()) return no_run;
  const auto found = std::lower_bound(thread->second.begin(), thread->second.end(), task);
  return found == thread->second.begin() ? no_run : run_of(*(found - 1));
}

void TensorUses::find_makers() {
  const std::vector<Tensor>& tensors = graph_.context().tensors;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].bytes == 0 || tensors[i].allocated_in == none<TaskId>) continue;
    const std::uint32_t run = run_from(tensors[i].allocated_in);
    if (run == no_run || runs_[run].launches.front() >= tensors[i].freed_in) continue;
    makings_[i].runs.push_back(run);
    makings_[i].uses.push_back(run);
    runs_[run].makes.push_back(make_id<TensorId>(i));
  }
}

void TensorUses::find_last_uses() {
  const std::vector<Tensor>& tensors = graph_.context().tensors;
  std::map<std::uint32_t, std::vector<TensorId>> ending;  // by run
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (makings_[i].runs.empty() || tensors[i].freed_in == none<TaskId>) continue;
    const std::uint32_t run = run_until(tensors[i].freed_in);
    if (run == no_run || run <= makings_[i].runs.front()) continue;
    ending[run].push_back(make_id<TensorId>(i));
  }
  for (const auto& [run, list] : ending) {
    if (list.size() > most_last_uses) continue;
    for (const TensorId tensor : list) add_read(run, tensor);
  }
}

bool TensorUses::lives_at(TensorId tensor, const OperatorRun& run) const {
  return graph_.context().tensors[index(tensor)].freed_in > run.launches.back();
}

void TensorUses::add_read(std::uint32_t run, TensorId tensor) {
  push_new(runs_[run].reads, tensor);
  push_new(makings_[index(tensor)].uses, run);
}

void TensorUses::find_reads() {
  const std::vector<Tensor>& tensors = graph_.context().tensors;
  for (std::uint32_t r = 0; r < runs_.size(); ++r) {
    const Work& work = work_of(runs_[r]);
    has_inputs(runs_[r]) ? read_by_shapes(r) : read_last_made(r);
    for (const TensorId tensor : runs_[r].makes) {
      const Tensor& made = tensors[index(tensor)];
      const std::int64_t asked = made.requested_bytes >= 0 ? made.requested_bytes : made.bytes;
      by_size_[block_bytes(asked)].push_back(tensor);
    }
    const std::string_view name = graph_.names()[work.operator_name];
    if (!runs_[r].makes.empty() || runs_[r].reads.empty() || !name.ends_with('_')) continue;
    push_new(makings_[index(runs_[r].reads.front())].runs, r);
  }
}

template <typename Where>
TensorId TensorUses::youngest(double bytes, const OperatorRun& run, Where where) {
  const auto same = by_size_.find(block_bytes(static_cast<std::int64_t>(bytes)));
  if (same == by_size_.end()) return none<TensorId>;
  // Those that are gone are forgotten.
  std::erase_if(same->second, [&](TensorId t) { return !lives_at(t, run); });
  const auto found = std::find_if(same->second.rbegin(), same->second.rend(), where);
  return found == same->second.rend() ? none<TensorId> : *found;
}

void TensorUses::read_by_shapes(std::uint32_t run) {
  const Work& work = work_of(runs_[run]);
  const OperatorInputs inputs = parse_inputs(graph_.names()[work.shapes]);
  const std::string_view types = graph_.names()[work.types];
  const std::int32_t device =
      graph_.lane(launched_by(graph_, runs_[run].launches.front()).front()).device;
  std::vector<TensorId> taken;
  for (std::size_t i = 0; i < inputs.tensors.size(); ++i) {
    for (const Dims& dims : inputs.tensors[i]) {
      auto bytes = static_cast<double>(bytes_per_number(types, i));
      for (const std::int64_t size : dims) bytes *= static_cast<double>(size);
      if (!(bytes >= least_matched_bytes && bytes < 1e15)) continue;
      // The youngest that is not yet taken; a what-if may have made fp32 numbers half as long.
      const auto is_there = [&](TensorId t) {
        return graph_.context().tensors[index(t)].device == device &&
               std::find(taken.begin(), taken.end(), t) == taken.end();
      };
      TensorId found = youngest(bytes, runs_[run], is_there);
      if (bytes_per_number(types, i) == 4) {
        const TensorId halved = youngest(bytes / 2, runs_[run], [&](TensorId t) {
          return graph_.context().tensors[index(t)].provenance == Provenance::assumed &&
                 is_there(t);
        });
        const bool is_younger =
            halved != none<TensorId> &&
            (found == none<TensorId> ||
             makings_[index(halved)].runs.front() > makings_[index(found)].runs.front());
        if (is_younger) found = halved;
      }
      if (found == none<TensorId>) continue;
      taken.push_back(found);
    }
  }
  // In the order of the inputs, before what is only known to be used last here.
  std::vector<TensorId> last = std::move(runs_[run].reads);
  runs_[run].reads.clear();
  for (const TensorId tensor : taken) add_read(run, tensor);
  for (const TensorId tensor : last) push_new(runs_[run].reads, tensor);
}

void TensorUses::read_last_made(std::uint32_t run) {
  const LaneId lane = graph_.lane_id(runs_[run].launches.front());
  for (std::uint32_t r = run; r-- > 0;) {
    if (graph_.lane_id(runs_[r].launches.front()) != lane || runs_[r].makes.empty()) continue;
    for (const TensorId tensor : runs_[r].makes) {
      if (lives_at(tensor, runs_[run])) add_read(run, tensor);
    }
    return;
  }
}

bool TensorUses::is_repeatable(const OperatorRun& run) const {
  return std::all_of(run.launches.begin(), run.launches.end(), [&](TaskId launch) {
    const auto launched = launched_by(graph_, launch);
    return is_plain_launch(graph_, launch) &&
           std::all_of(launched.begin(), launched.end(), [&](TaskId task) {
             const TaskKind kind = graph_.kind(task);
             return kind == TaskKind::kernel || kind == TaskKind::set ||
                    is_copy_on_device(graph_, task);
           });
  });
}

void TensorUses::find_repeatable() {
  for (std::size_t i = 0; i < makings_.size(); ++i) {
    TensorMaking& making = makings_[i];
    const bool is_of_backward = graph_.context().tensors[i].phase == Phase::backward;
    making.can_repeat = !making.runs.empty() && (repeats_ == Repeats::all || !is_of_backward);
    for (const std::uint32_t r : making.runs) {
      making.can_repeat = making.can_repeat && is_repeatable(runs_[r]);
      for (const TensorId read : runs_[r].reads) {
        if (index(read) != i) push_new(making.from, read);
      }
      for (const TaskId launch : runs_[r].launches) {
        for (const TaskId task : launched_by(graph_, launch)) {
          making.device_ns += graph_.duration_ns(task);
        }
      }
    }
  }
  // What is freed while this one is still needed must be repeatable itself.
  const auto lasts = [&](TensorId from, const TensorMaking& making) {
    return lives_at(from, runs_[making.uses.back()]);
  };
  for (bool moves = true; moves;) {
    moves = false;
    for (TensorMaking& making : makings_) {
      const bool lost = making.can_repeat &&
                        std::any_of(making.from.begin(), making.from.end(), [&](TensorId from) {
                          return !makings_[index(from)].can_repeat && !lasts(from, making);
                        });
      if (!lost) continue;
      making.can_repeat = false;
      moves = true;
    }
  }
}

// Where operators record their inputs, a map that none of them reads is not needed.
void TensorUses::find_unknown_uses() {
  const auto is_backward = [&](std::uint32_t run) {
    return graph_.phase(runs_[run].launches.front()) == Phase::backward;
  };
  for (std::uint32_t r = 0; r < runs_.size(); ++r) {
    if (!is_backward(r)) continue;
    ++backward_runs_;
    bare_backward_runs_ += has_inputs(runs_[r]) ? 0 : 1;
  }
  if (!is_backward_bare()) return;
  for (std::size_t i = 0; i < makings_.size(); ++i) {
    if (graph_.context().tensors[i].category != TensorCategory::activation) continue;
    makings_[i].is_use_known =
        std::any_of(makings_[i].uses.begin(), makings_[i].uses.end(), is_backward);
  }
}

}  // namespace foretrace::editing
