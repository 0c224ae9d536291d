// A step of training that a row describes.
#pragma once

#include "models/jobs/scenario/scenario.h"
#include "tests/validation/tables/row_prediction.h"
#include "tests/validation/tables/tables.h"

namespace foretrace::validation {

struct StepPrediction {
  RowPrediction step;
  double tokens = 0;  ///< of a step
};

/// "scenario" of a run is a scenario, but for names of models, which are those of tables; "model"
/// and "cluster" beside it are what differs from the files that it names; "open" is what the
/// fastest is searched for:
/// {"recompute": ["none", "full"], "chunks": [1, 2], "micro": [1, 2], "memory_share": 0.94,
///  "ran": true}. "ran": it fitted, whatever we say.
class StepPredictor {
 public:
  explicit StepPredictor(TableInputs& inputs) : inputs_(inputs) {}
  /// Rows often ask for the same run again.
  [[nodiscard]] Result<StepPrediction> predict(const ConfigValue& run);

 private:
  [[nodiscard]] Result<Scenario> scenario_of(const ConfigValue& run);

  TableInputs& inputs_;
  ScenarioParts parts_;
  std::string last_run_;
  StepPrediction last_;
};

}  // namespace foretrace::validation
