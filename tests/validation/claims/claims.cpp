#include "tests/validation/claims/claims.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <span>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "apps/session/predict.h"
#include "apps/session/recording/load.h"
#include "models/hardware/catalogue/accelerator.h"
#include "sim/edit/selection.h"
#include "sim/engine/memory/memory_tracker.h"
#include "sim/engine/pull/pull.h"
#include "tests/validation/claims/scenario_gain.h"

namespace foretrace {
namespace {

struct Claim {
  std::string recording;
  std::vector<std::string> apply;
  std::string select;
  std::vector<std::string> scenarios;  ///< before and after, where nothing is recorded
  ClaimRow row;
};

Result<GainOf> gain_of(std::string_view text) {
  for (const GainOf of : {GainOf::step, GainOf::kernels, GainOf::peak}) {
    if (text == to_string(of)) {
      return of;
    }
  }
  return Error{ErrorCode::bad_config,
               fmt::format("of: got '{}', expected step, kernels or peak", text)};
}

Result<Claim> read_claim(const nlohmann::json& entry) {
  Claim claim;
  ClaimRow& row = claim.row;
  row.name = entry.value("name", "");
  row.source = entry.value("source", "");
  row.published = entry.value("published", "");
  row.workload = entry.value("workload", "");
  row.why = entry.value("why", "");
  row.failure = entry.value("not_predicted", "");
  row.not_comparable = entry.value("not_comparable", "");
  claim.recording = entry.value("recording", "");
  claim.apply = entry.value("apply", std::vector<std::string>{});
  claim.select = entry.value("select", "kind=kernel");
  FORETRACE_TRY(row.of, gain_of(entry.value("of", "step")));
  if (const auto gain = entry.find("gain"); gain != entry.end()) {
    row.published_gain = Gain{gain->at(0).get<double>(), gain->at(1).get<double>()};
  }
  row.applied = fmt::format("{}", fmt::join(claim.apply, " + "));
  if (const auto pair = entry.find("scenarios"); pair != entry.end()) {
    claim.scenarios = {pair->at(0).dump(), pair->at(1).dump()};
    row.applied = entry.value("with", "");
  }
  const int ways = (claim.apply.empty() ? 0 : 1) + (claim.scenarios.empty() ? 0 : 1) +
                   (row.failure.empty() ? 0 : 1);
  if (ways != 1) {
    return Error{ErrorCode::bad_config,
                 fmt::format("{}: expected one of apply, scenarios and not_predicted", row.name)};
  }
  return claim;
}

Result<std::vector<Claim>> read_claims() {
  const std::string path = FORETRACE_VALIDATION_DATA "/claims/claims.json";
  std::ifstream file(path);
  const nlohmann::json document = nlohmann::json::parse(file, nullptr, false, true);
  if (document.is_discarded() || !document.contains("claims")) {
    return Error{ErrorCode::bad_config, fmt::format("{}: not a list of claims", path)};
  }
  std::vector<Claim> claims;
  try {
    for (const nlohmann::json& entry : document["claims"]) {
      Result<Claim> claim = read_claim(entry);
      if (!claim) {
        return Error{ErrorCode::bad_config, fmt::format("{}: {}", path, claim.error().message)};
      }
      claims.push_back(std::move(claim).value());
    }
  } catch (const nlohmann::json::exception& wrong) {
    return Error{ErrorCode::bad_config, fmt::format("{}: {}", path, wrong.what())};
  }
  return claims;
}

Result<std::int64_t> selected_ns(const TaskGraph& graph, const std::string& selection) {
  FORETRACE_TRY(std::vector<TaskId> tasks, select(graph, selection));
  std::int64_t sum = 0;
  for (const TaskId task : tasks) {
    sum += graph.duration_ns(task);
  }
  return sum;
}

std::int64_t peak_of(const TaskGraph& graph, const Timeline& timeline) {
  std::int64_t peak = 0;
  for (const MemoryCurve& curve : track_memory(graph, timeline)) {
    peak = std::max(peak, curve.peak_bytes);
  }
  return peak;
}

double ratio(std::int64_t before, std::int64_t after) {
  return after > 0 ? static_cast<double>(before) / static_cast<double>(after) : 1;
}

/// Time of the selected kernels, or the peak of memory, of a changed graph.
Result<std::int64_t> amount_of(const Claim& claim, const TaskGraph& graph) {
  return claim.row.of == GainOf::kernels ? selected_ns(graph, claim.select)
                                         : Result<std::int64_t>(peak_of(graph, simulate(graph)));
}

/// Sets the predicted gain of the row: at the point, and at both ends of what is declared.
Status compare(const Claim& claim, const Recording& recording, const Prediction& after,
               std::span<const WhatIf> stack, ClaimRow& row) {
  const Result<std::int64_t> was = amount_of(claim, recording.graph());
  const Result<std::int64_t> is = amount_of(claim, after.graph);
  if (!was.ok() || !is.ok()) {
    return was.ok() ? is.error() : was.error();
  }
  if (row.of == GainOf::peak && *was == 0) {
    return Error{ErrorCode::no_match, "the recording holds no tensors"};
  }
  row.predicted_gain = ratio(*was, *is);
  row.predicted = {row.predicted_gain, row.predicted_gain};
  FORETRACE_TRY(const PredictionEnds ends, predict_ends(recording, stack));
  for (const TaskGraph* const graph : {&ends.fast, &ends.slow}) {
    FORETRACE_TRY(const std::int64_t end, amount_of(claim, *graph));
    row.predicted.low = std::min(row.predicted.low, ratio(*was, end));
    row.predicted.high = std::max(row.predicted.high, ratio(*was, end));
  }
  return ok_status();
}

/// Errors of a formula are the same in both: the range is that of what follows.
Status predict_scenarios(const Catalogue& catalogue, const Claim& claim, ClaimRow& row) {
  FORETRACE_TRY(const auto gain,
                scenario_gain(catalogue, claim.scenarios[0], claim.scenarios[1], claim.row.name));
  row.predicted_gain = gain.point;
  row.predicted = {gain.low, gain.high};
  return ok_status();
}

Status predict_claim(const CataloguePtr& catalogue, const std::string& folder, Claim& claim) {
  if (!claim.scenarios.empty()) {
    return predict_scenarios(*catalogue, claim, claim.row);
  }
  const std::string path = folder + "/" + claim.recording;
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    return Error{ErrorCode::not_found, "recording not found"};
  }
  FORETRACE_TRY(Recording recording,
                load_inputs(std::vector<std::string>{path}, {.catalogue = catalogue}));
  FORETRACE_TRY(std::vector<WhatIf> stack, stack_of(claim.apply));
  FORETRACE_TRY(const Replay before, replay(recording));
  FORETRACE_TRY(Prediction after, predict(recording, stack, {}, &before));
  ClaimRow& row = claim.row;
  if (row.of != GainOf::step) {
    return compare(claim, recording, after, stack, row);
  }
  const std::int64_t step = before.run.answer.step_ns;
  row.predicted_gain = ratio(step, after.run.answer.step_ns);
  row.predicted = {ratio(step, after.high_ns), ratio(step, after.low_ns)};
  return ok_status();
}

constexpr double no_change = 0.01;

}  // namespace

