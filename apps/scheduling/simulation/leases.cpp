#include "apps/scheduling/simulation/leases.h"

#include <algorithm>
#include <cmath>

#include "sim/core/units.h"

namespace foretrace::scheduling {

Leases::Leases(Machine& machine, const RunSetup& setup, const RunOptions& options)
    : machine_(&machine),
      setup_(&setup),
      options_(&options),
      last_round_(setup.workload->jobs.size(), -1),
      planned_batch_(setup.workload->jobs.size(), 0) {}

std::vector<Leases::Lease> Leases::leases() const {
  std::vector<Lease> all;
  for (const JobId job : machine_->active_) {
    const JobState& state = machine_->states_[job];
    if (state.status != JobStatus::running || state.grant.job != job) continue;
    Lease lease{.grant = state.grant, .end_ns = machine_->now_ns_, .steps = {}};
    const auto add = [&](const JobState& of) {
      // At least one step, or a job with long steps would never get anywhere.
      const double fitting = std::max(1.0, std::floor(of.rate * seconds(options_->period_ns)));
      lease.steps.push_back(std::min(fitting, of.left));
      if (!(of.rate > 0)) lease.steps.back() = 0;
      const double time_s = of.rate > 0 ? lease.steps.back() / of.rate : 0;
      lease.end_ns =
          std::max(lease.end_ns, later(machine_->now_ns_, duration_from_seconds(time_s).count()));
    };
    add(state);
    if (state.grant.partner != none<JobId>) add(machine_->states_[state.grant.partner]);
    all.push_back(std::move(lease));
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Lease& a, const Lease& b) { return a.end_ns > b.end_ns; });
  return all;
}

void Leases::adapt_batch(JobId id) {
  JobState& state = machine_->states_[id];
  const Job& job = setup_->workload->jobs[id];
  std::int64_t& to = planned_batch_[index(id)];
  if (to == 0) return;
  const BatchPlan& plan = setup_->workload->batch_plans[static_cast<std::size_t>(job.batch_plan)];
  const std::int64_t from = setup_->workload->types[state.type].batch;
  const Progress scaled =
      rescaled(plan, {.total = state.total, .done = state.total - state.left}, from, to);
  state.total = scaled.total;
  state.left = std::max(0.0, scaled.total - scaled.done);
  state.type = *plan.type_of(to);
  state.rate = machine_->rate_of(id, state.grant, state.slices);
  to = 0;
}

void Leases::close_one(JobId id, double steps, std::int64_t end_ns) {
  JobState& state = machine_->states_[id];
  state.left = std::max(0.0, state.left - steps);
  last_round_[index(id)] = round_;
  if (state.left <= 0) {
    machine_->end(id, end_ns);
  } else {
    adapt_batch(id);
    if (state.left <= 0) machine_->end(id, end_ns);
  }
}

void Leases::close(const Lease& lease, std::int64_t begin_ns) {
  std::int64_t time_ns = lease.end_ns - begin_ns;
  double share = 1;
  // A job that comes back loses the time of loading its checkpoint; one that ends in this round is
  // not charged, and none is in the first round where nothing had to be saved.
  const bool came_back =
      last_round_[index(lease.grant.job)] < round_ - 1 || last_round_[index(lease.grant.job)] < 0;
  const bool charged = options_->restarts_in_first_round || round_ > 0;
  if (options_->restart_ns > 0 && came_back && charged &&
      time_ns > options_->period_ns - options_->restart_slack_ns &&
      time_ns > options_->restart_ns) {
    share = seconds(time_ns - options_->restart_ns) / seconds(time_ns);
    time_ns -= options_->restart_ns;
  }
  // At least one step here too, or two jobs with long steps could take turns for ever.
  const auto done = [share](double steps) {
    return share < 1 ? std::min(steps, std::max(1.0, std::floor(steps * share))) : steps;
  };
  setup_->policy->on_run(lease.grant, time_ns);
  close_one(lease.grant.job, done(lease.steps[0]), lease.end_ns);
  if (lease.grant.partner != none<JobId>) {
    close_one(lease.grant.partner, done(lease.steps[1]), lease.end_ns);
  }
}

