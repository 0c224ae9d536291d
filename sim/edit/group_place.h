// Where a group of tasks can become one task, so that both laws of edits hold.
#pragma once

#include <cstddef>
#include <functional>
#include <queue>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/edit/editor.h"
#include "sim/graph/links.h"

namespace foretrace {

/// Looks for a place in program order with everything that any member waited for before it and
/// everything that waited for any member after it. As all edits keep to such places, no sequence of
/// them makes a cycle. Members come one by one, in id order.
class GroupPlace {
 public:
  /// Device work with the calls that enqueue it, or tasks of a host thread.
  enum class Of : std::uint8_t { device, host };

  GroupPlace(const Editor& editor, Of of) : editor_(editor), graph_(editor.graph()), of_(of) {}

  /// False if the members so far and this one cannot become one; reason() says why, and the object
  /// is of no more use.
  [[nodiscard]] bool add(TaskId member);
  [[nodiscard]] std::string_view reason() const { return reason_; }

  /// Empty for host tasks.
  [[nodiscard]] const std::vector<TaskId>& members() const { return members_; }
  /// Of every member; empty if the members have no calls of their own.
  [[nodiscard]] const std::vector<TaskId>& calls() const { return calls_; }
  /// Other work between members on their lane, whose waits a later member inherits.
  [[nodiscard]] const std::vector<TaskId>& between() const { return between_; }
  /// Index of the member at whose place the group can become one.
  [[nodiscard]] std::size_t slot(Stands stands) const;

 private:
  using Position = Editor::Position;
  /// What has to come before the place, and what after it.
  struct Bounds {
    Position after = 0;
    Position before = ~Position{0};
    /// Tasks that wait for a member, by position; they count once the place could be behind them.
    std::priority_queue<std::pair<Position, TaskId>, std::vector<std::pair<Position, TaskId>>,
                        std::greater<>>
        waiting = {};
  };

  [[nodiscard]] bool refuse(std::string_view reason) {
    reason_ = reason;
    return false;
  }
  bool add_device(TaskId member);
  bool add_call(TaskId call);
  bool pass_stream(TaskId member);
  bool pass_thread(TaskId call);
  void come_after_sources(TaskId task, Bounds& bounds, bool launches);
  void come_before_dependents(TaskId task, Bounds& bounds);
  static void close(const std::vector<TaskId>& group, Position place, Bounds& bounds);
  bool find_slot();
  [[nodiscard]] bool fits(std::size_t slot) const;
  [[nodiscard]] bool is_member(TaskId task) const;
  [[nodiscard]] TaskId own_call(TaskId member) const;

  const Editor& editor_;
  const TaskGraph& graph_;
  Of of_;
  std::vector<TaskId> members_;
  std::vector<TaskId> calls_;
  std::vector<TaskId> between_;
  Bounds device_;
  Bounds host_;
  std::size_t first_slot_ = 0;
  std::string_view reason_;
};

/// The place of a whole group. Errors: no tasks, or why they cannot become one.
[[nodiscard]] Result<GroupPlace> find_place(const Editor& editor, std::span<const TaskId> group,
                                            GroupPlace::Of of);

}  // namespace foretrace