std::string_view to_string(GainOf of) {
  switch (of) {
    case GainOf::step: return "step";
    case GainOf::kernels: return "kernels";
    case GainOf::peak: break;
  }
  return "peak";
}

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::inside: return "inside";
    case Verdict::below: return "below";
    case Verdict::above: return "above";
    case Verdict::opposite: return "opposite";
    case Verdict::not_comparable: return "not comparable";
    case Verdict::not_compared: break;
  }
  return "-";
}

Verdict compare_gains(const Gain& published, const Gain& predicted) {
  if (predicted.high < published.low) {
    return published.low > 1 && predicted.high < 1 - no_change ? Verdict::opposite : Verdict::below;
  }
  if (predicted.low > published.high) {
    return published.high < 1 && predicted.low > 1 + no_change ? Verdict::opposite : Verdict::above;
  }
  return Verdict::inside;
}

Verdict ClaimRow::verdict() const {
  if (!failure.empty() || !published_gain) {
    return Verdict::not_compared;
  }
  return not_comparable.empty() ? compare_gains(*published_gain, predicted)
                                : Verdict::not_comparable;
}

Result<std::vector<ClaimRow>> claim_table(const CataloguePtr& catalogue,
                                          const std::string& folder) {
  FORETRACE_TRY(std::vector<Claim> claims, read_claims());
  std::vector<ClaimRow> rows;
  for (Claim& claim : claims) {
    if (claim.row.failure.empty()) {
      if (Status done = predict_claim(catalogue, folder, claim); !done) {
        claim.row.failure = done.error().message;
        claim.row.failed_with = done.error().code;
      }
    }
    rows.push_back(std::move(claim.row));
  }
  return rows;
}

}  // namespace foretrace
