// Where every task goes: insertions and reorderings hang on their anchors like leaves on a tree,
// and a walk of the tree in program order gives the new order.
#include <algorithm>
#include <utility>

#include "sim/graph/commit/commit_parts.h"

namespace foretrace::committing {

namespace {

/// A task that stands before or after another one; several at one place keep the change's order.
struct Attachment {
  TaskId anchor{};
  Place place = Place::after;
  TaskId task{};
};

std::vector<Attachment> attachments(const TaskGraph& graph, const Change& change) {
  std::vector<Attachment> result;
  result.reserve(change.inserted.size() + change.reordered.size());
  for (std::size_t i = 0; i < change.inserted.size(); ++i) {
    const Insertion& insertion = change.inserted[i];
    result.push_back({insertion.anchor, insertion.place, make_id<TaskId>(graph.size() + i)});
  }
  for (const Reordering& r : change.reordered) result.push_back({r.anchor, r.place, r.task});
  std::stable_sort(result.begin(), result.end(), [](const Attachment& a, const Attachment& b) {
    return std::pair{a.anchor, a.place} < std::pair{b.anchor, b.place};
  });
  return result;
}

class Walk {
 public:
  Walk(const TaskGraph& graph, const Change& change, Placement& placement)
      : placement_(placement), attached_(attachments(graph, change)) {
    const std::size_t known = graph.size() + change.inserted.size();
    first_.assign(known, 0);
    leaf_.assign(known, false);
    for (std::size_t i = attached_.size(); i > 0; --i) {
      first_[index(attached_[i - 1].anchor)] = static_cast<std::uint32_t>(i);
      leaf_[index(attached_[i - 1].task)] = true;
    }
    placement.new_id.assign(known, none<TaskId>);
    placement.position.resize(known);
    placement.sequence.reserve(known);
    placement.order.reserve(known);
  }

  void run(std::size_t tasks) {
    for (std::size_t t = 0; t < tasks; ++t) {
      const auto task = make_id<TaskId>(t);
      if (leaf_[t]) {
        old_places_.emplace_back(task, make_id<TaskId>(placement_.order.size()));
      } else {
        visit(task);
      }
    }
    // A position in program order is a place, which stays when its task goes elsewhere.
    for (const auto& [task, position] : old_places_) placement_.position[index(task)] = position;
  }

 private:
  struct Open {
    TaskId task{};
    std::uint32_t next = 0;
    bool written = false;
  };

  void write(TaskId task) {
    placement_.sequence.push_back(task);
    placement_.position[index(task)] = make_id<TaskId>(placement_.order.size());
    if (placement_.removed(task)) return;
    placement_.new_id[index(task)] = make_id<TaskId>(placement_.order.size());
    placement_.order.push_back(task);
  }

  void visit(TaskId root) {
    if (first_[index(root)] == 0) return write(root);
    open_.push_back({root, first_[index(root)] - 1, false});
    while (!open_.empty()) {
      Open& top = open_.back();
      const bool more = top.next < attached_.size() && attached_[top.next].anchor == top.task;
      if (!top.written && (!more || attached_[top.next].place == Place::after)) {
        top.written = true;
        write(top.task);
      }
      if (!more) {
        open_.pop_back();
        continue;
      }
      const TaskId leaf = attached_[top.next++].task;
      const std::uint32_t first = first_[index(leaf)];
      if (first == 0) {
        write(leaf);
      } else {
        open_.push_back({leaf, first - 1, false});
      }
    }
  }

  Placement& placement_;
  std::vector<Attachment> attached_;
  std::vector<std::uint32_t> first_;  // per task: 1 + its first attachment; 0: none
  std::vector<bool> leaf_;            // per task: it hangs on another one
  std::vector<Open> open_;
  std::vector<std::pair<TaskId, TaskId>> old_places_;
};

}  // namespace

Result<Placement> place(const TaskGraph& graph, const Change& change, std::vector<Fate> fate) {
  Placement placement;
  placement.fate = std::move(fate);
  Walk(graph, change, placement).run(graph.size());
  if (placement.sequence.size() != placement.new_id.size()) {
    return Error{ErrorCode::bad_usage, "reordering: the anchors of some tasks form a circle"};
  }
  if (placement.any_removed()) {
    placement.ghost.resize(graph.size());
    std::uint32_t ghosts = 0;
    for (std::size_t t = 0; t < graph.size(); ++t) {
      placement.ghost[t] = ghosts;
      if (placement.fate[t] != Fate::kept) ++ghosts;
    }
  }
  return placement;
}

}  // namespace foretrace::committing
