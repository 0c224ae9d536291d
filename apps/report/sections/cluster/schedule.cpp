// Runs of the scheduling simulator: policies beside each other, and everything about their jobs.
#include "apps/report/pages/cluster/schedule.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "apps/report/text.h"
#include "apps/scheduling/model/ids.h"
#include "apps/scheduling/model/job.h"
#include "apps/scheduling/simulation/metrics.h"
#include "apps/scheduling/simulation/run.h"
#include "sim/core/whole.h"

namespace foretrace::report::sections {
namespace {

constexpr const char* legend =
    "mean, median, 99 %: completion times (end minus arrival); waits: until the first start; "
    "unfair: more than 5 % later than with an equal division of the cluster";
constexpr const char* host_legend =
    "nodes: those that run a job, mean over time; empty: share of all nodes that run none; cores "
    "used, memory used: of nodes that run a job";

using scheduling::Clock;
using scheduling::JobStatus;
using scheduling::Metrics;
using scheduling::Schedule;
using scheduling::ScheduleRun;

Value seconds_value(double seconds) {
  const std::string text = seconds >= 3600 ? fmt::format("{:.2f} h", seconds / 3600)
                           : seconds >= 60 ? fmt::format("{:.1f} min", seconds / 60)
                                           : fmt::format("{:.2f} s", seconds);
  return Value::time(to_whole(seconds * 1e9)).as(text);
}

std::string seconds_text(double seconds) { return seconds_value(seconds).shown; }

std::string settings_text(const scheduling::Choice& choice) {
  std::string text;
  for (const auto& [key, value] : choice.settings) {
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", key, value);
  }
  return text;
}

/// Machines without accelerators: what counts is how many of them are needed.
bool is_of_hosts(const Schedule& schedule) { return schedule.cluster.gpus() == 0; }

std::string cluster_text(const Schedule& schedule) {
  if (is_of_hosts(schedule)) {
    return fmt::format("{} on {}", plural(schedule.workload.jobs.size(), "job"),
                       plural(schedule.cluster.nodes.size(), "node"));
  }
  std::string kinds;
  for (std::size_t i = 0; i < schedule.cluster.kinds.size(); ++i) {
    const auto kind = make_id<scheduling::KindId>(i);
    kinds += fmt::format("{}{} {}", kinds.empty() ? "" : ", ",
                         count_text(static_cast<std::uint64_t>(schedule.cluster.gpus_of(kind))),
                         schedule.cluster.kinds[kind].name);
  }
  return fmt::format("{} on {} ({})", plural(schedule.workload.jobs.size(), "job"),
                     plural(static_cast<std::uint64_t>(schedule.cluster.gpus()), "accelerator"),
                     kinds);
}

std::vector<const ScheduleRun*> best_first(const ScheduleAnswer& answer) {
  std::vector<const ScheduleRun*> order;
  for (const ScheduleRun& run : answer.runs) order.push_back(&run);
  const bool of_hosts = is_of_hosts(answer.schedule);
  const auto rank = [of_hosts](const ScheduleRun& run) {
    if (!of_hosts) return std::pair(std::size_t{0}, run.metrics.completion_s.mean);
    return std::pair(run.metrics.dropped, run.metrics.nodes ? run.metrics.nodes->mean_used : 1e18);
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](const ScheduleRun* a, const ScheduleRun* b) { return rank(*a) < rank(*b); });
  return order;
}

std::string schedule_headline(const ScheduleAnswer& answer) {
  const ScheduleRun& best = *best_first(answer).front();
  if (is_of_hosts(answer.schedule) && best.metrics.nodes) {
    return fmt::format("{}: {:.1f} in use on average under {} with {}, {} of their cores used{}",
                       cluster_text(answer.schedule), best.metrics.nodes->mean_used,
                       best.policy.name, best.placement.name,
                       percent_text(best.metrics.nodes->cpu_density.value_or(0)),
                       best.metrics.dropped == 0
                           ? ""
                           : fmt::format(", {} dropped", plural(best.metrics.dropped, "job")));
  }
  return fmt::format("{}: mean completion {} under {}, makespan {}, {} in use",
                     cluster_text(answer.schedule), seconds_text(best.metrics.completion_s.mean),
                     best.policy.name, seconds_text(best.metrics.makespan_s),
                     percent_text(best.metrics.use));
}

/// A row per policy; settings stand below the table, by letter.
void add_policies(const ScheduleAnswer& answer, Section& section) {
  const bool priced = std::any_of(answer.runs.begin(), answer.runs.end(),
                                  [](const ScheduleRun& run) { return run.metrics.cost > 0; });
  const bool of_hosts = is_of_hosts(answer.schedule);
  const Show for_gpus = of_hosts ? Show::details : Show::always;
  const Show for_hosts = of_hosts ? Show::always : Show::never;
  Table table{
      .name = "policies",
      .title = "policy",
      .columns = {
          {"policy"},
          {.key = "placement",
           .title = "placement",
           .show = answer.schedule.placements.size() > 1 || of_hosts ? Show::always : Show::never},
          {.key = "mean_nodes", .title = "nodes", .show = for_hosts},
          {.key = "empty_share", .title = "empty", .show = for_hosts},
          {.key = "cpu_density", .title = "cores used", .show = for_hosts},
          {.key = "memory_density", .title = "memory used", .show = for_hosts},
          {.key = "dropped", .title = "dropped", .show = for_hosts},
          {.key = "mean_completion_ns", .title = "mean", .show = for_gpus},
          {.key = "median_completion_ns", .title = "median", .show = for_gpus},
          {.key = "p99_completion_ns", .title = "99 %", .show = for_gpus},
          {.key = "mean_waiting_ns", .title = "waits", .show = for_gpus},
          {.key = "makespan_ns", .title = "makespan", .show = for_gpus},
          {.key = "use", .title = "in use", .show = for_gpus},
          {.key = "preemptions",
           .title = "preempted",
           .show = Show::details,
           .narrow = Narrow::left_out},
          {.key = "unfair_jobs", .title = "unfair", .show = for_gpus, .narrow = Narrow::left_out},
          {.key = "cost",
           .title = "cost",
           .show = priced ? Show::always : Show::never,
           .narrow = Narrow::left_out}}};
  std::size_t lettered = 0;
  const auto label = [&](const scheduling::Choice& choice) {
    std::string name = choice.name;
    if (choice.settings.empty()) return Value::words(name);
    const std::string letter =
        fmt::format("[{}]", static_cast<char>('a' + static_cast<int>(lettered++ % 26)));
    name += " " + letter;
    section.notes.push_back({settings_text(choice), "  " + letter + " "});
    return Value::words(choice.name).as(name);
  };
  for (const ScheduleRun* run : best_first(answer)) {
    const Metrics& metrics = run->metrics;
    const Value policy = label(run->policy);
    const auto& nodes = metrics.nodes;
    const auto density = [](const std::optional<double>& value) {
      return value ? Value::share(*value) : Value::none();
    };
    table.add({policy, label(run->placement),
               nodes ? Value::plain(nodes->mean_used).as(fmt::format("{:.2f}", nodes->mean_used))
                     : Value::none(),
               nodes ? Value::share(nodes->empty_share) : Value::none(),
               nodes ? density(nodes->cpu_density) : Value::none(),
               nodes ? density(nodes->memory_density) : Value::none(),
               Value::count(metrics.dropped), seconds_value(metrics.completion_s.mean),
               seconds_value(metrics.completion_s.median), seconds_value(metrics.completion_s.p99),
               seconds_value(metrics.waiting_s.mean), seconds_value(metrics.makespan_s),
               Value::share(metrics.use),
               Value::count(static_cast<std::uint64_t>(metrics.preemptions)),
               Value::count(metrics.unfair),
               Value::plain(metrics.cost).as(fmt::format("{:.0f}", metrics.cost))});
  }
  section.tables.push_back(std::move(table));
}

void add_remarks(const ScheduleRun& run, Section& section) {
  const Metrics& metrics = run.metrics;
  std::string line;
  const auto add = [&line](std::size_t count, std::string_view what) {
    if (count == 0) return;
    line += fmt::format("{}{} {}", line.empty() ? "" : ", ", plural(count, "job"), what);
  };
  add(metrics.dropped, "dropped");
  add(metrics.unfinished, "not ended");
  add(metrics.missed_deadlines, "past the deadline");
  if (metrics.failures > 0) {
    line += fmt::format("{}{} of nodes under jobs", line.empty() ? "" : ", ",
                        plural(static_cast<std::uint64_t>(metrics.failures), "failure"));
  }
  if (!line.empty()) section.notes.push_back({line, fmt::format("  {}: ", run.policy.name)});
}

Value choice_value(const scheduling::Choice& choice) {
  Value::Object parameters;
  for (const auto& [key, value] : choice.settings) parameters.push_back({key, Value::words(value)});
  return Value::object(
      {{"name", Value::words(choice.name)}, {"parameters", Value::object(std::move(parameters))}});
}

std::string_view clock_text(Clock clock) {
  switch (clock) {
    case Clock::events: return "events";
    case Clock::ticks: return "ticks";
    case Clock::leases: return "leases";
  }
  return "?";
}

std::string_view status_text(JobStatus status) {
  switch (status) {
    case JobStatus::coming: return "coming";
    case JobStatus::waiting: return "waiting";
    case JobStatus::running: return "running";
    case JobStatus::done: return "done";
    case JobStatus::dropped: return "dropped";
  }
  return "?";
}

Value::Object spread_members(const Distribution& spread) {
  return {{"mean", seconds_value(spread.mean)},
          {"median", seconds_value(spread.median)},
          {"p90", seconds_value(spread.p90)},
          {"p99", seconds_value(spread.p99)},
          {"most", seconds_value(spread.most)}};
}

Value nodes_value(const std::optional<scheduling::NodeUse>& nodes) {
  if (!nodes) return Value::none();
  const auto known = [](const std::optional<double>& share) {
    return share ? Value::share(*share) : Value::none();
  };
  return Value::object({{"mean_used", Value::plain(nodes->mean_used)},
                        {"empty_share", Value::share(nodes->empty_share)},
                        {"cpu_density", known(nodes->cpu_density)},
                        {"memory_density", known(nodes->memory_density)}});
}

Value::Object metrics_members(const Schedule& schedule, const Metrics& metrics) {
  Value::Object use = {{"all", Value::share(metrics.use)}};
  for (std::size_t i = 0; i < metrics.use_of_kind.size(); ++i) {
    use.push_back({schedule.cluster.kinds[make_id<scheduling::KindId>(i)].name,
                   Value::share(metrics.use_of_kind[i])});
  }
  Value::Object completion = spread_members(metrics.completion_s);
  completion.push_back({"geometric_mean", seconds_value(metrics.geometric_mean_completion_s)});
  const Distribution& fairness = metrics.fairness;
  return {{"ended", Value::count(metrics.jobs)},
          {"dropped", Value::count(metrics.dropped)},
          {"unfinished", Value::count(metrics.unfinished)},
          {"makespan_ns", seconds_value(metrics.makespan_s)},
          {"completion_ns", Value::object(std::move(completion))},
          {"waiting_ns", Value::object(spread_members(metrics.waiting_s))},
          {"fairness", Value::object({{"mean", Value::plain(fairness.mean)},
                                      {"median", Value::plain(fairness.median)},
                                      {"p99", Value::plain(fairness.p99)},
                                      {"most", Value::plain(fairness.most)},
                                      {"unfair_jobs", Value::count(metrics.unfair)}})},
          {"use", Value::object(std::move(use))},
          {"cost", Value::plain(metrics.cost)},
          {"preemptions", Value::plain(metrics.preemptions)},
          {"failures", Value::plain(metrics.failures)},
          {"missed_deadlines", Value::count(metrics.missed_deadlines)},
          {"mean_active_jobs", Value::plain(metrics.mean_active_jobs)},
          {"nodes", nodes_value(metrics.nodes)}};
}

// Of many accelerators it may be more than a whole number of ns holds.
Value accelerator_time(double ns) {
  const std::int64_t whole = to_whole(ns);
  return whole < most_whole ? Value::time(whole) : Value::plain(ns);
}

Value job_value(const scheduling::Job& job, const scheduling::JobState& state) {
  return Value::object({{"name", Value::words(job.name)},
                        {"status", Value::words(status_text(state.status))},
                        {"arrival_ns", Value::time(job.arrival_ns)},
                        {"first_start_ns", Value::known_time(state.first_start_ns)},
                        {"end_ns", Value::known_time(state.end_ns)},
                        {"held_ns", Value::time(state.executed_ns)},
                        {"accelerator_ns", accelerator_time(state.accelerator_ns)},
                        {"starts", Value::plain(state.starts)},
                        {"preemptions", Value::plain(state.preemptions)},
                        {"failures", Value::plain(state.failures)},
                        {"cost", Value::plain(state.cost)}});
}

Value run_value(const Schedule& schedule, const ScheduleRun& run) {
  Value::List jobs;
  for (std::size_t i = 0; i < run.outcome.jobs.size(); ++i) {
    const auto id = make_id<scheduling::JobId>(i);
    jobs.push_back(job_value(schedule.workload.jobs[id], run.outcome.jobs[id]));
  }
  Value::Object members = {{"policy", choice_value(run.policy)},
                           {"placement", choice_value(run.placement)}};
  for (Member& member : metrics_members(schedule, run.metrics)) {
    members.push_back(std::move(member));
  }
  members.push_back({"decisions", Value::plain(run.outcome.decisions)});
  members.push_back({"rounds", Value::plain(run.outcome.rounds)});
  members.push_back({"leases", Value::plain(run.outcome.leases)});
  members.push_back({"extended_leases", Value::plain(run.outcome.extended_leases)});
  members.push_back({"jobs", Value::list(std::move(jobs))});
  return Value::object(std::move(members));
}

}  // namespace

