// The parts of documents that are about the ranks of a job.
#include <cmath>

#include <nlohmann/json.hpp>

#include "apps/report/document_parts.h"
#include "apps/report/documents.h"

namespace foretrace::driver {
namespace {

Json rate(double bytes_per_second) {
  return bytes_per_second < 0 ? Json(nullptr) : Json(bytes_per_second);
}

/// Steps of one rank, if it has any.
const StepTimes* steps_of(const StepTimes& job, std::int32_t rank) {
  for (const StepTimes& times : job.ranks) {
    if (times.rank == rank) {
      return &times;
    }
  }
  return job.ranks.empty() && job.rank == rank ? &job : nullptr;
}

}  // namespace

Json ranks_json(const Recording& recording, const StepTimes& measured, const StepTimes& simulated) {
  Json list = Json::array();
  for (std::size_t r = 0; r < recording.job->ranks.size(); ++r) {
    const trace::RankFacts& facts = recording.job->ranks[r];
    const trace::RankClock& clock = recording.job->matching.clocks[r];
    const StepTimes* const was = steps_of(measured, facts.rank);
    const StepTimes* const is = steps_of(simulated, facts.rank);
    list.push_back({{"rank", facts.rank},
                    {"path", recording.job->paths[r]},
                    {"measured_steps_ns", was == nullptr ? Json::array() : Json(was->host_ns)},
                    {"simulated_steps_ns", is == nullptr ? Json::array() : Json(is->host_ns)},
                    {"clock",
                     {{"aligned", clock.aligned},
                      {"offset_ns", clock.offset_ns},
                      {"spread_ns", clock.spread_ns},
                      {"pairs", clock.pairs},
                      {"drift", clock.drift},
                      {"device_shift_ns", clock.device_shift_ns}}},
                    {"collectives", facts.collectives},
                    {"matched", facts.matched},
                    {"unexplained_device_ns", facts.honesty.unexplained_device_ns},
                    {"flags", facts.honesty.flags}});
  }
  return list;
}

Json communicators_json(const JobFacts& job) {
  Json list = Json::array();
  for (const trace::JobCommunicator& communicator : job.matching.communicators) {
    Json ranks = Json::array();
    for (const std::uint32_t member : communicator.members) {
      ranks.push_back(job.ranks[member].rank);
    }
    list.push_back({{"name", communicator.name},
                    {"size", communicator.size},
                    {"ranks", std::move(ranks)},
                    {"matched_by", trace::to_string(communicator.method)},
                    {"matched", communicator.matched},
                    {"incomplete", communicator.incomplete},
                    {"refused", communicator.refused}});
  }
  return list;
}

Json communication_document(const Recording& recording, const Replay& replay,
                            const Communication& communication) {
  Json rows = Json::array();
  for (const CommunicationRow& row : communication.rows) {
    rows.push_back({{"communicator", row.communicator},
                    {"kind", to_string(row.kind)},
                    {"ranks", row.ranks},
                    {"bytes", row.bytes < 0 ? Json(nullptr) : Json(row.bytes)},
                    {"count", row.count},
                    {"complete", row.complete},
                    {"transfer_ns", row.transfer_ns},
                    {"waiting_ns", row.complete ? Json(row.waiting_ns) : Json(nullptr)},
                    {"median_transfer_ns", row.median_transfer_ns},
                    {"bus_bandwidth", rate(row.bus_bandwidth)},
                    {"pair_bandwidth", rate(row.pair_bandwidth)}});
  }
  Json ranks = ranks_json(recording, replay.measured, replay.run.steps);
  for (std::size_t r = 0; r < communication.ranks.size(); ++r) {
    const RankCommunication& rank = communication.ranks[r];
    const bool is_known = rank.exposed_waiting_ns.has_value();
    ranks[r]["communication"] = {
        {"exposed_transfer_ns", rank.exposed_transfer_ns},
        {"exposed_waiting_ns", is_known ? Json(*rank.exposed_waiting_ns) : Json(nullptr)},
        {"overlapped_ns", rank.overlapped_ns},
        {"arrives_last", is_known ? Json(rank.arrives_last) : Json(nullptr)},
        {"late_ns", is_known ? Json(rank.late_ns) : Json(nullptr)}};
  }
  Json stalls = Json::array();
  for (const StallRow& stall : communication.stalls) {
    stalls.push_back({{"rank", stall.rank},
                      {"call", stall.call},
                      {"operator", stall.operator_name},
                      {"count", stall.count},
                      {"median_ns", stall.median_ns},
                      {"longest_ns", stall.longest_ns},
                      {"excess_ns", stall.excess_ns}});
  }
  return {{"schema", "foretrace.communication/1"},
          {"input", input_json(recording.path, recording.events.info)},
          {"import", import_json(recording.report)},
          {"measured", steps_json(replay.measured, replay.measured_answer)},
          {"collectives", communication.collectives},
          {"matched", communication.matched},
          {"communicators", communicators_json(*recording.job)},
          {"rows", std::move(rows)},
          {"ranks", std::move(ranks)},
          {"stalls", std::move(stalls)},
          {"honesty", honesty_json(recording.built.honesty, nullptr)},
          {"warnings", recording.built.warnings}};
}

}  // namespace foretrace::driver
