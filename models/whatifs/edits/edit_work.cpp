#include "models/whatifs/edits/edit_work.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "models/whatifs/edit_params.h"
#include "sim/core/whole.h"
#include "sim/graph/links.h"

namespace foretrace::edits {
namespace {

std::int64_t ns_of(const ParamValues& values, const ParamInfo& row, std::int64_t otherwise) {
  return values.given(row) ? to_whole(values.number(row)) : otherwise;
}

/// Of what is put in for a task, or beside it.
TaskKind kind_of(const Request& request, TaskId task) {
  const TaskKind own = request.graph.kind(task);
  if (!is_device(own)) return TaskKind::host;
  if (request.values.given(kind_param)) {
    const std::string& kind = request.values.text(kind_param);
    return kind == "copy" ? TaskKind::copy : kind == "set" ? TaskKind::set : TaskKind::kernel;
  }
  return own == TaskKind::collective ? TaskKind::kernel : own;
}

/// The call that enqueues this task and nothing else.
TaskId own_call_of(const TaskGraph& graph, TaskId task) {
  const TaskId call = launch_of(graph, task);
  const bool own = call != none<TaskId> && is_plain_launch(graph, call) &&
                   launched_by(graph, call).only() == task;
  return own ? call : none<TaskId>;
}

class Inserter {
 public:
  explicit Inserter(Request& request)
      : request_(request),
        graph_(request.graph),
        place_(request.values.given(place_param) && request.values.text(place_param) == "before"
                   ? Place::before
                   : Place::after) {}

  Result<std::string> run() {
    for (const TaskId task : request_.tasks) {
      if (is_beside(task)) put(task);
    }
    if (count_ == 0) {
      return Error{ErrorCode::no_match, "no selected task is work of a device or a host thread"};
    }
    return fmt::format("{} tasks '{}' of {} {}", count_, request_.values.text(insert_param),
                       quantity_text(request_.values.number(duration_param), ParamType::time),
                       place_ == Place::before ? "before" : "after");
  }

 private:
  /// Of an operation of two tasks, one has it beside it.
  [[nodiscard]] bool is_beside(TaskId task) const {
    const TaskPart inner = place_ == Place::after ? TaskPart::begin : TaskPart::finish;
    return graph_.kind(task) != TaskKind::transfer && graph_.work(task).part != inner;
  }

  void put(TaskId task) {
    ++count_;
    TaskSpec spec = request_.editor.like(task);
    spec.kind = kind_of(request_, task);
    Work nothing;  // it reads and writes no memory
    nothing.kind = spec.kind;
    nothing.bytes = 0;
    spec.work = request_.editor.add_work(nothing, request_.values.text(insert_param));
    spec.duration_ns = ns_of(request_.values, duration_param, 0);
    spec.segment_ns = ns_of(request_.values, gap_param, 0);
    spec.provenance = Provenance::assumed;
    const TaskId call = own_call_of(graph_, task);
    if (call != none<TaskId>) return put_with_call(task, call, spec);
    const TaskId put = request_.editor.insert(spec, task, place_);
    Dependency cause = is_device(spec.kind) ? launch_link(graph_, task).dependency() : Dependency();
    if (!is_device(spec.kind) || cause.source == no_point) return;
    cause.task = put;
    request_.editor.depend(cause);
    share(put, task);
  }

  void put_with_call(TaskId task, TaskId call, const TaskSpec& spec) {
    const Link launch = launch_link(graph_, task);
    Editor::NewPair pair{request_.editor.like(call), spec, launch.lag_ns,
                         is_end(launch.source) ? LatencyFrom::end : LatencyFrom::start};
    pair.call.duration_ns = ns_of(request_.values, call_param, graph_.duration_ns(call));
    pair.call.provenance = Provenance::assumed;
    share(request_.editor.insert(pair, place_ == Place::before ? call : task, place_).device, task);
  }

  /// Other streams see the two as one.
  void share(TaskId put, TaskId task) {
    if (place_ == Place::before) {
      request_.editor.share_waits(put, task);
    } else {
      request_.editor.share_waiting(put, task);
    }
  }