Sections scheduled_input(const ScheduleAnswer& answer) {
  const Schedule& schedule = answer.schedule;
  Value::List kinds;
  for (std::size_t i = 0; i < schedule.cluster.kinds.size(); ++i) {
    const auto kind = make_id<scheduling::KindId>(i);
    kinds.push_back(Value::object(
        {{"name", Value::words(schedule.cluster.kinds[kind].name)},
         {"accelerators", Value::plain(schedule.cluster.gpus_of(kind))},
         {"price_per_hour", Value::plain(schedule.cluster.kinds[kind].price_per_hour)}}));
  }
  const std::size_t jobs = schedule.workload.jobs.size();
  Section input{.key = "input", .path = "input", .show = Show::never};
  input.datum("path", Value::words(schedule.path));
  input.datum("nodes", Value::count(schedule.cluster.nodes.size()));
  input.datum("accelerators", Value::plain(schedule.cluster.gpus()));
  input.datum("kinds", Value::list(std::move(kinds)));
  input.datum("jobs", Value::count(jobs));
  input.datum("measured_jobs",
              Value::count(schedule.measured.empty() ? jobs : schedule.measured.size()));
  input.datum("placement", choice_value(schedule.placements.front()));
  input.datum("clock", Value::object({{"decide", Value::words(clock_text(schedule.options.clock))},
                                      {"period_ns", Value::time(schedule.options.period_ns)}}));
  input.datum("restart_ns", Value::time(schedule.options.restart_ns));
  input.datum("seed", Value::count(schedule.seed));
  return {std::move(input)};
}

Sections scheduled_runs(const ScheduleAnswer& answer) {
  Value::List runs;
  for (const ScheduleRun& run : answer.runs) runs.push_back(run_value(answer.schedule, run));
  Section section{.key = "runs", .headline = schedule_headline(answer)};
  section.datum("runs", Value::list(std::move(runs)));
  add_policies(answer, section);
  for (const ScheduleRun& run : answer.runs) add_remarks(run, section);
  section.note(is_of_hosts(answer.schedule) ? host_legend : legend);
  return {std::move(section)};
}

}  // namespace foretrace::report::sections
