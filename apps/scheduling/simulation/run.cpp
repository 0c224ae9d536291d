#include "apps/scheduling/simulation/run.h"

#include <algorithm>

#include <fmt/format.h>

#include "apps/scheduling/simulation/leases.h"
#include "apps/scheduling/simulation/machine.h"
#include "sim/core/params.h"
#include "sim/core/units.h"

namespace foretrace::scheduling {
namespace {

std::string name_of(const RunSetup& setup, JobId id) {
  const Job& job = setup.workload->jobs[id];
  return job.name.empty() ? fmt::format("job {}", index(id)) : fmt::format("job {}", job.name);
}

Status check_job(const RunSetup& setup, JobId id) {
  const Job& job = setup.workload->jobs[id];
  const std::int32_t least = job.is_elastic() ? std::max(1, job.least_gpus) : job.request.gpus;
  bool large_enough = false;
  for (std::size_t i = 0; i < setup.cluster->kinds.size(); ++i) {
    const auto kind = make_id<KindId>(i);
    if (!job.request.allows(kind) || setup.cluster->gpus_of(kind) < least) continue;
    large_enough = true;
    const std::int32_t most =
        job.is_elastic() ? std::min(job.most_gpus, setup.cluster->gpus_of(kind)) : job.request.gpus;
    for (std::int32_t gpus = least; gpus <= most; ++gpus) {
      if (setup.throughput->rate(job.type, {.kind = kind, .gpus = gpus}) > 0) return ok_status();
    }
  }
  const std::string_view why = large_enough ? "has no throughput on any kind that it may use"
                                            : "asks for more accelerators than any kind has";
  return Error{ErrorCode::bad_config,
               fmt::format("{}: {} ({} accelerators, runs {})", name_of(setup, id), why, least,
                           setup.workload->types[job.type].name)};
}

// Of a job, each time at its fastest: what it costs a policy that decides anew in every period.
double rounds_of(const RunSetup& setup, const RunOptions& options, JobId id) {
  const Job& job = setup.workload->jobs[id];
  double best = 0;
  for (std::size_t i = 0; i < setup.cluster->kinds.size(); ++i) {
    const auto kind = make_id<KindId>(i);
    if (!job.request.allows(kind)) continue;
    const std::int32_t most =
        job.is_elastic() ? std::min(job.most_gpus, setup.cluster->gpus_of(kind)) : job.request.gpus;
    const std::int32_t least = job.is_elastic() ? std::max(1, job.least_gpus) : most;
    for (std::int32_t gpus = least; gpus <= most; ++gpus) {
      best = std::max(best, setup.throughput->rate(job.type, {.kind = kind, .gpus = gpus}));
    }
  }
  return best > 0 ? job.steps() / best / seconds(options.period_ns) : 0;
}

// Known beforehand: jobs that take more rounds than a run may have. Where a policy settles, rounds
// that are alike cost nothing.
Status check_rounds(const RunSetup& setup, const RunOptions& options) {
  double all = 0;
  for (std::size_t i = 0; i < setup.workload->jobs.size(); ++i) {
    const auto id = make_id<JobId>(i);
    if (setup.policy->settles() && setup.workload->jobs[id].batch_plan < 0) continue;
    const double rounds = rounds_of(setup, options, id);
    const bool is_long = rounds > static_cast<double>(options.most_idle_steps);
    all += rounds;
    if (!is_long && all <= static_cast<double>(options.most_job_rounds)) continue;
    return Error{
        ErrorCode::bad_config,
        fmt::format("{}: {} {:.2g} periods of {} s at {} fastest, expected at most {}: a "
                    "longer period or shorter jobs",
                    name_of(setup, id), is_long ? "takes" : "with the jobs before it takes",
                    is_long ? rounds : all, seconds(options.period_ns), is_long ? "its" : "their",
                    is_long ? options.most_idle_steps : options.most_job_rounds)};
  }
  return ok_status();
}

Status check(const RunSetup& setup, const RunOptions& options) {
  if (options.clock != Clock::events && options.period_ns <= 0) {
    return Error{ErrorCode::bad_config, "clock: ticks and leases need a period above 0"};
  }
  if (options.clock != Clock::events) {
    FORETRACE_TRY(check_rounds(setup, options));
  }
  if (options.drops_what_does_not_fit) return ok_status();
  for (std::size_t i = 0; i < setup.workload->jobs.size(); ++i) {
    FORETRACE_TRY(check_job(setup, make_id<JobId>(i)));
  }
  return ok_status();
}

Error stuck(const RunSetup& setup, const Machine& machine) {
  for (const JobId job : machine.active()) {
    if (machine.state(job).status != JobStatus::running) continue;
    return Error{ErrorCode::bad_config, fmt::format("{}: never ends at {} steps per second",
                                                    name_of(setup, job), machine.state(job).rate)};
  }
  return Error{ErrorCode::bad_config,
               fmt::format("{}: the policy never starts it, though nothing else runs",
                           name_of(setup, machine.active().front()))};
}

Status check_length(const Machine& machine, const RunSetup& setup) {
  if (static_cast<double>(machine.now_ns()) <= longest_run_ns) return ok_status();
  const std::string who =
      machine.active().empty() ? "the last job" : name_of(setup, machine.active().front());
  return Error{ErrorCode::bad_config,
               fmt::format("{}: ends after {}, expected an end within it: shorter jobs, or fewer",
                           who, quantity_text(longest_run_ns, ParamType::time))};
}

// What happens at a moment, once jobs have been brought there.
Status decide(Machine& machine, const RunSetup& setup, const RunOptions& options) {
  FORETRACE_TRY(check_length(machine, setup));
  machine.change_nodes();
  machine.admit_arrivals();
  FORETRACE_TRY(machine.decide());
  if (machine.idle_steps() > options.most_idle_steps) {
    const std::string who =
        machine.active().empty() ? "run" : name_of(setup, machine.active().front());
    return Error{ErrorCode::bad_config,
                 fmt::format("{}: no job arrived or ended in {} decisions and changes of nodes; "
                             "try a longer period, a shorter restart or fewer failures",
                             who, options.most_idle_steps)};
  }
  if (options.cancelled && options.cancelled()) return Error{ErrorCode::no_match, "cancelled"};
  return ok_status();
}

void drop_waiting(Machine& machine) {
  for (const JobId job : std::vector<JobId>(machine.active())) {
    if (machine.state(job).status == JobStatus::waiting) machine.drop(job);
  }
}

// Nodes that fail and come back are no progress: a run in which nothing else happens is stuck.
class Patience {
 public:
  bool is_lost(const Machine& machine, const RunSetup& setup) {
    const bool waits_for_nodes = !machine.is_running() && machine.next_arrival_ns() == never_ns &&
                                 setup.policy->next_decision_ns(machine.view()) == never_ns;
    constexpr int most = 100000;
    idle_ = waits_for_nodes ? idle_ + 1 : 0;
    return idle_ > most;
  }

