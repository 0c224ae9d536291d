// Numbers of a table, each within what it can be: a row that holds another one is skipped with the
// reason, before anything is computed with it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/result.h"
#include "tests/validation/studies/truth_table.h"

namespace foretrace {

/// What counts of a row can be at most; the least is 1 unless it is said.
inline constexpr double most_ranks = 1e6;    ///< of a job, and of each kind of parallelism
inline constexpr double most_layers = 1000;  ///< and stages, and pieces of a model per stage
inline constexpr double most_sequences = 1e7;
inline constexpr double most_tokens = 1e8;  ///< of a sequence, of a vocabulary
inline constexpr double most_requests = 1e5;
inline constexpr double most_measured = 1e15;

/// A whole number from `low` to `high` at a column of a row (or at a key of what a table holds
/// fixed). Error: "tp: got the number 0, expected a whole number from 1 to 1000".
[[nodiscard]] Result<double> count_in(const TruthRow& row, std::string_view column, double low,
                                      double high);
/// The same of a number that need not be whole.
[[nodiscard]] Result<double> number_in(const TruthRow& row, std::string_view column, double low,
                                       double high);

/// A measured figure: positive.
[[nodiscard]] Result<double> measured_in(const TruthRow& row, std::string_view column);

/// Takes the numbers of one row one by one and remembers the first mistake. What is asked for in
/// vain is the smallest that was allowed, so that nothing breaks until status() is read.
class RowNumbers {
 public:
  explicit RowNumbers(const TruthRow& row) : row_(row) {}

  [[nodiscard]] double count(std::string_view column, double high, double low = 1);
  /// `standard` where the row leaves it out: no such column, or nothing in it.
  [[nodiscard]] double count_or(std::string_view column, double standard, double high,
                                double low = 1);
  [[nodiscard]] double measured(std::string_view column);
  /// None where the row leaves it out.
  [[nodiscard]] std::optional<double> optional_measured(std::string_view column);
  [[nodiscard]] double number(std::string_view column, double low, double high);
  [[nodiscard]] double number_or(std::string_view column, double standard, double low, double high);
  /// A list of numbers.
  [[nodiscard]] std::vector<double> list(std::string_view column, double low, double high);
  [[nodiscard]] std::string text(std::string_view column) const { return row_.text(column); }
  [[nodiscard]] const Status& status() const { return status_; }

 private:
  [[nodiscard]] double taken(Result<double> number, double low);
  TruthRow row_;
  Status status_ = ok_status();
};

}  // namespace foretrace