  Request& request_;
  const TaskGraph& graph_;
  Place place_;
  std::size_t count_ = 0;
};

/// What a group of a stream or thread is: selected tasks of one step.
std::vector<std::vector<TaskId>> groups_of(const Request& request, std::string_view grouping) {
  const TaskGraph& graph = request.graph;
  std::vector<std::vector<TaskId>> groups;
  std::map<std::pair<LaneId, std::int32_t>, std::size_t> group_of;
  for (const TaskId task : request.tasks) {
    const auto key = std::pair(graph.lane_id(task), graph.step(task));
    const auto [at, is_new] = group_of.try_emplace(key, groups.size());
    const bool goes_on =
        !is_new && grouping != "each" &&
        (grouping == "step" || previous_on_lane(graph, task) == groups[at->second].back());
    if (!goes_on) {
      at->second = groups.size();
      groups.emplace_back();
    }
    groups[at->second].push_back(task);
  }
  return groups;
}

std::string_view grouping_of(const Request& request, std::string_view otherwise) {
  return request.values.given(group_param) ? std::string_view(request.values.text(group_param))
                                           : otherwise;
}

Status expect_device_work(const Request& request, std::string_view primitive) {
  for (const TaskId task : request.tasks) {
    if (is_device(request.graph.kind(task))) continue;
    return Error{ErrorCode::bad_usage,
                 fmt::format("'{}' applies to work of a device, got a task of kind {}; expected a "
                             "selection with 'resource=device'",
                             primitive, to_string(request.graph.kind(task)))};
  }
  return ok_status();
}

/// Groups as the editor can take each for one task; a task alone stays as it is.
std::vector<std::vector<TaskId>> pieces_of(const Request& request, std::string_view grouping) {
  std::vector<std::vector<TaskId>> pieces;
  for (std::vector<TaskId>& group : groups_of(request, grouping)) {
    if (group.size() == 1) {
      pieces.push_back(std::move(group));
      continue;
    }
    for (std::vector<TaskId>& piece : request.editor.cut(group)) {
      pieces.push_back(std::move(piece));
    }
  }
  return pieces;
}

}  // namespace

Result<std::string> insert(Request& request) { return Inserter(request).run(); }

Result<std::string> replace(Request& request) {
  FORETRACE_TRY(expect_device_work(request, replace_param.name));
  const ParamValues& values = request.values;
  Editor& editor = request.editor;
  const std::string& name = values.text(replace_param);
  const auto pieces = pieces_of(request, grouping_of(request, "each"));
  std::size_t tasks = 0;
  for (const std::vector<TaskId>& piece : pieces) {
    NewWork work;
    work.work = editor.add_work(name, kind_of(request, piece.front()));
    work.duration_ns = ns_of(values, duration_param, 0);
    work.trust.provenance = Provenance::assumed;
    work.gap_ns = ns_of(values, gap_param, request.graph.segment_ns(piece.front()));
    const TaskId call = own_call_of(request.graph, piece.front());
    if (call != none<TaskId>) {
      const Link launch = launch_link(request.graph, piece.front());
      work.call = {request.graph.work_id(call),
                   ns_of(values, call_param, request.graph.duration_ns(call)),
                   0,
                   launch.lag_ns,
                   is_end(launch.source) ? LatencyFrom::end : LatencyFrom::start,
                   Provenance::assumed};
    }
    FORETRACE_TRY(editor.replace(piece, {&work, 1}));
    tasks += piece.size();
  }
  if (pieces.empty()) {
    return Error{ErrorCode::no_match, "none of the selected tasks can be replaced"};
  }
  return fmt::format("{} tasks become {} tasks '{}' of {}", tasks, pieces.size(), name,
                     quantity_text(values.number(duration_param), ParamType::time));
}

Result<std::string> split(Request& request) {
  const ParamValues& values = request.values;
  SplitOptions options;
  options.parts = static_cast<std::size_t>(values.integer(split_param));
  options.gap_ns = ns_of(values, gap_param, 0);
  if (values.given(call_param)) options.launch = SplitLaunch{ns_of(values, call_param, 0), 0};
  for (const TaskId task : request.tasks) {
    FORETRACE_TRY(request.editor.split(task, options));
  }
  return fmt::format("{} tasks become {} parts each", request.tasks.size(), options.parts);
}

Result<std::string> merge(Request& request) {
  FORETRACE_TRY(expect_device_work(request, merge_param.name));
  MergeOptions options;
  options.duration_ns = ns_of(request.values, duration_param, -1);
  options.trust.provenance = Provenance::assumed;
  std::size_t tasks = 0;
  std::size_t groups = 0;
  for (const auto& piece : pieces_of(request, grouping_of(request, "neighbours"))) {
    if (piece.size() < 2) continue;
    FORETRACE_TRY(request.editor.merge(piece, options));
    tasks += piece.size();
    ++groups;
  }
  if (groups == 0) {
    return Error{ErrorCode::no_match,
                 "no two selected tasks can become one: they stand alone, or a wait lies between "
                 "them (group=step also merges tasks that are apart)"};
  }
  return fmt::format("{} tasks become {}", tasks, groups);
}

Result<std::string> replicate(Request& request) {
  const ParamValues& values = request.values;
  const std::string& text = values.text(onto_param);
  const Onto onto = !values.given(onto_param) || text == "same_lanes" ? Onto::same_lanes
                    : text == "new_lanes"                             ? Onto::new_lanes
                                                                      : Onto::new_ranks;
  const auto times = static_cast<std::size_t>(values.integer(replicate_param));
  FORETRACE_TRY(const Copies copies, request.editor.replicate(request.tasks, times - 1, onto));
  return fmt::format("{} tasks run {} times each", request.tasks.size(), times);
}

}  // namespace foretrace::edits
