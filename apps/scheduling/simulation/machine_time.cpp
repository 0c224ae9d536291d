// How time passes: progress, arrivals, outages, and the decisions of the policy.
#include <algorithm>
#include <utility>

#include "apps/scheduling/simulation/machine.h"
#include "apps/scheduling/simulation/progress.h"
#include "sim/core/units.h"

namespace foretrace::scheduling {

std::int64_t Machine::next_arrival_ns() const {
  if (!due_.empty()) return now_ns_;
  if (arrived_ == setup_.workload->jobs.size()) return never_ns;
  return setup_.workload->jobs[make_id<JobId>(arrived_)].arrival_ns;
}

std::int64_t Machine::next_end_ns() const {
  std::int64_t next = never_ns;
  for (const JobId job : active_) {
    if (states_[job].status != JobStatus::running) continue;
    next = std::min(next,
                    end_of(setup_.workload->jobs[job], states_[job], options_->phase_quantum_ns));
  }
  return next;
}

std::int64_t Machine::next_node_change_ns() const { return node_changes_.next_ns(); }

std::int64_t Machine::settled_until_ns() const {
  if (!is_settled_ || !setup_.policy->settles()) return now_ns_;
  return std::min(
      {next_arrival_ns(), next_node_change_ns(), setup_.policy->next_decision_ns(view())});
}

bool Machine::is_done() const { return until_left_ == 0; }

void Machine::count_active(std::int64_t to_ns) {
  active_time_s_ += seconds(to_ns - counted_ns_) * static_cast<double>(active_.size());
  counted_ns_ = to_ns;
}

void Machine::add_node_times(double passed_s) {
  const NodesUsed& used = occupancy_.used();
  NodeTimes& times = outcome_.nodes;
  times.used_s += passed_s * static_cast<double>(used.nodes);
  times.cpu_s += passed_s * static_cast<double>(used.cpu_milli) * 1e-3;
  times.held_cpu_s += passed_s * static_cast<double>(used.held_cpu_milli) * 1e-3;
  times.memory_mib_s += passed_s * static_cast<double>(used.memory_mib);
  times.held_memory_mib_s += passed_s * static_cast<double>(used.held_memory_mib);
}

void Machine::hold_until(std::int64_t to_ns) {
  const double passed_s = seconds(to_ns - now_ns_);
  for (std::size_t i = 0; i < capacity_.size(); ++i) {
    const auto kind = make_id<KindId>(i);
    outcome_.up_s[kind] += passed_s * capacity_[kind];
  }
  add_node_times(passed_s);
  for (const JobId job : active_) {
    JobState& state = states_[job];
    if (state.status != JobStatus::running) continue;
    const std::int64_t held_ns = to_ns - state.updated_ns;
    const double held_s = seconds(held_ns) * state.grant.gpus;
    state.executed_ns += held_ns;
    state.accelerator_ns += static_cast<double>(held_ns) * state.grant.gpus;
    state.cost += setup_.cluster->kinds[state.grant.kind].price_per_hour * held_s / 3600;
    if (state.grant.job == job) outcome_.held_s[state.grant.kind] += held_s;
    state.updated_ns = to_ns;
  }
  now_ns_ = to_ns;
}

void Machine::advance(std::int64_t to_ns) {
  for (const JobId job : active_) {
    JobState& state = states_[job];
    if (state.status != JobStatus::running || state.end_ns >= 0) continue;
    const auto ended =
        progress(setup_.workload->jobs[job], state, to_ns, options_->phase_quantum_ns);
    if (ended) end(job, *ended);
  }
  hold_until(to_ns);
}

void Machine::admit_arrivals() {
  for (const JobId job : std::exchange(due_, {})) admit(job, now_ns_);
  while (next_arrival_ns() <= now_ns_) {
    const auto job = make_id<JobId>(arrived_++);
    const Job& submitted = setup_.workload->jobs[job];
    const auto after = static_cast<std::size_t>(std::max(0, submitted.after));
    if (submitted.after >= 0 && groups_[after].jobs > 0) {
      groups_[after].held.push_back(job);
    } else {
      admit(job, submitted.arrival_ns);
    }
  }
}

void Machine::admit(JobId job, std::int64_t came_ns) {
  idle_steps_ = 0;
  ++moves_;
  count_active(now_ns_);
  JobState& state = states_[job];
  state.status = JobStatus::waiting;
  state.came_ns = state.waiting_since_ns = came_ns;
  active_time_at_arrival_s_[index(job)] = active_time_s_;
  active_.insert(std::lower_bound(active_.begin(), active_.end(), job), job);
  log(EventKind::arrive, job);
  setup_.policy->on_arrival(view(), job);
}

void Machine::fail_jobs_on(NodeId node) {
  for (const JobId job : std::vector<JobId>(active_)) {
    JobState& state = states_[job];
    if (state.status != JobStatus::running) continue;
    const bool hit = std::any_of(state.slices.begin(), state.slices.end(),
                                 [node](const Slice& slice) { return slice.node == node; });
    if (!hit) continue;
    // Back to the last checkpoint; what was done since is done again.
    const std::int64_t since_ns = now_ns_ - state.held_since_ns - options_->restart_ns;
    if (options_->checkpoint_ns > 0 && since_ns > 0) {
      const double lost = state.rate * seconds(since_ns % options_->checkpoint_ns);
      set_left(setup_.workload->jobs[job], state,
               std::min(state.checkpoint_left, state.left + lost));
    }
    ++state.failures;
    stop(job, false);
  }
}

void Machine::change_nodes() {
  while (node_changes_.next_ns() <= now_ns_ && idle_steps_ <= options_->most_idle_steps) {
    ++idle_steps_;
    ++moves_;
    const NodeChange change = node_changes_.take();
    if (occupancy_.node(change.node).up == change.up) continue;
    if (!change.up) fail_jobs_on(change.node);
    occupancy_.set_up(change.node, change.up);
    log(change.up ? EventKind::node_up : EventKind::node_down, none<JobId>, change.node);
    for (std::size_t i = 0; i < capacity_.size(); ++i) {
      const auto kind = make_id<KindId>(i);
      free_[kind] += occupancy_.capacity(kind) - capacity_[kind];
      capacity_[kind] = occupancy_.capacity(kind);
    }
  }
}

Status Machine::apply(const Offer& offer) {
  std::vector<bool> stays(states_.size(), false);
  std::vector<Grant> fresh;
  for (const Grant& grant : offer.grants()) {
    const JobState& state = states_[grant.job];
    if (state.status == JobStatus::running && state.grant == grant) {
      stays[index(grant.job)] = true;
      if (grant.partner != none<JobId>) stays[index(grant.partner)] = true;
    } else {
      fresh.push_back(grant);
    }
  }
  for (const JobId job : active_) {
    if (states_[job].status == JobStatus::running && !stays[index(job)]) stop(job, true);
  }
  bool all_run = true;
  for (const Grant& grant : fresh) all_run &= start(grant);
  is_settled_ = all_run && moves_ == decided_after_;
  decided_after_ = moves_;
  return ok_status();
}

Status Machine::decide() {
  const View seen = view();
  Offer offer(seen, [this](const Grant& grant) {
    return states_[grant.job].status == JobStatus::running || start(grant);
  });
  ++outcome_.decisions;
  ++idle_steps_;
  FORETRACE_TRY(setup_.policy->decide(seen, offer));
  return apply(offer);
}

Outcome Machine::finish() {
  count_active(now_ns_);
  outcome_.end_ns = std::max(outcome_.end_ns, outcome_.begin_ns);
  const double span_s = seconds(std::max<std::int64_t>(1, now_ns_ - outcome_.begin_ns));
  outcome_.mean_active_jobs = active_time_s_ / span_s;
  outcome_.jobs = std::move(states_);
  return std::move(outcome_);
}

}  // namespace foretrace::scheduling
