// The cluster while a run goes on: who holds what, how far each job is, what happened when.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "apps/scheduling/model/occupancy.h"
#include "apps/scheduling/policies/offer.h"
#include "apps/scheduling/policies/view.h"
#include "apps/scheduling/simulation/node_changes.h"
#include "apps/scheduling/simulation/outcome.h"
#include "apps/scheduling/simulation/run.h"

namespace foretrace::scheduling {

class Machine {
 public:
  Machine(const RunSetup& setup, const RunOptions& options);

  [[nodiscard]] std::int64_t now_ns() const { return now_ns_; }
  [[nodiscard]] View view() const;
  [[nodiscard]] const JobState& state(JobId job) const { return states_[job]; }
  [[nodiscard]] const std::vector<JobId>& active() const { return active_; }
  [[nodiscard]] bool is_running() const { return running_ > 0; }
  [[nodiscard]] std::int64_t next_arrival_ns() const;
  /// When the next running job ends if nothing changes; never_ns if none runs.
  [[nodiscard]] std::int64_t next_end_ns() const;
  [[nodiscard]] std::int64_t next_node_change_ns() const;
  [[nodiscard]] bool is_done() const;
  /// Decisions and changes of nodes since a job came or ended.
  [[nodiscard]] std::int64_t idle_steps() const { return idle_steps_; }
  /// When the policy may next decide otherwise than it just did: the next event, not the end of a
  /// job; now, if that is not known.
  [[nodiscard]] std::int64_t settled_until_ns() const;
  /// Counts decisions that were not asked for because they are known.
  void count_decisions(std::int64_t count) { outcome_.decisions += count; }

  /// Brings every running job to this moment. Jobs that end on the way end at their own time, but
  /// hold what they have until release_ended().
  void advance(std::int64_t to_ns);
  /// The same without progress, for those who count steps themselves.
  void hold_until(std::int64_t to_ns);
  /// And those that waited for a group which is over.
  void admit_arrivals();
  void release_ended();
  void change_nodes();
  /// Stops who has no grant any more and starts who has a new one.
  Status apply(const Offer& offer);
  /// Asks the policy and applies what it says.
  Status decide();

  void drop(JobId job);
  Outcome finish();

 private:
  friend class Leases;  // moves jobs by whole rounds
  void admit(JobId job, std::int64_t came_ns);
  void leave_group(JobId job);
  bool start(const Grant& grant);
  bool place(const Grant& grant, std::vector<Slice>& slices);
  void start_one(JobId job, const Grant& grant, const std::vector<Slice>& slices);
  void stop(JobId job, bool preempted);
  void let_go(JobId job);
  void open_bar(const Grant& grant, const std::vector<Slice>& slices);
  void close_bar(JobId job);
  [[nodiscard]] bool is_whole(JobId job) const;
  void end(JobId job, std::int64_t at_ns);
  void fail_jobs_on(NodeId node);
  void log(EventKind kind, JobId job, NodeId node = none<NodeId>);
  [[nodiscard]] double rate_of(JobId job, const Grant& grant,
                               const std::vector<Slice>& slices) const;
  [[nodiscard]] Request request_for(const Grant& grant) const;
  void count_active(std::int64_t to_ns);
  void add_node_times(double passed_s);
  [[nodiscard]] double crowd_since_arrival(JobId job) const;

  RunSetup setup_;
  const RunOptions* options_;
  std::int64_t now_ns_ = 0;
  std::int64_t counted_ns_ = 0;
  double active_time_s_ = 0;
  Occupancy occupancy_;
  Column<KindId, std::int32_t> capacity_;
  Column<KindId, std::int32_t> free_;  ///< of whole accelerators, also where only numbers count
  Column<JobId, JobState> states_;
  std::vector<JobId> active_;
  std::vector<double> active_time_at_arrival_s_;
  std::vector<JobId> ended_;  ///< not released yet
  std::size_t arrived_ = 0;
  struct Group {
    std::size_t jobs = 0;     ///< that are not over
    std::vector<JobId> held;  ///< arrived, and wait for it
  };
  std::vector<Group> groups_;
  std::vector<JobId> due_;  ///< waited for a group that is over now
  std::size_t running_ = 0;
  std::int64_t idle_steps_ = 0;
  std::int64_t moves_ = 0;          ///< starts, stops, arrivals and changes of nodes so far
  std::int64_t decided_after_ = 0;  ///< of these, when the policy had last decided
  bool is_settled_ = false;  ///< it decided twice with none in between, and all it granted runs
  std::vector<bool> awaited_;
  std::size_t until_left_ = 0;
  std::vector<std::int64_t> bar_of_;  ///< index of the open bar of a job
  NodeChanges node_changes_;
  Outcome outcome_;
};

}  // namespace foretrace::scheduling
