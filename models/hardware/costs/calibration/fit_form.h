// Fits the constants of one form to measured rows of one operator on one accelerator.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "models/hardware/catalogue/accelerator.h"
#include "models/hardware/costs/calibration/calibrate.h"

namespace foretrace::costing {

/// A row and the table it is from, by number.
struct SourcedRow {
  OperatorRow row;
  std::size_t source = 0;
};

/// Rows of one operator in one precision on one accelerator.
struct RowGroup {
  const Accelerator* accelerator = nullptr;
  std::vector<SourcedRow> rows;
  std::vector<std::string> sources;  ///< names of the tables, by number
};

/// Peak rates at clock 1.
[[nodiscard]] DeviceRates peak_rates(const Accelerator& accelerator, Precision precision);

/// Time of a row by these constants, as its table would have measured it.
[[nodiscard]] double measured_by(const FormResult& constants, const DeviceRates& peak,
                                 const SourcedRow& row);

/// Constants with the least mean |predicted / measured - 1| over the rows that `use` marks.
[[nodiscard]] FormResult fit_form(const RowGroup& group, const std::vector<bool>& use,
                                  FitForm form);

/// predicted / measured - 1 of the rows that `use` marks.
[[nodiscard]] std::vector<double> errors_of(const FormResult& constants, const RowGroup& group,
                                            const std::vector<bool>& use);

}  // namespace foretrace::costing
