// JSON documents of the program: results, inspections, critical paths. Schemas: configs/schemas.
#pragma once

#include <span>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "apps/driver/analysis.h"
#include "apps/driver/answers/communication.h"
#include "apps/driver/answers/fit.h"
#include "apps/driver/answers/max_batch.h"
#include "apps/driver/answers/memory_budget.h"
#include "apps/driver/answers/ranking.h"
#include "apps/driver/inspect.h"
#include "apps/driver/load.h"
#include "apps/driver/predict.h"

namespace foretrace::driver {

/// What a result document is about; pointers may be null.
struct ResultParts {
  const Recording& recording;
  const Replay& replay;
  const Analysis& baseline;  ///< of the replay
  const Prediction* prediction = nullptr;
  const Analysis* predicted = nullptr;  ///< of the prediction
  const Ranking* ranking = nullptr;
  const BudgetAnswer* baseline_budget = nullptr;   ///< of the replay
  const BudgetAnswer* predicted_budget = nullptr;  ///< of the prediction
  const PairRanking* pairs = nullptr;
  const FitAnswer* fit = nullptr;
  const BatchAnswer* max_batch = nullptr;
};
/// foretrace.result/1.
[[nodiscard]] nlohmann::ordered_json result_document(const ResultParts& parts);

/// foretrace.communication/1.
[[nodiscard]] nlohmann::ordered_json communication_document(const Recording& recording,
                                                            const Replay& replay,
                                                            const Communication& communication);

/// foretrace.inspect/1: one entry per trace.
[[nodiscard]] nlohmann::ordered_json inspect_document(std::span<const Inspection> traces);

/// foretrace.critical-path/1.
[[nodiscard]] nlohmann::ordered_json path_document(const Recording& recording, const Replay& replay,
                                                   const PathReport& report);

/// Indented text with a line end; bytes that are not UTF-8 become U+FFFD.
[[nodiscard]] std::string text_of(const nlohmann::ordered_json& document);

}  // namespace foretrace::driver
