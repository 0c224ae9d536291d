// Who holds what: starts, stops and ends of jobs, and what is written down about them.
#include "apps/scheduling/simulation/machine.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace foretrace::scheduling {

std::string_view to_string(EventKind kind) {
  switch (kind) {
    case EventKind::arrive: return "arrive";
    case EventKind::start: return "start";
    case EventKind::stop: return "stop";
    case EventKind::finish: return "finish";
    case EventKind::drop: return "drop";
    case EventKind::fail: return "fail";
    case EventKind::node_down: return "node_down";
    case EventKind::node_up: return "node_up";
  }
  return "?";
}

Machine::Machine(const RunSetup& setup, const RunOptions& options)
    : setup_(setup),
      options_(&options),
      occupancy_(*setup.cluster),
      capacity_(setup.cluster->kinds.size()),
      free_(setup.cluster->kinds.size()),
      states_(setup.workload->jobs.size()),
      active_time_at_arrival_s_(setup.workload->jobs.size(), 0),
      bar_of_(setup.workload->jobs.size(), -1),
      node_changes_(
          *setup.cluster, options,
          setup.workload->jobs.empty() ? 0 : setup.workload->jobs.values().front().arrival_ns) {
  for (std::size_t i = 0; i < capacity_.size(); ++i) {
    const auto kind = make_id<KindId>(i);
    capacity_[kind] = occupancy_.capacity(kind);
    free_[kind] = capacity_[kind];
  }
  for (std::size_t i = 0; i < states_.size(); ++i) {
    const Job& job = setup.workload->jobs[make_id<JobId>(i)];
    JobState& state = states_[make_id<JobId>(i)];
    state.type = job.type;
    state.total = job.steps();
    state.left = state.total;
    state.checkpoint_left = state.left;
  }
  groups_.resize(setup.workload->groups.size());
  for (const Job& job : setup.workload->jobs.values()) {
    if (job.group >= 0) ++groups_[static_cast<std::size_t>(job.group)].jobs;
  }
  awaited_.assign(states_.size(), options.until.empty());
  for (const JobId job : options.until) awaited_[index(job)] = true;
  until_left_ = static_cast<std::size_t>(std::count(awaited_.begin(), awaited_.end(), true));
  outcome_.held_s.resize(capacity_.size());
  outcome_.up_s.resize(capacity_.size());
  if (!setup.workload->jobs.empty()) {
    now_ns_ = setup.workload->jobs.values().front().arrival_ns;
    outcome_.begin_ns = now_ns_;
    counted_ns_ = now_ns_;
  }
}

View Machine::view() const {
  return {.now_ns = now_ns_,
          .period_ns = options_->clock == Clock::events ? 0 : options_->period_ns,
          .cluster = setup_.cluster,
          .workload = setup_.workload,
          .throughput = setup_.throughput,
          .states = &states_,
          .active = active_,
          .capacity = &capacity_};
}

void Machine::log(EventKind kind, JobId job, NodeId node) {
  if (options_->keeps_log) outcome_.events.push_back({now_ns_, kind, job, node});
}

bool Machine::is_whole(JobId job) const {
  return setup_.workload->jobs[job].request.milli == whole;
}

Request Machine::request_for(const Grant& grant) const {
  Request request = setup_.workload->jobs[grant.job].request;
  request.kinds = {grant.kind};
  request.gpus = grant.gpus;
  return request;
}

double Machine::rate_of(JobId job, const Grant& grant, const std::vector<Slice>& slices) const {
  Where where{.kind = grant.kind, .gpus = grant.gpus};
  if (!slices.empty()) {
    std::vector<std::int32_t> per_node;
    per_node.reserve(slices.size());
    for (const Slice& slice : slices) per_node.push_back(std::popcount(slice.gpus));
    where.placement = placement_name(std::move(per_node));
  }
  if (grant.partner == none<JobId>) return setup_.throughput->rate(states_[job].type, where);
  const JobId other = grant.job == job ? grant.partner : grant.job;
  const auto both = setup_.throughput->together(states_[job].type, states_[other].type, where);
  return both ? both->first : 0;
}

bool Machine::place(const Grant& grant, std::vector<Slice>& slices) {
  if (is_whole(grant.job) && grant.gpus > free_[grant.kind]) return false;
  setup_.placement->consider(grant.job, now_ns_);
  auto found = setup_.placement->place(occupancy_, request_for(grant));
  if (!found) return false;
  slices = std::move(*found);
  return true;
}

bool Machine::start(const Grant& grant) {
  std::vector<Slice> slices;
  if (!place(grant, slices)) return false;
  for (const Slice& slice : slices) occupancy_.take(slice);
  outcome_.nodes.is_known &= !slices.empty();
  setup_.placement->started(grant.job, slices);
  if (is_whole(grant.job)) free_[grant.kind] -= grant.gpus;
  start_one(grant.job, grant, slices);
  if (grant.partner != none<JobId>) start_one(grant.partner, grant, slices);
  open_bar(grant, slices);
  return true;
}

