// A table of published figures (schema foretrace-truth/1) by row and column, and what is predicted
// of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/core/config.h"
#include "sim/core/result.h"
#include "sim/core/whole.h"

namespace foretrace::scheduling {

class Truth {
 public:
  /// Errors: no such table, or rows that do not have as many cells as there are columns.
  [[nodiscard]] static Result<Truth> read(const std::string& path);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::size_t rows() const { return rows_.size(); }
  [[nodiscard]] const std::vector<std::string>& columns() const { return columns_; }
  [[nodiscard]] bool has(std::string_view column) const { return find(column) >= 0; }
  /// None: no such column, or the cell is null or no number.
  [[nodiscard]] std::optional<double> number(std::size_t row, std::string_view column) const;
  /// To the nearest; 0 where number() gives none.
  [[nodiscard]] std::int64_t whole_number(std::size_t row, std::string_view column) const {
    return to_whole(number(row, column).value_or(0));
  }
  /// Empty: no such column, or the cell is null. Numbers as written.
  [[nodiscard]] std::string text(std::size_t row, std::string_view column) const;
  /// A cell that is a list of numbers.
  [[nodiscard]] std::vector<double> numbers(std::size_t row, std::string_view column) const;
  /// What is held constant: a text, or a number as written; empty if it is not stated.
  [[nodiscard]] std::string fixed(std::string_view key) const;
  /// An error unless all of these columns are there.
  [[nodiscard]] Status needs(std::initializer_list<std::string_view> columns) const;

 private:
  [[nodiscard]] std::ptrdiff_t find(std::string_view column) const;
  [[nodiscard]] const ConfigValue* cell(std::size_t row, std::string_view column) const;

  std::string name_;
  std::string path_;
  std::vector<std::string> columns_;
  std::vector<ConfigValue> rows_;
  ConfigValue fixed_;
};

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
};

/// The first whole number in a text: 8 of "8 GPUs, 1 switch".
[[nodiscard]] std::optional<std::int64_t> first_number(std::string_view text);

}  // namespace foretrace::scheduling
