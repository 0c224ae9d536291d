// A step of a job that a row describes.
#pragma once

#include <string>

#include "models/jobs/scenario/scenario.h"
#include "tests/validation/maps/expression.h"
#include "tests/validation/maps/figure.h"
#include "tests/validation/tables/tables.h"

namespace foretrace::validation {

struct StepPrediction {
  Figure seconds;
  double memory_bytes = 0;  ///< of the fullest stage
};

/// "scenario" of a run is a scenario, but for names of models, which are those of tables; or
/// {"called": "gpt3_xl", "stated_in": "model_dims"}: a config.json of Hugging Face's that the table
/// holds fixed. "model", "cluster" and "framework" beside it are what differs from the files that
/// it names; "open" is what the fastest is searched for:
/// {"recompute": ["none", "full"], "chunks": [1, 2], "micro": [1, 2], "memory_share": 0.94,
///  "ran": true}. "ran": it fitted, whatever we say.
/// Rows often ask for the same run again.
class StepPredictor {
 public:
  StepPredictor(const TruthTable& table, TableInputs& inputs) : table_(table), inputs_(inputs) {}
  [[nodiscard]] Result<StepPrediction> predict(const ConfigValue& run);
  [[nodiscard]] Result<Scenario> scenario_of(const ConfigValue& run);

 private:
  [[nodiscard]] Result<Scenario> read(const ConfigValue& run);
  /// The scenario in words of its own: parts that differ from their files have names that `parts_`
  /// knows.
  [[nodiscard]] Status name_parts(const ConfigValue& run, ConfigValue& document);
  [[nodiscard]] Status name_model(const ConfigValue* change, ConfigValue& model);

  const TruthTable& table_;
  TableInputs& inputs_;
  ScenarioParts parts_;
  std::string last_run_;
  Result<Scenario> last_ = Error{ErrorCode::bad_config, "nothing was asked"};
  std::string last_step_run_;
  Result<StepPrediction> last_step_ = Error{ErrorCode::bad_config, "nothing was asked"};
};

/// What amounts may be calculated from: "tokens" and "sequences" of a step, and "model_layers",
/// "model_hidden" and so on.
void add_numbers(const Scenario& scenario, Variables& numbers);

}  // namespace foretrace::validation
