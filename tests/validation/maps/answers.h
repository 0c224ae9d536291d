// What a run says of a point: the question by its kind.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "tests/validation/maps/collective.h"
#include "tests/validation/maps/figure.h"
#include "tests/validation/maps/law.h"
#include "tests/validation/maps/map_row.h"
#include "tests/validation/maps/served.h"
#include "tests/validation/maps/training.h"

namespace foretrace::validation {

struct Answer {
  Figure figure;
  std::string group{};  ///< where the map states none
  bool is_fitted =
      false;  ///< constants are from this row: it says nothing about how right they are
  std::optional<LeftOut> left_out{};
  Law law{};                ///< of the figure, before amounts
  double memory_bytes = 0;  ///< of a step: of the fullest stage
  double device_bytes = 0;
  MeasuredOf of{};  ///< without its residual
};

/// A point of a row, filled in.
struct Question {
  const PointMap& point;
  const ConfigValue& run;
  double measured = 0;
  std::optional<std::size_t> request{};  ///< rows are requests to one server
};

class Answers {
 public:
  Answers(const TruthTable& table, TableInputs& inputs)
      : inputs_(inputs), steps_(table, inputs), served_(inputs) {}

  /// Numbers that amounts are calculated from are added to the row.
  [[nodiscard]] Result<Answer> of(const Question& question, MapRow& row);

 private:
  [[nodiscard]] Result<Answer> of_step(const Question& question, MapRow& row);
  [[nodiscard]] Result<Answer> of_layers(const Question& question);

  TableInputs& inputs_;
  StepPredictor steps_;
  ServedPredictor served_;
};

}  // namespace foretrace::validation
