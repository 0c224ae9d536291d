// Calibration: constants of operator forms fitted to tables, with their error on rows held back.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/hardware/catalogue/catalogue.h"
#include "models/hardware/catalogue/operator_fit.h"
#include "models/hardware/costs/calibration/operator_table.h"
#include "sim/core/result.h"

namespace foretrace {

/// Mean, median, ninetieth percentile and bias of predicted / measured - 1.
[[nodiscard]] ErrorSummary summarize(std::vector<double> errors);

/// Rows that could not be used.
struct UnusedRows {
  std::string what;
  std::size_t rows = 0;
  std::string reason;
};

struct Calibration {
  std::vector<CalibratedOperator> operators;  ///< by accelerator, operator, precision
  std::vector<UnusedRows> unused;
};

/// The third (0 to 2) that each row belongs to: distinct shapes are dealt out in the order of their
/// hashes, so that equal shapes are on one side.
[[nodiscard]] std::vector<int> thirds(std::span<const OperatorRow> rows);

/// Fits every operator of the tables. Rows without a device belong to `accelerator`; where it is
/// given, rows of other devices are left out. Each third of the rows is predicted by constants
/// fitted to the other two; the constants that are returned are fitted to all. The form is chosen
/// among the rows fitted to, never by rows held back.
[[nodiscard]] Result<Calibration> calibrate(const Catalogue& catalogue,
                                            std::span<const OperatorTable> tables,
                                            const std::optional<Accelerator>& accelerator);

}  // namespace foretrace
