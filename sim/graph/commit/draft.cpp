// Checks and renumbering of a draft.
#include "sim/graph/commit/draft.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/graph/renumber.h"

namespace foretrace::committing {

namespace {

template <typename T>
bool any_above(const std::vector<T>& values, std::size_t limit) {
  std::uint32_t largest = 0;
  for (const T value : values) largest = std::max(largest, static_cast<std::uint32_t>(value));
  return !values.empty() && largest >= limit;
}

template <typename T>
TaskId first_above(const std::vector<T>& values, std::size_t limit) {
  const auto at = std::find_if(values.begin(), values.end(),
                               [limit](T value) { return index(value) >= limit; });
  return make_id<TaskId>(static_cast<std::size_t>(at - values.begin()));
}

template <typename T>
Status check_ids(const std::vector<T>& values, std::size_t limit, const char* what) {
  if (!any_above(values, limit)) return ok_status();
  const TaskId task = first_above(values, limit);
  return bad(fmt::format("task {}: {} {} does not exist, got {} of them", index(task), what,
                         index(values[index(task)]), limit));
}

Status check_columns(const Parts& parts) {
  const std::size_t tasks = parts.size();
  const TaskColumns& columns = parts.columns;
  if (tasks > max_tasks) {
    return bad(fmt::format("the graph has {} tasks, expected at most {}", tasks, max_tasks));
  }
  FORETRACE_CHECK(columns.work.size() == tasks && columns.kind.size() == tasks &&
                  columns.phase.size() == tasks && columns.layer.size() == tasks &&
                  columns.step.size() == tasks && columns.provenance.size() == tasks &&
                  parts.duration_ns.size() == tasks && parts.segment_ns.size() == tasks);
  FORETRACE_TRY(check_ids(columns.lane, parts.context.lanes.size(), "lane"));
  FORETRACE_TRY(check_ids(columns.work, parts.context.works.size(), "work"));
  FORETRACE_TRY(check_ids(columns.layer, parts.context.layers.size(), "layer"));
  const auto steps = static_cast<std::int64_t>(parts.context.steps.size());
  for (std::size_t t = 0; t < tasks; ++t) {
    if (columns.step[t] < -1 || columns.step[t] >= steps) {
      return bad(fmt::format("{}: step index {} does not exist, got {} steps",
                             describe(parts.context, columns, make_id<TaskId>(t)), columns.step[t],
                             steps));
    }
  }
  return ok_status();
}

Status check_dependencies(const Parts& parts) {
  const std::size_t tasks = parts.size();
  const std::size_t points = 2 * tasks;
  for (const Dependency& d : parts.dependencies) {
    const bool late_ok = d.late_after == no_point || index(d.late_after) < points;
    // Fractions are shares of the source's duration; a larger one could also overflow the sum.
    if (index(d.task) < tasks && index(d.source) < points && late_ok &&
        std::abs(d.fraction) <= 1.0F) {
      continue;
    }
    if (index(d.task) >= tasks || index(d.source) >= points || !late_ok) {
      return bad(fmt::format("{} dependency of task {} on task {}: no such task, got {} tasks",
                             to_string(d.kind), index(d.task),
                             index(task_of(index(d.source) >= points ? d.source : d.late_after)),
                             tasks));
    }
    return bad(fmt::format("{} dependency of {}: fraction {} is not between -1 and 1",
                           to_string(d.kind), describe(parts.context, parts.columns, d.task),
                           d.fraction));
  }
  return ok_status();
}

Status check_context(const Parts& parts) {
  const std::size_t tasks = parts.size();
  const GraphContext& context = parts.context;
  for (const Wait& w : context.waits) {
    const bool lane_ok = w.lane == none<LaneId> || index(w.lane) < context.lanes.size();
    const bool late_ok = w.late_after == no_point || index(w.late_after) < 2 * tasks;
    if (index(w.task) >= tasks || index(w.at) > tasks || !lane_ok || !late_ok) {
      return bad(fmt::format("{} wait of task {} at position {} on lane {}: no such task or lane",
                             to_string(w.kind), index(w.task), index(w.at), index(w.lane)));
    }
  }
  const auto exists = [tasks](TaskId task) { return index(task) < tasks; };
  const auto exists_or_none = [tasks](TaskId task) {
    return index(task) < tasks || task == none<TaskId>;
  };
  for (const Step& step : context.steps) {
    if (!exists(step.begin) || !exists(step.end)) {
      return bad(fmt::format("step {}: its marks are not tasks", step.number));
    }
  }
  for (const SegmentPart& part : context.segment_parts) {
    if (!exists(part.task) || index(part.layer) >= context.layers.size()) {
      return bad(fmt::format("segment part of task {}: no such task or layer", index(part.task)));
    }
  }
  for (const Tensor& tensor : context.tensors) {
    if (!exists_or_none(tensor.allocated_in) || !exists_or_none(tensor.freed_in)) {
      return bad("a tensor is allocated or freed in a task that does not exist");
    }
    if (tensor.bytes < 0 || index(tensor.layer) >= context.layers.size() ||
        index(tensor.operator_name) >= context.names.size()) {
      return bad("a tensor has a negative size, or a layer or name that does not exist");
    }
  }
  for (const Demand& demand : context.demands) {
    if (!exists(demand.task) || demand.capacity >= context.capacities.size()) {
      return bad(fmt::format("demand of task {} on capacity {}: no such task or capacity",
                             index(demand.task), demand.capacity));
    }
  }
  for (const Stall& stall : context.stalls) {
    if (!exists(stall.task) || stall.duration_ns < 0 || stall.excess_ns > stall.duration_ns) {
      return bad(fmt::format("stall of task {}: no such task, or an excess above its duration",
                             index(stall.task)));
    }
  }
  if (context.parameters != nullptr) {
    for (const ParameterUse& use : context.parameters->uses) {
      if (!exists(use.task)) return bad("a parameter is read by a task that does not exist");
    }
  }
  for (const TaskPriority& priority : context.priorities) {
    if (!exists(priority.task)) {
      return bad(fmt::format("priority of task {}: no such task", index(priority.task)));
    }
  }
  return ok_status();
}

template <typename T>
void permute(std::vector<T>& values, const std::vector<TaskId>& new_id) {
  if (values.empty()) return;
  std::vector<T> moved(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) moved[index(new_id[i])] = values[i];
  values.swap(moved);
}

}  // namespace

std::string describe(const GraphContext& context, const TaskColumns& columns, TaskId task) {
  const std::size_t t = index(task);
  if (t >= columns.kind.size()) return fmt::format("task {}", t);
  std::string_view name;
  if (index(columns.work[t]) < context.works.size()) {
    const NameId id = context.works[index(columns.work[t])].name;
    if (index(id) < context.names.size()) name = context.names[id];
  }
  return fmt::format("{} '{}' (task {})", to_string(columns.kind[t]), name, t);
}

/// A negative gap is real between device operations (a kernel may begin before its predecessor
/// has drained), never between the calls of a thread.
Status check_weights(const Parts& parts) {
  double total = 0;
  std::int64_t smallest = 0;
  for (std::size_t t = 0; t < parts.size(); ++t) {
    smallest = std::min({smallest, parts.duration_ns[t], parts.segment_ns[t]});
    total += static_cast<double>(parts.duration_ns[t]) +
             std::abs(static_cast<double>(parts.segment_ns[t]));
  }
  for (const Dependency& d : parts.dependencies) total += std::abs(static_cast<double>(d.lag_ns));
  for (const Wait& w : parts.context.waits) total += std::abs(static_cast<double>(w.lag_ns));
  for (std::size_t t = 0; smallest < 0 && t < parts.size(); ++t) {
    const auto task = make_id<TaskId>(t);
    if (parts.duration_ns[t] < 0) {
      return bad(fmt::format("{}: duration is negative, got {} ns",
                             describe(parts.context, parts.columns, task), parts.duration_ns[t]));
    }
    if (parts.segment_ns[t] < 0 && is_host(parts.columns.kind[t])) {
      return bad(fmt::format("{}: host segment is negative, got {} ns",
                             describe(parts.context, parts.columns, task), parts.segment_ns[t]));
    }
  }
  if (total > max_total_ns) {
    return bad(
        fmt::format("durations, segments and lags add up to {:.3g} ns, expected at most "
                    "{:.3g}",
                    total, max_total_ns));
  }
  return ok_status();
}

Status check(const Parts& parts) {
  FORETRACE_TRY(check_columns(parts));
  FORETRACE_TRY(check_dependencies(parts));
  FORETRACE_TRY(check_context(parts));
  return check_weights(parts);
}

Error stated_queue(const std::string& task) {
  return bad(
      fmt::format("{} waits for a full queue by itself: set the queue depth of the lane", task));
}

void renumber(Draft& draft, const std::vector<TaskId>& new_id) {
  TaskColumns& columns = draft.columns;
  permute(columns.lane, new_id);
  permute(columns.work, new_id);
  permute(columns.kind, new_id);
  permute(columns.phase, new_id);
  permute(columns.layer, new_id);
  permute(columns.step, new_id);
  permute(columns.provenance, new_id);
  permute(draft.duration_ns, new_id);
  permute(draft.segment_ns, new_id);
  permute(draft.slots.sources, new_id);
  permute(draft.slots.kinds, new_id);
  permute(draft.slots.lag_ns, new_id);
  for (auto& sources : draft.slots.sources) {
    for (Point& source : sources) foretrace::renumber(source, new_id);
  }
  for (Dependency& d : draft.dependencies) {
    d.task = new_id[index(d.task)];
    foretrace::renumber(d.source, new_id);
    foretrace::renumber(d.late_after, new_id);
  }
  foretrace::renumber(draft.context, new_id);
}

}  // namespace foretrace::committing
