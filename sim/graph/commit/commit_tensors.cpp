// Tensors of a change: checks, edited sizes, new tensors; and what lies in segments that change
// length: moments of tensors, labelled parts.
#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sim/core/whole.h"
#include "sim/graph/commit/commit_parts.h"

namespace foretrace::committing {
namespace {

/// Of the segments that the change edits: how much longer they become.
class Stretch {
 public:
  Stretch(const TaskGraph& graph, const Change& change) : graph_(graph), edits_(change.segments) {
    const auto less = [](const SegmentEdit& a, const SegmentEdit& b) { return a.task < b.task; };
    if (!std::is_sorted(edits_.begin(), edits_.end(), less)) {
      std::stable_sort(edits_.begin(), edits_.end(), less);
    }
  }

  void apply(TaskId task, std::int64_t& ns) const {
    if (task == none<TaskId> || ns == 0) return;
    const auto edit = std::lower_bound(edits_.begin(), edits_.end(), task,
                                       [](const SegmentEdit& e, TaskId t) { return e.task < t; });
    if (edit == edits_.end() || edit->task != task) return;
    const std::int64_t before = graph_.segment_ns(task);
    if (before <= 0) return;
    ns = to_whole(static_cast<double>(ns) *
                  (static_cast<double>(std::max<std::int64_t>(0, edit->segment_ns)) /
                   static_cast<double>(before)));
  }

 private:
  const TaskGraph& graph_;
  std::vector<SegmentEdit> edits_;
};

Status check_parameters(const Change& change, std::size_t tasks) {
  if (change.parameters == nullptr) return ok_status();
  const ParameterTable& table = *change.parameters;
  for (const ParameterUse& use : table.uses) {
    const bool reads = use.role == ParameterRole::read;
    if (index(use.task) < tasks && (!reads || index(use.parameter) < table.rows.size())) continue;
    return bad(fmt::format("parameter use: task {} of {}, parameter {} of {}", index(use.task),
                           tasks, index(use.parameter), table.rows.size()));
  }
  for (const Parameter& row : table.rows) {
    if (row.elements >= 0) continue;  // not so of what is not a number
    return bad(fmt::format("parameter: got {} elements, expected none or more", row.elements));
  }
  return ok_status();
}

}  // namespace

Status check_tensors(const TaskGraph& graph, const Change& change) {
  const std::size_t tensors = graph.context().tensors.size();
  const std::size_t tasks = graph.size() + change.inserted.size();
  for (const TensorEdit& edit : change.tensors) {
    if (index(edit.tensor) >= tensors) {
      return bad(fmt::format("tensor edit: tensor {} does not exist, got {} tensors",
                             index(edit.tensor), tensors));
    }
    if (edit.bytes < 0) {
      return bad(fmt::format("tensor edit: got {} bytes, expected none or more", edit.bytes));
    }
  }
  const auto exists = [tasks](TaskId task) { return task == none<TaskId> || index(task) < tasks; };
  for (const Tensor& tensor : change.new_tensors) {
    if (!exists(tensor.allocated_in) || !exists(tensor.freed_in)) {
      return bad(
          fmt::format("new tensor: it is allocated in task {} and freed in task {}, got {} "
                      "tasks and {} inserted ones",
                      index(tensor.allocated_in), index(tensor.freed_in), graph.size(),
                      change.inserted.size()));
    }
    if (index(tensor.layer) >= graph.context().layers.size()) {
      return bad(fmt::format("new tensor: layer {} does not exist, got {} layers",
                             index(tensor.layer), graph.context().layers.size()));
    }
    if (tensor.bytes < 0 || index(tensor.operator_name) >= change.names.size()) {
      return bad(
          fmt::format("new tensor: got {} bytes and name {} of {}, expected no negative "
                      "size and a name of the change",
                      tensor.bytes, index(tensor.operator_name), change.names.size()));
    }
  }
  return check_parameters(change, tasks);
}

bool touches_tensors(const TaskGraph& graph, const Change& change) {
  const GraphContext& context = graph.context();
  return !change.tensors.empty() || !change.new_tensors.empty() ||
         (!change.segments.empty() && !(context.tensors.empty() && context.segment_parts.empty()));
}

void apply_tensors(const TaskGraph& graph, const Change& change, GraphContext& context) {
  std::vector<Tensor>& tensors = context.tensors;
  if (!change.segments.empty()) {
    const Stretch stretch(graph, change);
    for (Tensor& tensor : tensors) {
      stretch.apply(tensor.allocated_in, tensor.allocated_offset_ns);
      stretch.apply(tensor.freed_in, tensor.freed_offset_ns);
    }
    for (SegmentPart& part : context.segment_parts) stretch.apply(part.task, part.duration_ns);
  }
  for (const TensorEdit& edit : change.tensors) {
    Tensor& tensor = tensors[index(edit.tensor)];
    tensor.bytes = edit.bytes;
    tensor.requested_bytes = edit.requested_bytes;
    tensor.provenance = std::max(tensor.provenance, edit.provenance);
  }
  for (Tensor tensor : change.new_tensors) {
    tensor.operator_name = context.names.intern(change.names[tensor.operator_name]);
    tensors.push_back(tensor);
  }
}

void apply_parameters(const Change& change, GraphContext& context) {
  if (change.parameters != nullptr) context.parameters = change.parameters;
  if (context.parameters == nullptr || change.repeats.empty()) return;
  std::multimap<TaskId, ParameterUse> of_task;
  for (const ParameterUse& use : context.parameters->uses) of_task.emplace(use.task, use);
  ParameterTable table = *context.parameters;
  for (const Repeat& repeat : change.repeats) {
    const auto [first, last] = of_task.equal_range(repeat.task);
    for (auto use = first; use != last; ++use) {
      table.uses.push_back({repeat.inserted, use->second.parameter, use->second.role});
    }
  }
  context.parameters = std::make_shared<const ParameterTable>(std::move(table));
}

}  // namespace foretrace::committing
