#include "tests/validation/tables/row_prediction.h"

#include <algorithm>

#include <fmt/format.h>

#include "models/jobs/program/estimate.h"

namespace foretrace {

Result<RowPrediction> predict_row(const Scenario& scenario) {
  FORETRACE_TRY(const auto program, build_program(scenario.job));
  FORETRACE_TRY(const auto answer, estimate(scenario.job, program));
  FORETRACE_TRY(const auto range, ranged_step(scenario.job, program));
  RowPrediction prediction;
  prediction.step_s = static_cast<double>(range.step_ns) * 1e-9;
  prediction.low_s = static_cast<double>(range.low_ns) * 1e-9;
  prediction.high_s = static_cast<double>(range.high_ns) * 1e-9;
  for (const StageMemory& stage : answer.memory) {
    prediction.memory_bytes = std::max(prediction.memory_bytes, stage.total());
  }
  return prediction;
}

TablePoint time_point(std::size_t row, std::string column, const RowPrediction& prediction,
                      double measured_s) {
  return {row,       std::move(column), prediction.step_s, prediction.low_s, prediction.high_s,
          measured_s};
}

TablePoint rate_point(std::size_t row, std::string column, const RowPrediction& prediction,
                      double amount, double measured) {
  return {row,
          std::move(column),
          amount / prediction.step_s,
          amount / prediction.high_s,
          amount / prediction.low_s,
          measured};
}

Result<Scenario> scenario_on(TableInputs& inputs, const std::string& cluster,
                             const std::string& framework) {
  Scenario scenario;
  FORETRACE_TRY(auto machine, inputs.cluster(cluster));
  FORETRACE_TRY(auto library, inputs.framework(framework));
  scenario.path = "table";
  scenario.cluster = std::move(machine);
  scenario.framework = std::move(library);
  return scenario;
}

}  // namespace foretrace
