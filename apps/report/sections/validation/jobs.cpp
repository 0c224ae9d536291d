// Recordings of several ranks, replayed as one job each.
#include <algorithm>

#include <fmt/format.h>

#include "apps/questions/validate/validate_jobs.h"
#include "apps/report/sections/words.h"
#include "apps/report/text.h"

namespace foretrace::report::sections {
namespace {

Value precise(double share) { return Value::share(share).as(fmt::format("{:.3f} %", 100 * share)); }

std::string jobs_headline(const std::vector<JobRow>& jobs) {
  double worst = 0;
  std::size_t replayed = 0;
  for (const JobRow& row : jobs) {
    if (!row.failure.empty()) continue;
    ++replayed;
    worst = std::max(worst, row.errors.worst);
  }
  return fmt::format("{} of {} replayed; steps of all ranks at most {:.3f} % off", replayed,
                     plural(jobs.size(), "job"), 100 * worst);
}

/// As documents have it: a job that could not be replayed has its failure alone.
Value job_value(const JobRow& row) {
  if (!row.failure.empty()) {
    return Value::object({{"id", Value::words(row.id)}, {"failure", Value::words(row.failure)}});
  }
  return Value::object({{"id", Value::words(row.id)},
                        {"ranks", Value::count(row.ranks)},
                        {"steps", Value::count(row.steps)},
                        {"tasks", Value::count(row.tasks)},
                        {"matched", Value::count(row.matched)},
                        {"incomplete", Value::count(row.incomplete)},
                        {"matched_by", Value::words(row.method)},
                        {"mean_step_error", Value::share(row.errors.mean)},
                        {"worst_step_error", Value::share(row.errors.worst)},
                        {"constant_mean_step_error", Value::share(row.constant.mean)},
                        {"constant_worst_step_error", Value::share(row.constant.worst)},
                        {"transfer_ns", Value::time(row.transfer_ns)},
                        {"waiting_ns", Value::time(row.waiting_ns)},
                        {"unexplained_device_ns", Value::time(row.unexplained_device_ns)},
                        {"span_ns", Value::time(row.span_ns)},
                        {"flags", Value::texts(row.flags)}});
}

Table jobs_table(const std::vector<JobRow>& jobs) {
  Table table{.name = "jobs",
              .title = "job",
              .columns = {{"id"},
                          {"what", "what", Show::details},
                          {"ranks", "ranks"},
                          {"steps", "steps", Show::details},
                          {"tasks", "tasks", Show::details},
                          {"matched", "matched"},
                          {"incomplete", "not", Show::details},
                          {"matched_by", "by", Show::details},
                          {"mean_step_error", "mean step", Show::details},
                          {"worst_step_error", "worst step"},
                          {"constant_mean_step_error", "constant, mean", Show::details},
                          {"constant_worst_step_error", "constant"},
                          {"transfer_ns", "transfer of all ranks", Show::details},
                          {"waiting_ns", "waiting", Show::details},
                          {"largest", "largest collective", Show::details},
                          {"bus_bandwidth", "bus bandwidth", Show::details},
                          {"largest_offset_ns", "largest clock offset", Show::details},
                          {"unexplained_device_ns", "unexplained device", Show::details},
                          {.key = "flags", .is_prose = true}}};
  for (const JobRow& row : jobs) {
    std::vector<Value> cells = {Value::words(row.id), Value::words(row.what)};
    if (row.failure.empty()) {
      cells.insert(
          cells.end(),
          {Value::count(row.ranks), Value::count(row.steps), Value::count(row.tasks),
           Value::count(row.matched), Value::count(row.incomplete), Value::words(row.method),
           precise(row.errors.mean), precise(row.errors.worst), precise(row.constant.mean),
           precise(row.constant.worst), Value::time(row.transfer_ns), Value::time(row.waiting_ns),
           Value::words(row.largest),
           row.bus_bandwidth < 0 ? Value::none("not recorded")
                                 : Value::bandwidth(row.bus_bandwidth),
           Value::plain(row.largest_offset_ns)
               .as(fmt::format("{:.1f} us", row.largest_offset_ns / 1e3)),
           Value::time(row.unexplained_device_ns), Value::texts(row.flags)});
    } else {
      cells.insert(cells.end(), 16, Value{});
      cells.push_back(Value::words(row.failure));
    }
    table.add(std::move(cells));
  }
  return table;
}

}  // namespace

Sections replayed_jobs(const std::vector<JobRow>& jobs) {
  Value::List list;
  for (const JobRow& row : jobs) list.push_back(job_value(row));
  Section section{.key = "jobs", .headline = jobs_headline(jobs)};
  section.datum("jobs", Value::list(std::move(list)));
  section.tables = {jobs_table(jobs)};
  return {std::move(section)};
}

}  // namespace foretrace::report::sections
