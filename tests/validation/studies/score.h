// What a study of schedulers gives: predicted figures of a table, and those that it leaves out.
#pragma once

#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/result.h"
#include "tests/validation/studies/row_numbers.h"
#include "tests/validation/studies/truth_table.h"

namespace foretrace::scheduling {

/// One predicted figure.
struct TruthPoint {
  std::size_t row = 0;
  std::string column;
  double predicted = 0;
  double measured = 0;
};
/// A row, or a column of it, that is not predicted.
struct TruthGap {
  std::size_t row = 0;
  std::string column;
  std::string reason;
};
struct TruthScore {
  std::vector<TruthPoint> points;
  std::vector<TruthGap> skipped;

  /// The point of a published figure; where the row leaves it out, none.
  void add(const TruthTable& table, std::size_t row, const std::string& column, double predicted);
};

inline constexpr double most_jobs = 1e5;  ///< and nodes, pods, accelerators
inline constexpr double most_seconds = 1e8;
inline constexpr double most_steps = 1e8;
inline constexpr double most_batch = 1e7;

/// An error unless all of these columns are there.
[[nodiscard]] Status needs(const TruthTable& table,
                           std::initializer_list<std::string_view> columns);
/// Rows that a study runs together: without one of them it would be another one. Error: the first
/// mistake of a row, with its place.
[[nodiscard]] Status read_rows(const TruthTable& table,
                               const std::function<void(std::size_t, RowNumbers&)>& read);
/// The first whole number in a text: 8 of "8 GPUs, 1 switch".
[[nodiscard]] std::optional<std::int64_t> first_number(std::string_view text);
/// The same of a text that a table holds fixed. Error: none, or more than `high`.
[[nodiscard]] Result<std::int64_t> first_number_of(const TruthTable& table, std::string_view key,
                                                   double high);

}  // namespace foretrace::scheduling
