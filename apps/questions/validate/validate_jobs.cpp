#include "apps/questions/validate/validate_jobs.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apps/questions/compare/communication.h"
#include "apps/session/session.h"

namespace foretrace {
namespace {

namespace fs = std::filesystem;

void add_errors(const StepTimes& measured, const StepTimes& simulated, StepErrors& errors,
                std::uint64_t& steps) {
  for (std::size_t i = 0; i < std::min(measured.host_ns.size(), simulated.host_ns.size()); ++i) {
    if (measured.host_ns[i] <= 0) continue;
    const double error = std::abs(
        static_cast<double>(simulated.host_ns[i]) / static_cast<double>(measured.host_ns[i]) - 1);
    errors.mean += error;
    errors.worst = std::max(errors.worst, error);
    ++steps;
  }
}

/// Of all steps of all ranks.
StepErrors errors_of(const Replay& replay, std::uint64_t& steps) {
  StepErrors errors;
  steps = 0;
  const StepTimes& measured = replay.measured;
  const StepTimes& simulated = replay.run.steps;
  if (measured.ranks.empty()) {
    add_errors(measured, simulated, errors, steps);
  }
  for (std::size_t r = 0; r < std::min(measured.ranks.size(), simulated.ranks.size()); ++r) {
    add_errors(measured.ranks[r], simulated.ranks[r], errors, steps);
  }
  errors.mean /= static_cast<double>(std::max<std::uint64_t>(1, steps));
  return errors;
}

void add_collectives(const Recording& recording, const Communication& communication, JobRow& row) {
  for (const trace::JobCommunicator& communicator : recording.job->matching.communicators) {
    row.matched += communicator.matched;
    row.incomplete += communicator.incomplete;
    row.method = trace::to_string(communicator.method);
  }
  for (const trace::RankClock& clock : recording.job->matching.clocks) {
    row.largest_offset_ns =
        std::max(row.largest_offset_ns, std::abs(static_cast<double>(clock.offset_ns)));
  }
  std::int64_t most = 0;
  for (const CommunicationRow& cost : communication.rows) {
    if (!cost.complete) continue;
    row.transfer_ns += cost.transfer_ns;
    row.waiting_ns += cost.waiting_ns;
    if (cost.bytes > most && cost.bus_bandwidth > 0) {
      most = cost.bytes;
      row.bus_bandwidth = cost.bus_bandwidth;
      row.largest = fmt::format("{} of {} bytes", to_string(cost.kind), cost.bytes);
    }
  }
}

Status fill(const CataloguePtr& catalogue, const std::vector<std::string>& inputs, JobRow& row) {
  FORETRACE_TRY(Recording loaded, load_job(inputs, {.catalogue = catalogue}));
  FORETRACE_TRY(const Session session, Session::of(std::move(loaded)));
  const Recording& recording = session.recording();
  LoadOptions constant{.catalogue = catalogue};
  constant.build.constant_latency = true;
  FORETRACE_TRY(Recording again, load_job(inputs, constant));
  FORETRACE_TRY(Replay without_recorded, replay(again));
  row.constant = errors_of(without_recorded, row.steps);
  row.errors = errors_of(session.replay(), row.steps);
  row.ranks = recording.job->ranks.size();
  row.tasks = recording.graph().size();
  row.unexplained_device_ns = recording.built.honesty.unexplained_device_ns;
  row.span_ns = recording.built.honesty.span_ns;
  row.flags = recording.built.honesty.flags;
  add_collectives(recording, communication_of(session), row);
  return ok_status();
}

}  // namespace

Result<std::vector<KnownJob>> known_jobs(const Catalogue& catalogue, const std::string& folder) {
  const std::string path = catalogue.directory() + "/validation/jobs.json";
  std::ifstream file(path);
  const nlohmann::json document = nlohmann::json::parse(file, nullptr, false, true);
  if (document.is_discarded() || !document.contains("jobs") || !document["jobs"].is_array()) {
    return Error{ErrorCode::bad_config, fmt::format("{}: not a list of jobs", path)};
  }
  std::vector<KnownJob> jobs;
  for (const nlohmann::json& entry : document["jobs"]) {
    KnownJob job{entry.value("id", ""), entry.value("what", ""), {}};
    job.is_there = true;
    for (const std::string& input : entry.value("inputs", std::vector<std::string>{})) {
      std::error_code ignored;
      job.inputs.push_back(fmt::format("{}/{}", folder, input));
      job.is_there = job.is_there && fs::exists(job.inputs.back(), ignored);
    }
    jobs.push_back(std::move(job));
  }
  return jobs;
}

Result<std::vector<JobRow>> job_table(const CataloguePtr& catalogue, const std::string& folder) {
  FORETRACE_TRY(const std::vector<KnownJob> jobs, known_jobs(*catalogue, folder));
  std::vector<JobRow> rows;
  for (const KnownJob& job : jobs) {
    JobRow row;
    row.id = job.id;
    row.what = job.what;
    if (!job.is_there) {
      row.failure = "recordings not found";
    } else if (Status done = fill(catalogue, job.inputs, row); !done) {
      row.failure = done.error().message;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace foretrace
