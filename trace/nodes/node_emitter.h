// The nodes of one rank as tasks of a graph that is being built: the only one, or one of a job.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "sim/graph/graph_builder.h"
#include "trace/graph/built_graph.h"
#include "trace/nodes/node_cost.h"
#include "trace/table/events.h"
#include "trace/table/node_graph.h"

namespace foretrace::trace {

/// True for nodes whose work a device does.
[[nodiscard]] bool on_device(const NodeGraph& nodes, NodeId node);

/// Communication of a rank with ranks that are here too.
struct NodeMeeting {
  NodeId node{};
  std::uint32_t lane = 0;  ///< of the rank, where no stream is recorded: equal ones keep order
  bool arrives = true;     ///< two tasks: it is there, and it communicates
  CollectiveKind kind = CollectiveKind::none;
  std::int64_t bytes = -1;
  std::uint32_t communicator = no_communicator;
  std::int64_t duration_ns = 0;
  Provenance provenance = Provenance::assumed;
  TaskId arrival{};  ///< set by the emitter; the task itself if it does not arrive
  TaskId task{};     ///< the same
};

class NodeEmitter {
 public:
  /// `meetings`: sorted by node. Steps of the rank follow those that the builder has.
  NodeEmitter(const EventTable& events, const NodeGraph& nodes, NodeTimes times,
              GraphBuilder& builder, std::int32_t rank);

  void emit(const std::vector<NodeId>& order, std::vector<NodeMeeting>& meetings);

  /// One task per node on the lane of its thread or stream, dependencies as recorded.
  [[nodiscard]] const std::vector<TaskId>& tasks() const { return task_of_; }
  [[nodiscard]] const std::vector<MeasuredStep>& measured() const { return measured_; }
  [[nodiscard]] const NodeTimes& times() const { return times_; }
  [[nodiscard]] std::int64_t origin_ns() const { return origin_; }

 private:
  NameId name(NameId id);
  void find_origin();
  [[nodiscard]] std::int64_t stream_of(NodeId node, const NodeMeeting* meeting) const;
  LaneId lane_of(NodeId node, const NodeMeeting* meeting);
  [[nodiscard]] TaskKind kind_of(NodeId node) const;
  void add(NodeId node, NodeMeeting* meeting);
  TaskId put(const TaskSpec& task);
  void describe_communication(NodeId node, Work& work);
  std::uint32_t communicator_of(const NodeCommunication& row);
  TaskId last_of_lane(LaneId lane, TaskId task);
  void add_edges(NodeId node);
  void add_timing(const NodeTiming& timing);
  void collect_steps();
  void set_steps();
  void add_steps();

  const EventTable& events_;
  const NodeGraph& nodes_;
  NodeTimes times_;
  GraphBuilder& builder_;
  std::int32_t rank_;
  std::size_t first_task_;  // of the rank
  std::int32_t first_step_;
  std::map<std::pair<bool, std::int64_t>, LaneId> lanes_{};
  std::vector<TaskId> entry_of_;    // by node: what waits for others
  std::vector<TaskId> task_of_;     // by node: what others wait for
  std::vector<TaskId> last_{};      // by lane
  std::vector<TaskId> previous_{};  // by task of the rank: the one before it on its lane
  std::vector<NameId> names_;
  std::map<NameId, std::uint32_t> communicators_{};  // by name of the group
  std::vector<MeasuredStep> measured_{};
  std::vector<std::int32_t> step_{};                           // by node
  std::map<std::int64_t, std::pair<NodeId, NodeId>> marks_{};  // by number of the step
  std::map<NodeId, std::int64_t> delays_{};
  std::int64_t origin_ = 0;
};

}  // namespace foretrace::trace
