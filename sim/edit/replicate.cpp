// Copies of a part of a graph.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "sim/edit/carried_links.h"
#include "sim/edit/editor.h"
#include "sim/graph/links.h"

namespace foretrace {

namespace {

class Replicator {
 public:
  Replicator(Editor& editor, std::vector<TaskId> tasks, Onto onto)
      : editor_(editor),
        graph_(editor.graph()),
        waits_(editor.graph().context().waits),
        tasks_(std::move(tasks)),
        onto_(onto),
        anchor_(tasks_.back()) {
    for (const Lane& lane : graph_.context().lanes) {
      first_rank_ = std::min(first_rank_, lane.rank);
      last_rank_ = std::max(last_rank_, lane.rank);
    }
  }

  void copy(std::size_t number, Copies& copies) {
    copy_.assign(graph_.size(), none<TaskId>);
    lanes_.clear();
    // New ranks lie behind the old ones, copy by copy.
    rank_shift_ = onto_ == Onto::new_ranks
                      ? static_cast<std::int32_t>(number + 1) * (last_rank_ - first_rank_ + 1)
                      : 0;
    std::vector<TaskId> ids;
    for (const TaskId task : tasks_) {
      TaskSpec spec = editor_.like(task);
      spec.segment_ns = graph_.segment_ns(task);
      spec.lane = lane(spec.lane, number);
      // Copies on lanes of their own stand beside the originals, so that ids stay near time order.
      const TaskId anchor = onto_ == Onto::same_lanes ? anchor_ : task;
      ids.push_back(editor_.insert(spec, anchor));
      copy_[index(task)] = ids.back();
      if (onto_ != Onto::new_ranks) editor_.repeat(ids.back(), task);
      if (onto_ == Onto::same_lanes) anchor_ = ids.back();
    }
    for (const TaskId task : tasks_) connect(task);
    copies.tasks.push_back(std::move(ids));
    copies.new_lane.push_back(lanes_);
  }

 private:
  LaneId lane(LaneId old, std::size_t number) {
    if (onto_ == Onto::same_lanes) return old;
    const auto found = lanes_.find(old);
    if (found != lanes_.end()) return found->second;
    Lane lane = graph_.context().lanes[index(old)];
    lane.rank += rank_shift_;
    if (onto_ == Onto::new_lanes) lane.name += fmt::format(" (copy {})", number + 1);
    const LaneId id = editor_.add_lane(std::move(lane));
    lanes_.emplace(old, id);
    return id;
  }

  [[nodiscard]] TaskId copy_of(TaskId task) const {
    return index(task) < graph_.size() ? copy_[index(task)] : none<TaskId>;
  }

  /// Outside of the copied part copies see what the originals see; new ranks see nothing.
  bool moves(Point& point) const {
    const TaskId copy = copy_of(task_of(point));
    if (copy == none<TaskId>) return onto_ != Onto::new_ranks;
    point = is_end(point) ? end_of(copy) : start_of(copy);
    return true;
  }

  bool adapts(Wait& wait) const {
    if (const TaskId copy = copy_of(wait.at); copy != none<TaskId>) wait.at = copy;
    wait.rank += rank_shift_;
    if (wait.lane == none<LaneId>) return true;
    const auto found = lanes_.find(wait.lane);
    if (found != lanes_.end()) wait.lane = found->second;
    // A stream of which a copy on a new rank has nothing.
    return found != lanes_.end() || onto_ != Onto::new_ranks;
  }

  void connect(TaskId task) {
    carry_links(editor_, waits_, task, copy_[index(task)],
                {.moves = [this](Point& point) { return moves(point); },
                 .carries = [](DependencyKind) { return true; },
                 .adapts = [this](Wait& wait) { return adapts(wait); }});
  }

  Editor& editor_;
  const TaskGraph& graph_;
  WaitIndex waits_;
  std::vector<TaskId> tasks_;
  Onto onto_;
  TaskId anchor_{};  // what the next copy on the same lanes follows
  std::int32_t first_rank_ = 0;
  std::int32_t last_rank_ = 0;
  std::int32_t rank_shift_ = 0;
  std::vector<TaskId> copy_;  // per task of the graph, of the copy at hand
  std::map<LaneId, LaneId> lanes_;
};

}  // namespace

Result<Copies> Editor::replicate(std::span<const TaskId> tasks, std::size_t copies, Onto onto) {
  Copies result;
  std::vector<TaskId> sorted(tasks.begin(), tasks.end());
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  if (sorted.empty() || copies == 0) return result;
  if (index(sorted.back()) >= graph_.size()) {
    return Error{ErrorCode::bad_usage,
                 fmt::format("replicate: task {} does not exist, got {} tasks",
                             index(sorted.back()), graph_.size())};
  }
  Replicator replicator(*this, std::move(sorted), onto);
  for (std::size_t i = 0; i < copies; ++i) replicator.copy(i, result);
  return result;
}

}  // namespace foretrace
