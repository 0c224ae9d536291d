#include "models/whatifs/edits/edit_order.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/whatifs/edit_params.h"
#include "sim/edit/selection.h"
#include "sim/graph/links.h"

namespace foretrace::edits {
namespace {

/// Halves of an operation go together.
void add_other_halves(const TaskGraph& graph, std::vector<TaskId>& tasks) {
  for (std::size_t i = 0, count = tasks.size(); i < count; ++i) {
    const TaskId half = other_half(graph, tasks[i]);
    if (half != none<TaskId>) tasks.push_back(half);
  }
  std::sort(tasks.begin(), tasks.end());
  tasks.erase(std::unique(tasks.begin(), tasks.end()), tasks.end());
}

bool share_a_place(const Lane& a, const Lane& b) {
  return a.kind == b.kind && a.rank == b.rank && a.device == b.device;
}

/// Lanes that tasks of a lane move to.
class Targets {
 public:
  Targets(Request& request, const std::string& text)
      : request_(request), lanes_(request.graph.context().lanes), text_(text) {}

  Result<LaneId> of(LaneId lane) {
    const auto [at, is_new] = found_.try_emplace(lane, none<LaneId>);
    if (is_new) {
      FORETRACE_TRY(at->second, text_ == "new" ? add(lane) : find(lane));
    }
    return at->second;
  }

 private:
  Result<LaneId> add(LaneId from) {
    Lane lane = lanes_[index(from)];
    for (const Lane& other : lanes_) {
      if (share_a_place(other, lane)) lane.number = std::max(lane.number, other.number);
    }
    // Several lanes of a place get one each.
    lane.number += ++added_;
    lane.name = fmt::format("new {}", lane.number);
    return request_.editor.add_lane(std::move(lane));
  }

  [[nodiscard]] Result<LaneId> find(LaneId from) const {
    const Lane& own = lanes_[index(from)];
    std::int64_t number = 0;
    const char* const end = text_.data() + text_.size();
    const auto [stop, failure] = std::from_chars(text_.data(), end, number);
    const bool is_number = failure == std::errc{} && stop == end;
    std::set<std::int64_t> numbers;
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
      if (!share_a_place(lanes_[i], own)) continue;
      if (is_number && lanes_[i].number == number) return make_id<LaneId>(i);
      numbers.insert(lanes_[i].number);
    }
    return Error{ErrorCode::bad_usage,
                 fmt::format("'move': got {}, expected new or one of {}, the {} of rank {}",
                             in_quotes(text_), fmt::join(numbers, ", "),
                             own.device == no_device ? "threads" : "streams", own.rank)};
  }

  Request& request_;
  const std::vector<Lane>& lanes_;
  const std::string& text_;
  std::map<LaneId, LaneId> found_;
  std::int64_t added_ = 0;
};

/// A step of a rank.
using StepOfRank = std::pair<std::int32_t, std::int32_t>;
StepOfRank step_of(const TaskGraph& graph, TaskId task) {
  return {graph.lane(task).rank, graph.step(task)};
}

Result<std::string> put_beside(Request& request, std::string_view anchors, Place place) {
  const TaskGraph& graph = request.graph;
  FORETRACE_TRY(const std::vector<TaskId> found, select(graph, anchors));
  std::map<StepOfRank, TaskId> anchor_of;
  for (const TaskId task : found) {
    const auto [at, is_new] = anchor_of.try_emplace(step_of(graph, task), task);
    if (!is_new && place == Place::after) at->second = task;
  }
  std::map<StepOfRank, std::vector<TaskId>> moved;
  std::size_t count = 0;
  add_other_halves(graph, request.tasks);
  for (const TaskId task : request.tasks) {
    const auto anchor = anchor_of.find(step_of(graph, task));
    if (anchor == anchor_of.end() || anchor->second == task) continue;
    moved[anchor->first].push_back(task);
    ++count;
  }
  if (count == 0) {
    return Error{ErrorCode::no_match,
                 fmt::format("no step of a selected task has a task that {} matches, other than "
                             "itself",
                             in_quotes(anchors))};
  }
  for (const auto& [step, tasks] : moved) {
    request.editor.reorder(tasks, anchor_of.at(step), place);
  }
  return fmt::format("{} tasks in {} steps moved {} {}", count, moved.size(),
                     place == Place::before ? "before" : "behind", in_quotes(anchors));
}

/// The selected tasks of each stream or thread and step, by the first selection that means them.
Result<std::string> put_in_order(Request& request, const std::vector<std::string_view>& listed) {
  const TaskGraph& graph = request.graph;
  std::vector<std::size_t> turn(graph.size(), listed.size());
  for (std::size_t i = listed.size(); i-- > 0;) {
    FORETRACE_TRY(const std::vector<TaskId> found, select(graph, listed[i]));
    for (const TaskId task : found) turn[index(task)] = i;
  }
  std::map<std::pair<LaneId, std::int32_t>, std::vector<TaskId>> groups;
  add_other_halves(graph, request.tasks);
  for (const TaskId task : request.tasks) {
    groups[{graph.lane_id(task), graph.step(task)}].push_back(task);
  }
  for (auto& [key, tasks] : groups) {
    std::stable_sort(tasks.begin(), tasks.end(),
                     [&](TaskId a, TaskId b) { return turn[index(a)] < turn[index(b)]; });
    request.editor.set_order(tasks);
  }
  return fmt::format("{} tasks follow each other as listed, in {} streams or threads of a step",
                     request.tasks.size(), groups.size());
}

}  // namespace

Result<std::string> move(Request& request) {
  add_other_halves(request.graph, request.tasks);
  Targets targets(request, request.values.text(move_param));
  std::map<LaneId, std::vector<TaskId>> moved;
  for (const TaskId task : request.tasks) {
    FORETRACE_TRY(const LaneId lane, targets.of(request.graph.lane_id(task)));
    if (lane != request.graph.lane_id(task)) moved[lane].push_back(task);
  }
  std::size_t count = 0;
  for (const auto& [lane, tasks] : moved) {
    request.editor.move(tasks, lane);
    count += tasks.size();
  }
  return fmt::format("{} tasks run on {} others", count, moved.size());
}

Result<std::string> reorder(Request& request) {
  const ParamValues& values = request.values;
  const std::vector<std::string_view> listed = selections_in(values.text(reorder_param));
  if (listed.size() > 1) return put_in_order(request, listed);
  const bool before = values.given(place_param) && values.text(place_param) == "before";
  return put_beside(request, listed.front(), before ? Place::before : Place::after);
}

Result<std::string> prioritize(Request& request) {
  const auto priority = static_cast<std::int32_t>(request.values.integer(prioritize_param));
  request.editor.prioritize(request.tasks, priority);
  std::set<LaneId> lanes;
  for (const TaskId task : request.tasks) lanes.insert(request.graph.lane_id(task));
  for (const LaneId lane : lanes) request.editor.set_policy(lane, LanePolicy::priority);
  return fmt::format("{} tasks on {} streams or threads have priority {}", request.tasks.size(),
                     lanes.size(), priority);
}

}  // namespace foretrace::edits