void Machine::start_one(JobId job, const Grant& grant, const std::vector<Slice>& slices) {
  JobState& state = states_[job];
  ++moves_;
  state.status = JobStatus::running;
  state.grant = grant;
  state.slices = slices;
  state.rate = rate_of(job, grant, slices);
  state.updated_ns = now_ns_;
  state.held_since_ns = now_ns_;
  state.ready_ns = later(now_ns_, options_->restart_ns);
  state.checkpoint_left = state.left;
  if (state.first_start_ns < 0) state.first_start_ns = now_ns_;
  ++state.starts;
  ++running_;
  log(EventKind::start, job);
}

void Machine::let_go(JobId job) {
  JobState& state = states_[job];
  const Grant grant = state.grant;
  ++moves_;
  close_bar(grant.job);
  --running_;
  const JobId other = grant.job == job ? grant.partner : grant.job;
  if (other != job && other != none<JobId> && states_[other].status == JobStatus::running) {
    // The one that stays has the accelerators for itself.
    JobState& stays = states_[other];
    stays.grant = {.job = other, .kind = grant.kind, .gpus = grant.gpus};
    stays.rate = rate_of(other, stays.grant, stays.slices);
    setup_.placement->left(grant.job);
    setup_.placement->started(other, stays.slices);
    open_bar(stays.grant, stays.slices);
  } else {
    for (const Slice& slice : state.slices) occupancy_.give(slice);
    setup_.placement->left(grant.job);
    if (is_whole(job)) free_[grant.kind] += grant.gpus;
  }
  state.slices.clear();
  state.rate = 0;
}

void Machine::open_bar(const Grant& grant, const std::vector<Slice>& slices) {
  if (!options_->keeps_log) return;
  bar_of_[index(grant.job)] = static_cast<std::int64_t>(outcome_.bars.size());
  outcome_.bars.push_back(
      {grant.job, grant.partner, grant.kind, grant.gpus, slices, now_ns_, now_ns_});
}

void Machine::close_bar(JobId job) {
  std::int64_t& bar = bar_of_[index(job)];
  if (bar >= 0) outcome_.bars[static_cast<std::size_t>(bar)].end_ns = now_ns_;
  bar = -1;
}

void Machine::stop(JobId job, bool preempted) {
  let_go(job);
  JobState& state = states_[job];
  state.status = JobStatus::waiting;
  state.waiting_since_ns = now_ns_;
  if (preempted) ++state.preemptions;
  log(preempted ? EventKind::stop : EventKind::fail, job);
}

void Machine::drop(JobId job) {
  ++moves_;
  count_active(now_ns_);
  states_[job].status = JobStatus::dropped;
  states_[job].end_ns = now_ns_;
  active_.erase(std::lower_bound(active_.begin(), active_.end(), job));
  log(EventKind::drop, job);
  leave_group(job);
  if (awaited_[index(job)]) --until_left_;
}

void Machine::end(JobId job, std::int64_t at_ns) {
  JobState& state = states_[job];
  state.left = 0;
  state.end_ns = at_ns;
  ended_.push_back(job);
  if (awaited_[index(job)]) --until_left_;
}

double Machine::crowd_since_arrival(JobId job) const {
  const std::int64_t life_ns = now_ns_ - states_[job].came_ns;
  const double active_time_s = active_time_s_ - active_time_at_arrival_s_[index(job)];
  return life_ns > 0 ? active_time_s / (static_cast<double>(life_ns) / 1e9)
                     : static_cast<double>(active_.size());
}

void Machine::release_ended() {
  std::sort(ended_.begin(), ended_.end(), [&](JobId a, JobId b) {
    return std::pair(states_[a].end_ns, a) < std::pair(states_[b].end_ns, b);
  });
  if (!ended_.empty()) idle_steps_ = 0;
  for (const JobId job : ended_) {
    count_active(now_ns_);
    let_go(job);
    states_[job].status = JobStatus::done;
    states_[job].mean_active_jobs = crowd_since_arrival(job);
    active_.erase(std::lower_bound(active_.begin(), active_.end(), job));
    outcome_.end_ns = std::max(outcome_.end_ns, states_[job].end_ns);
    log(EventKind::finish, job);
    setup_.policy->on_end(view(), job);
    leave_group(job);
  }
  ended_.clear();
}

void Machine::leave_group(JobId job) {
  const std::int32_t group = setup_.workload->jobs[job].group;
  if (group < 0) return;
  Group& left = groups_[static_cast<std::size_t>(group)];
  if (--left.jobs > 0) return;
  due_.insert(due_.end(), left.held.begin(), left.held.end());
  std::sort(due_.begin(), due_.end());
  left.held = {};
}

}  // namespace foretrace::scheduling
