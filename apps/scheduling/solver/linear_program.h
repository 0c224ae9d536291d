// Linear programs: built column by column, solved by COIN-OR CLP.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "sim/core/result.h"

namespace foretrace::scheduling {

inline constexpr double no_limit = std::numeric_limits<double>::infinity();

struct LinearSolution {
  double objective = 0;
  std::vector<double> columns;
  std::vector<double> prices;  ///< of rows: what one unit more of the limit would add
};

/// maximize gain * x, with low <= x <= high and low <= A x <= high.
class LinearProgram {
 public:
  std::size_t add_column(double gain, double low = 0, double high = no_limit);
  std::size_t add_row(double low, double high);
  /// Adds to the coefficient of a column in a row.
  void add(std::size_t row, std::size_t column, double value);

  [[nodiscard]] std::size_t columns() const { return gains_.size(); }
  [[nodiscard]] std::size_t rows() const { return row_low_.size(); }

  /// Errors: no_match if nothing satisfies the rows, unsupported if the gain has no limit or the
  /// solver gives up.
  [[nodiscard]] Result<LinearSolution> maximize() const;

 private:
  struct Cell {
    std::size_t row = 0;
    std::size_t column = 0;
    double value = 0;
  };
  std::vector<double> gains_;
  std::vector<double> column_low_;
  std::vector<double> column_high_;
  std::vector<double> row_low_;
  std::vector<double> row_high_;
  std::vector<Cell> cells_;
};

}  // namespace foretrace::scheduling