void Leases::plan_batches() {
  for (const JobId id : machine_->active_) {
    const JobState& state = machine_->states_[id];
    const Job& job = setup_->workload->jobs[id];
    if (job.batch_plan < 0 || state.end_ns >= 0) continue;
    const BatchPlan& plan = setup_->workload->batch_plans[static_cast<std::size_t>(job.batch_plan)];
    const auto next =
        plan.next(setup_->workload->types[state.type].batch, state.total - state.left);
    if (next) planned_batch_[index(id)] = *next;
  }
}

std::int64_t Leases::rounds_alike(const std::vector<Lease>& all, std::int64_t until_ns) const {
  std::int64_t round_ns = 0;
  double rounds = 0x1p62;
  for (const Lease& lease : all) {
    const JobId job = lease.grant.job;
    const JobState& state = machine_->states_[job];
    const double steps = lease.steps[0];
    // Those that came back lose a restart, and batches that are adapted change rates.
    if (lease.grant.partner != none<JobId> || setup_->workload->jobs[job].batch_plan >= 0 ||
        last_round_[index(job)] != round_ - 1 || !(steps > 0)) {
      return 0;
    }
    round_ns = std::max(round_ns, lease.end_ns - machine_->now_ns_);
    rounds = std::min(rounds, std::ceil(state.left / steps) - 2);
  }
  if (round_ns <= 0 || rounds < 1) return 0;
  const double left_ns =
      static_cast<double>(std::min(until_ns, static_cast<std::int64_t>(longest_run_ns))) -
      static_cast<double>(machine_->now_ns_);
  return static_cast<std::int64_t>(
      std::max(0.0, std::min(rounds, left_ns / static_cast<double>(round_ns) - 1)));
}

void Leases::run_rounds_until(std::int64_t until_ns) {
  const std::int64_t begin_ns = machine_->now_ns_;
  const std::vector<Lease> all = leases();
  const std::int64_t rounds = rounds_alike(all, until_ns);
  if (rounds < 1) return;
  std::int64_t round_ns = 0;
  for (const Lease& lease : all) round_ns = std::max(round_ns, lease.end_ns - begin_ns);
  machine_->hold_until(begin_ns + rounds * round_ns);
  round_ += rounds;
  for (const Lease& lease : all) {
    JobState& state = machine_->states_[lease.grant.job];
    state.left -= static_cast<double>(rounds) * lease.steps[0];
    last_round_[index(lease.grant.job)] = round_ - 1;
  }
  const std::int64_t leased = rounds * static_cast<std::int64_t>(all.size());
  machine_->outcome_.leases += leased;
  machine_->outcome_.extended_leases += leased;
  machine_->outcome_.rounds += rounds;
  machine_->outcome_.end_ns = std::max(machine_->outcome_.end_ns, machine_->now_ns_);
  machine_->count_decisions(rounds);
}

void Leases::run_round() {
  const std::int64_t begin_ns = machine_->now_ns_;
  const std::vector<Lease> all = leases();
  std::int64_t end_ns = begin_ns;
  for (const Lease& lease : all) end_ns = std::max(end_ns, lease.end_ns);
  machine_->hold_until(end_ns);
  for (const Lease& lease : all) {
    ++machine_->outcome_.leases;
    const JobState& state = machine_->states_[lease.grant.job];
    if (state.held_since_ns < begin_ns) ++machine_->outcome_.extended_leases;
    close(lease, begin_ns);
  }
  plan_batches();
  ++round_;
  ++machine_->outcome_.rounds;
  machine_->outcome_.end_ns = std::max(machine_->outcome_.end_ns, end_ns);
}

}  // namespace foretrace::scheduling
