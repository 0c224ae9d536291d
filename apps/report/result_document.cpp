// The document foretrace.result/1.
#include <algorithm>

#include <nlohmann/json.hpp>

#include "apps/report/document_parts.h"
#include "apps/report/documents.h"

namespace foretrace::driver {
namespace {

Json applied_json(const std::vector<Applied>& stack) {
  Json list = Json::array();
  for (const Applied& applied : stack) {
    Json parameters = Json::object();
    for (const auto& [name, value] : applied.parameters) {
      parameters[name] = value;
    }
    Json assumptions = Json::array();
    for (const std::string_view assumption : applied.optimization->assumptions) {
      assumptions.push_back(assumption);
    }
    list.push_back({{"name", applied.optimization->name},
                    {"parameters", std::move(parameters)},
                    {"tasks_changed", applied.tasks_changed},
                    {"assumptions", std::move(assumptions)},
                    {"notes", applied.notes}});
  }
  return list;
}

Json side_json(const RangeSide& side) {
  return {{"recipe", side.recipe}, {"host", side.host},       {"communication", side.communication},
          {"change", side.change}, {"scatter", side.scatter}, {"device", side.device},
          {"rest", side.rest},     {"doubt", side.doubt},     {"total", side.total()}};
}

}  // namespace

Json result_document(const ResultParts& parts) {
  const Recording& recording = parts.recording;
  const Replay& replay = parts.replay;
  Json document = {{"schema", "foretrace.result/1"},
                   {"input", input_json(recording.path, recording.events.info)},
                   {"import", import_json(recording.report)},
                   {"measured", steps_json(replay.measured, replay.measured_answer)}};
  document["input"]["accelerator"] =
      recording.accelerator ? Json(recording.accelerator->name) : Json(nullptr);
  document["input"]["accelerator_note"] = recording.accelerator_note;
  document["measured"]["scatter"] = replay.scatter;

  Json baseline = steps_json(replay.run.steps, replay.run.answer);
  baseline["error"] = replay.error;
  baseline["span_error"] = replay.span_error;
  baseline["worst_step_error"] = replay.worst_step_error;
  add_analysis(parts.baseline, baseline);
  if (parts.baseline_budget != nullptr) {
    baseline["memory_budget"] = budget_json(*parts.baseline_budget);
  }
  document["baseline"] = std::move(baseline);
  if (parts.prediction != nullptr) {
    const Prediction& prediction = *parts.prediction;
    Json predicted = steps_json(prediction.run.steps, prediction.run.answer);
    predicted["low_ns"] = prediction.low_ns;
    predicted["high_ns"] = prediction.high_ns;
    predicted["range"] = {{"declared_low_ns", prediction.declared_low_ns},
                          {"declared_high_ns", prediction.declared_high_ns},
                          {"faster", side_json(prediction.faster)},
                          {"slower", side_json(prediction.slower)}};
    if (prediction.throughput) {
      const auto known = [](const std::optional<double>& rate) {
        return rate ? Json(*rate) : Json(nullptr);
      };
      predicted["throughput"] = {
          {"samples", prediction.throughput->samples},
          {"ratio", prediction.throughput->ratio},
          {"samples_per_second_now", known(prediction.throughput->now)},
          {"samples_per_second_predicted", known(prediction.throughput->predicted)}};
    }
    if (prediction.fit) {
      predicted["device_memory"] = {
          {"accelerator", prediction.fit->target.name},
          {"capacity_bytes", prediction.fit->target.capacity_bytes},
          {"needed_bytes", prediction.fit->target.needed_bytes(prediction.fit->need)},
          {"fits", prediction.fit->fits}};
    }
    if (parts.predicted != nullptr) {
      add_analysis(*parts.predicted, predicted);
    }
    if (parts.predicted_budget != nullptr) {
      predicted["memory_budget"] = budget_json(*parts.predicted_budget);
    }
    document["predicted"] = std::move(predicted);
    document["speedup"] =
        static_cast<double>(replay.run.answer.step_ns) /
        static_cast<double>(std::max<std::int64_t>(1, prediction.run.answer.step_ns));
    document["applied"] = applied_json(prediction.applied);
  }
  if (parts.ranking != nullptr) {
    document["ranking"] = ranking_json(*parts.ranking);
  }
  if (parts.pairs != nullptr) {
    document["pairs"] = pairs_json(*parts.pairs);
  }
  if (parts.fit != nullptr) {
    document["fit"] = fit_json(*parts.fit);
  }
  if (parts.max_batch != nullptr) {
    document["max_batch"] = max_batch_json(*parts.max_batch);
  }
  if (recording.job != nullptr) {
    document["ranks"] = ranks_json(recording, replay.measured, replay.run.steps);
    document["communicators"] = communicators_json(*recording.job);
  }
  document["tasks"] = recording.graph().size();
  document["dependencies"] = recording.graph().topology().dependency_count();
  document["honesty"] = honesty_json(recording, replay);
  if (!recording.built.memory_note.empty()) {
    document["memory_rests_on"] = recording.built.memory_note;
  }
  document["warnings"] = recording.built.warnings;
  return document;
}

}  // namespace foretrace::driver
