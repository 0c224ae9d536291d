// The JSON document of runs of the scheduling simulator.
#include <cmath>

#include <nlohmann/json.hpp>

#include "apps/report/schedule/schedule_report.h"

namespace foretrace::app {
namespace {

using Json = nlohmann::ordered_json;
using scheduling::Clock;
using scheduling::Job;
using scheduling::JobId;
using scheduling::JobState;
using scheduling::JobStatus;
using scheduling::Metrics;
using scheduling::Schedule;
using scheduling::ScheduleRun;
using scheduling::Spread;

std::int64_t ns(double seconds) { return std::llround(seconds * 1e9); }

Json spread_json(const Spread& spread) {
  return {{"mean", ns(spread.mean)},
          {"median", ns(spread.median)},
          {"p90", ns(spread.p90)},
          {"p99", ns(spread.p99)},
          {"most", ns(spread.most)}};
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

Json choice_json(const scheduling::Choice& choice) {
  Json parameters = Json::object();
  for (const auto& [key, value] : choice.settings) parameters[key] = value;
  return {{"name", choice.name}, {"parameters", std::move(parameters)}};
}

Json input_json(const Schedule& schedule) {
  Json kinds = Json::array();
  for (std::size_t i = 0; i < schedule.cluster.kinds.size(); ++i) {
    const auto kind = make_id<scheduling::KindId>(i);
    kinds.push_back({{"name", schedule.cluster.kinds[kind].name},
                     {"accelerators", schedule.cluster.gpus_of(kind)},
                     {"price_per_hour", schedule.cluster.kinds[kind].price_per_hour}});
  }
  return {
      {"path", schedule.path},
      {"nodes", schedule.cluster.nodes.size()},
      {"accelerators", schedule.cluster.gpus()},
      {"kinds", std::move(kinds)},
      {"jobs", schedule.workload.jobs.size()},
      {"measured_jobs",
       schedule.measured.empty() ? schedule.workload.jobs.size() : schedule.measured.size()},
      {"placement", choice_json(schedule.placement)},
      {"clock",
       {{"decide", clock_text(schedule.options.clock)}, {"period_ns", schedule.options.period_ns}}},
      {"restart_ns", schedule.options.restart_ns},
      {"seed", schedule.seed}};
}

Json metrics_json(const Schedule& schedule, const Metrics& metrics) {
  Json use = {{"all", metrics.use}};
  for (std::size_t i = 0; i < metrics.use_of_kind.size(); ++i) {
    use[schedule.cluster.kinds[make_id<scheduling::KindId>(i)].name] = metrics.use_of_kind[i];
  }
  Json completion = spread_json(metrics.completion_s);
  completion["geometric_mean"] = ns(metrics.geometric_mean_completion_s);
  return {{"ended", metrics.jobs},
          {"dropped", metrics.dropped},
          {"unfinished", metrics.unfinished},
          {"makespan_ns", ns(metrics.makespan_s)},
          {"completion_ns", std::move(completion)},
          {"waiting_ns", spread_json(metrics.waiting_s)},
          {"fairness",
           {{"mean", metrics.fairness.mean},
            {"median", metrics.fairness.median},
            {"p99", metrics.fairness.p99},
            {"most", metrics.fairness.most},
            {"unfair_jobs", metrics.unfair}}},
          {"use", std::move(use)},
          {"cost", metrics.cost},
          {"preemptions", metrics.preemptions},
          {"failures", metrics.failures},
          {"missed_deadlines", metrics.missed_deadlines},
          {"mean_active_jobs", metrics.mean_active_jobs}};
}

Json job_json(const Job& job, const JobState& state) {
  const auto time = [](std::int64_t value) { return value < 0 ? Json(nullptr) : Json(value); };
  return {{"name", job.name},
          {"status", status_text(state.status)},
          {"arrival_ns", job.arrival_ns},
          {"first_start_ns", time(state.first_start_ns)},
          {"end_ns", time(state.end_ns)},
          {"held_ns", state.executed_ns},
          {"accelerator_ns", state.accelerator_ns},
          {"starts", state.starts},
          {"preemptions", state.preemptions},
          {"failures", state.failures},
          {"cost", state.cost}};
}

}  // namespace

std::string schedule_document(const Schedule& schedule, std::span<const ScheduleRun> runs) {
  Json list = Json::array();
  for (const ScheduleRun& run : runs) {
    Json jobs = Json::array();
    for (std::size_t i = 0; i < run.outcome.jobs.size(); ++i) {
      const auto id = make_id<JobId>(i);
      jobs.push_back(job_json(schedule.workload.jobs[id], run.outcome.jobs[id]));
    }
    Json entry = {{"policy", choice_json(run.policy)}};
    entry.update(metrics_json(schedule, run.metrics));
    entry["decisions"] = run.outcome.decisions;
    entry["rounds"] = run.outcome.rounds;
    entry["leases"] = run.outcome.leases;
    entry["extended_leases"] = run.outcome.extended_leases;
    entry["jobs"] = std::move(jobs);
    list.push_back(std::move(entry));
  }
  return Json{{"schema", "foretrace.schedule_result/1"},
              {"input", input_json(schedule)},
              {"runs", std::move(list)}}
             .dump(1, ' ', false, Json::error_handler_t::replace) +
         "\n";
}

}  // namespace foretrace::app