 private:
  int idle_ = 0;
};

Status run_on_events(Machine& machine, const RunSetup& setup, const RunOptions& options) {
  Patience patience;
  while (!machine.is_done()) {
    const std::int64_t next =
        std::min({machine.next_arrival_ns(), machine.next_end_ns(), machine.next_node_change_ns(),
                  setup.policy->next_decision_ns(machine.view())});
    if (next == never_ns) {
      if (options.drops_what_does_not_fit && !machine.is_running()) return ok_status();
      return stuck(setup, machine);
    }
    machine.advance(std::max(next, machine.now_ns()));
    machine.release_ended();
    FORETRACE_TRY(decide(machine, setup, options));
    if (options.drops_what_does_not_fit) drop_waiting(machine);
    if (patience.is_lost(machine, setup)) return stuck(setup, machine);
  }
  return ok_status();
}

Status run_on_ticks(Machine& machine, const RunSetup& setup, const RunOptions& options) {
  Patience patience;
  std::int64_t tick = machine.now_ns() / options.period_ns;
  while (!machine.is_done()) {
    // Ticks at which nothing can happen are passed over.
    if (machine.active().empty()) {
      const std::int64_t arrival = machine.next_arrival_ns();
      tick = std::max(tick, later(arrival, options.period_ns - 1) / options.period_ns - 1);
    }
    if (++tick > never_ns / options.period_ns) return stuck(setup, machine);
    machine.advance(tick * options.period_ns);
    machine.release_ended();
    FORETRACE_TRY(decide(machine, setup, options));
    const bool nothing_comes = machine.next_arrival_ns() == never_ns &&
                               machine.next_node_change_ns() == never_ns &&
                               setup.policy->next_decision_ns(machine.view()) == never_ns;
    const bool is_idle = !machine.is_done() && !machine.is_running() && nothing_comes;
    if (is_idle || patience.is_lost(machine, setup)) return stuck(setup, machine);
    // So are those at which it is known what the policy decides.
    const std::int64_t next = std::min(machine.settled_until_ns(), machine.next_end_ns());
    const std::int64_t alike = (next - 1) / options.period_ns - tick;
    if (alike > 0 && !machine.is_done()) {
      tick += alike;
      machine.count_decisions(alike);
    }
  }
  return ok_status();
}

Status run_on_leases(Machine& machine, const RunSetup& setup, const RunOptions& options) {
  Leases leases(machine, setup, options);
  std::int64_t idle_rounds = 0;
  while (!machine.is_done()) {
    if (machine.active().empty()) machine.advance(machine.next_arrival_ns());
    if (machine.now_ns() == never_ns) return stuck(setup, machine);
    FORETRACE_TRY(decide(machine, setup, options));
    if (machine.is_running()) {
      leases.run_rounds_until(machine.settled_until_ns());
      leases.run_round();
      idle_rounds = 0;
    } else {
      constexpr std::int64_t most_idle_rounds = 100000;
      if (++idle_rounds > most_idle_rounds) return stuck(setup, machine);
      machine.advance(
          std::min(machine.next_arrival_ns(), later(machine.now_ns(), options.period_ns)));
    }
    machine.release_ended();
  }
  return ok_status();
}

}  // namespace

Result<Outcome> run(const RunSetup& setup, const RunOptions& options) {
  FORETRACE_TRY(check(setup, options));
  Machine machine(setup, options);
  Status done = ok_status();
  if (!setup.workload->jobs.empty()) {
    switch (options.clock) {
      case Clock::events: done = run_on_events(machine, setup, options); break;
      case Clock::ticks: done = run_on_ticks(machine, setup, options); break;
      case Clock::leases: done = run_on_leases(machine, setup, options); break;
    }
  }
  FORETRACE_TRY(done);
  FORETRACE_TRY(check_length(machine, setup));
  return machine.finish();
}

}  // namespace foretrace::scheduling
