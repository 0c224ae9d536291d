// Files about one run of the scheduling simulator: events, jobs, a timeline.
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apps/report/csv_cell.h"
#include "apps/report/schedule/schedule_lanes.h"
#include "apps/report/schedule/schedule_report.h"
#include "sim/core/hidden_text.h"
#include "sim/core/units.h"

namespace foretrace::app {
namespace {

using report::csv_name;
using scheduling::Bar;
using scheduling::Event;
using scheduling::Job;
using scheduling::JobId;
using scheduling::JobState;
using scheduling::Schedule;
using scheduling::ScheduleRun;

Error not_written() { return Error{ErrorCode::io, "cannot write"}; }

std::string time_cell(std::int64_t ns) { return ns < 0 ? "" : fmt::format("{:.9f}", seconds(ns)); }

std::string json_text(const std::string& text) {
  return with_hidden_escaped(
      nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

}  // namespace

Status write_schedule_events(const Schedule& schedule, const ScheduleRun& run, const Sink& sink) {
  if (!sink("time_s,event,job,node\n")) return not_written();
  for (const Event& event : run.outcome.events) {
    const bool has_job = event.job != none<JobId>;
    const bool has_node = event.node != none<scheduling::NodeId>;
    if (!sink(fmt::format("{},{},{},{}\n", time_cell(event.time_ns), to_string(event.kind),
                          has_job ? csv_name(schedule.workload.jobs[event.job].name) : "",
                          has_node ? fmt::format("{}", index(event.node)) : ""))) {
      return not_written();
    }
  }
  return ok_status();
}

Status write_schedule_jobs(const Schedule& schedule, const ScheduleRun& run, const Sink& sink) {
  if (!sink("name,runs,gpus,arrival_s,first_start_s,end_s,held_s,starts,preemptions,failures,"
            "cost\n")) {
    return not_written();
  }
  for (std::size_t i = 0; i < run.outcome.jobs.size(); ++i) {
    const auto id = make_id<JobId>(i);
    const Job& job = schedule.workload.jobs[id];
    const JobState& state = run.outcome.jobs[id];
    if (!sink(fmt::format("{},{},{},{},{},{},{},{},{},{},{:.6f}\n", csv_name(job.name),
                          csv_name(schedule.workload.types[job.type].name), job.request.gpus,
                          time_cell(job.arrival_ns), time_cell(state.first_start_ns),
                          time_cell(state.end_ns), time_cell(state.executed_ns), state.starts,
                          state.preemptions, state.failures, state.cost))) {
      return not_written();
    }
  }
  return ok_status();
}

Status write_schedule_timeline(const Schedule& schedule, const ScheduleRun& run, const Sink& sink) {
  const std::vector<ScheduleLane> lanes = lanes_of(schedule.cluster);
  const auto placed = lanes_of_bars(schedule.cluster, run.outcome);
  if (!sink("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n")) return not_written();
  bool first = true;
  const auto write = [&](const std::string& line) {
    const bool written = sink((first ? "" : ",\n") + line);
    first = false;
    return written;
  };
  for (const ScheduleLane& lane : lanes) {
    if (lane.gpu == 0 &&
        !write(fmt::format(
            R"({{"ph":"M","pid":{},"name":"process_name","args":{{"name":{}}}}})", index(lane.node),
            json_text(fmt::format(
                "node {} ({})", index(lane.node),
                schedule.cluster.kinds[schedule.cluster.nodes[lane.node].kind].name))))) {
      return not_written();
    }
  }
  for (std::size_t i = 0; i < run.outcome.bars.size(); ++i) {
    const Bar& bar = run.outcome.bars[i];
    std::string name = schedule.workload.jobs[bar.job].name;
    if (bar.partner != none<JobId>) name += " + " + schedule.workload.jobs[bar.partner].name;
    for (const std::size_t at : placed[i]) {
      const std::string line = fmt::format(
          R"({{"ph":"X","pid":{},"tid":{},"name":{},"ts":{:.3f},"dur":{:.3f},"args":{{"gpus":{}}}}})",
          index(lanes[at].node), lanes[at].gpu, json_text(name),
          static_cast<double>(bar.begin_ns) / 1e3,
          static_cast<double>(bar.end_ns - bar.begin_ns) / 1e3, bar.gpus);
      if (!write(line)) return not_written();
    }
  }
  return sink("\n]}\n") ? ok_status() : not_written();
}

}  // namespace foretrace::app
