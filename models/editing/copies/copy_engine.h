// Copies between device and host that a what-if adds: on streams of their own, one per direction.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "models/editing/kernels/kernel_editor.h"

namespace foretrace::editing {

class CopyEngine {
 public:
  /// `bandwidth` in B/s, each way, of pinned memory.
  CopyEngine(KernelEditor& editor, double bandwidth) : editor_(editor), bandwidth_(bandwidth) {}

  enum class Direction : std::uint8_t { to_host, to_device };
  /// A copy with its asynchronous call. The call stands before or after `anchor`, a host task or a
  /// kernel with a call of its own, on that thread.
  struct Request {
    Direction direction = Direction::to_host;
    double bytes = 0;
    TaskId anchor{};
    Place place = Place::after;
    TaskId after = none<TaskId>;  ///< the copy starts when this task has ended
    /// A task of the device that is meant, where neither the anchor nor `after` is on one.
    TaskId like = none<TaskId>;
  };
  /// The copy; none if the anchor has no thread.
  TaskId copy(const Request& request);
  /// `task` starts no earlier than the end of `copy`.
  void wait(TaskId task, TaskId copy);

  [[nodiscard]] std::int64_t copy_ns(double bytes) const;
  [[nodiscard]] double bytes(Direction direction) const {
    return bytes_[static_cast<std::size_t>(direction)];
  }

 private:
  LaneId lane(Direction direction, TaskId like);

  KernelEditor& editor_;
  double bandwidth_ = 0;
  double bytes_[2] = {0, 0};
  std::map<std::pair<Direction, std::pair<std::int32_t, std::int32_t>>, LaneId> lanes_;
  std::optional<LaunchTimes> usual_;
};

}  // namespace foretrace::editing
