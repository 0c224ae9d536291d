// Collectives and copies that a spread run has and its recording has not: put on streams of their
// own, called by the thread that launches what stands beside them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>

#include "models/editing/kernels/kernel_editor.h"
#include "models/hardware/networks/cluster.h"
#include "models/hardware/networks/placement.h"

namespace foretrace::editing {

/// One collective of a group.
struct NetworkTransfer {
  CollectiveKind kind = CollectiveKind::all_reduce;
  double bytes = 0;  ///< as CollectiveCall counts them
  GridAxis group;
  std::string_view stream;  ///< name of the stream: one per communicator, which keeps order
  std::string_view name;
};

/// Where a transfer is put that stands beside nothing recorded.
struct TransferPlace {
  TaskId like{};                 ///< a recorded kernel: step, phase and layer of its kind
  TaskId before_call{};          ///< in program order
  Lane compute;                  ///< whose streams lie beside this one
  LaneId thread = none<LaneId>;  ///< that calls it; none: nobody does
  std::int32_t step = -1;
};

/// Host time of the framework before the call of a collective.
[[nodiscard]] std::int64_t collective_host_ns(const KernelEditor& editor);
/// Median host time of the framework before a launch: what an operator costs on this host.
[[nodiscard]] std::int64_t usual_host_ns(const KernelEditor& editor);

class NetworkCalls {
 public:
  NetworkCalls(KernelEditor& editor, const Cluster& cluster);

  /// Put after the recorded kernel `anchor`, or before it. Waits for nothing yet.
  TaskId communicate(TaskId anchor, Place place, const NetworkTransfer& transfer);
  TaskId put(const NetworkTransfer& transfer, const TransferPlace& place);
  /// A kernel beside `anchor` that moves bytes.
  Result<TaskId> move_bytes(TaskId anchor, Place place, double bytes, std::string_view name);
  /// What follows the recorded kernel on its stream or waits for it waits for the transfer.
  void next_waits(TaskId kernel, TaskId transfer);
  void wait(TaskId task, TaskId source) {
    editor_.edit().depend(task, source, DependencyKind::event_wait);
  }

  /// Of all transfers so far.
  [[nodiscard]] std::int64_t transferred_ns() const { return transferred_ns_; }

 private:
  struct Anchor {
    TaskId task{};
    Place place = Place::after;
    LaneId thread = none<LaneId>;
  };
  /// A group of ranks, and the stream on which one of them calls it.
  struct Channel {
    LaneId lane{};
    std::uint32_t communicator = no_communicator;
  };
  TaskId insert(const NetworkTransfer& transfer, const Channel& channel, TaskSpec device,
                const Anchor& anchor);
  Channel channel_of(const Lane& compute, const NetworkTransfer& transfer);

  KernelEditor& editor_;
  const TaskGraph& graph_;
  const Cluster& cluster_;
  LaunchTimes usual_;
  std::int64_t host_ns_ = 0;  ///< of the framework before a usual launch
  std::map<std::tuple<std::int32_t, std::int32_t, std::string>, Channel> channels_;
  std::int64_t last_number_ = 0;  ///< of streams
  std::int64_t transferred_ns_ = 0;
};

}  // namespace foretrace::editing
