// Writes what one stage of a spread run does, node by node: a node of computation is the visits of
// a layer as they were recorded, everything else goes over the network.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/hardware/collectives/collective_costs.h"
#include "models/jobs/program/graphs/rank_nodes.h"
#include "models/jobs/recordings/recorded_index.h"
#include "models/jobs/recordings/spread_program.h"
#include "models/jobs/recordings/stage_lanes.h"
#include "models/jobs/recordings/stage_tensors.h"

namespace foretrace {

/// What the stages have in common. References live longer than it.
struct SpreadParts {
  const editing::KernelEditor& editor;
  const SpreadOptions& options;
  const RecordedIndex& recorded;
  const std::vector<TaskId>& task_of_op;  ///< in the graph that was read
  LaneId compute{};                       ///< the stream of the first kernel
};

/// What a stage is, of one pass.
struct StageWork {
  const Job* job = nullptr;
  std::uint32_t pass = 0;
  double update_share = 1;      ///< of the recorded update
  std::int64_t loading_ns = 0;  ///< of a micro-batch, on the stage that loads
  std::vector<RankNode> nodes;
};

class StageWriter {
 public:
  StageWriter(const SpreadParts& parts, SpreadDraft& draft, std::uint32_t stage,
              const HeldShares& shares, std::set<std::uint32_t> layers);

  /// What comes next is of this pass.
  void begin(StageWork work);
  /// The node that comes next; null: the pass is written.
  [[nodiscard]] const RankNode* next() const;
  /// `sent`: what a receive waits for; else none.
  void add_next(TaskId sent = none<TaskId>);
  /// The task that sends, of the node that was added last.
  [[nodiscard]] TaskId last_sent() const { return ends_.back().front(); }
  /// Behind all passes: what belongs to none of them.
  void end();
  /// Steps of the recorded rank, which is stage 0.
  void add_steps();
  [[nodiscard]] std::int64_t transferred_ns() const { return transferred_ns_; }

 private:
  static constexpr std::uint32_t no_batch = StageTensors::no_batch;
  using Group = std::pair<PartRole, std::uint32_t>;  // what for, and the micro-batch

  void compute(const RankNode& node);
  void enter(const Group& group, const RankNode* node);
  void first_visits();
  TaskId move(std::string_view name, double bytes);
  void put_on(LaneId lane, TaskId task);
  void update(const RankNode& node);
  void end_pass();
  void network(const RankNode& node);
  void visits(const RecordedPart& part, std::uint32_t micro_batch);
  void visit(std::uint32_t number, std::uint32_t micro_batch);
  [[nodiscard]] TaskSpec spec_of(const RecordedVisit& about, std::uint32_t at);
  void add_op(const RecordedVisit& about, std::uint32_t at, std::uint32_t micro_batch);
  void follow(LaneId lane, TaskId task, const RecordedVisit& about);
  void link(const RecordedVisit& about, std::uint32_t micro_batch, TaskId first);
  void add_rows(const RecordedVisit& about, std::uint32_t micro_batch, TaskId first);
  [[nodiscard]] TaskId copy_of(TaskId op, std::uint32_t micro_batch) const;
  [[nodiscard]] Point copy_of(Point point, std::uint32_t micro_batch) const;
  void wait_for(TaskId task, LaneId lane, std::span<const TaskId> sources);
  [[nodiscard]] std::vector<TaskId> ends_before(const RankNode& node) const;
  TaskId communicate(std::string_view name, const std::string& stream, const CollectiveCall& call,
                     std::uint32_t members);
  TaskId launched(const TaskSpec& device, std::string_view name, std::int64_t host_ns,
                  const Trust& trust);

  const SpreadParts& parts_;
  const RecordedProgram& program_;
  SpreadDraft& draft_;
  GraphBuilder& builder_;
  std::uint32_t stage_;
  StageLanes lanes_;
  StageTensors tensors_;
  StageWork work_;
  std::vector<std::vector<TaskId>> ends_;  // per node that was added
  Group group_{PartRole::other, no_batch};
  TaskId group_begin_ = none<TaskId>;    // its first host task
  bool begins_ = false;                  // no host task of the group is written
  bool leads_ = false;                   // nor a launch
  bool is_updated_ = true;               // the update of the pass is written
  std::vector<TaskId> carried_;          // what the pass before ended with
  std::vector<TaskId> gates_;            // what streams wait for before they go on
  std::map<LaneId, std::size_t> gated_;  // by stream: how many of them it waits for
  std::map<LaneId, TaskId> last_on_;     // by stream
  LaneId thread_ = none<LaneId>;         // of the last host task
  TaskId last_call_ = none<TaskId>;      // the last host task
  LaneId compute_ = none<LaneId>;
  std::map<std::pair<std::uint32_t, std::uint32_t>, TaskId> copies_;  // micro-batch and visit
  std::map<std::uint32_t, TaskId> latest_;                            // first task, by visit
  std::map<std::uint32_t, TaskId> first_;                             // of its first copy
  std::map<std::string, std::uint32_t> communicators_;
  std::int64_t transferred_ns_ = 0;
};

}  // namespace foretrace
