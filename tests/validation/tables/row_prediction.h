// What a table reader asks for: the step time of a scenario with its range, and its memory.
#pragma once

#include <string>

#include "models/jobs/scenario/scenario.h"
#include "sim/core/result.h"
#include "tests/validation/studies/row_numbers.h"
#include "tests/validation/tables/tables.h"

namespace foretrace {

struct RowPrediction {
  double step_s = 0;
  double low_s = 0;
  double high_s = 0;
  double memory_bytes = 0;  ///< of the fullest stage
};

[[nodiscard]] Result<RowPrediction> predict_row(const Scenario& scenario);

/// The point of a time, or of a throughput of `amount` per step.
[[nodiscard]] TablePoint time_point(std::size_t row, std::string column,
                                    const RowPrediction& prediction, double measured_s);
[[nodiscard]] TablePoint rate_point(std::size_t row, std::string column,
                                    const RowPrediction& prediction, double amount,
                                    double measured);

/// A scenario with the files of these names.
[[nodiscard]] Result<Scenario> scenario_on(TableInputs& inputs, const std::string& cluster,
                                           const std::string& framework);

}  // namespace foretrace
