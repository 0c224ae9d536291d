// Tables of users: rows of cells under named columns, from CSV or JSON.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/config.h"
#include "sim/core/result.h"

namespace foretrace::scheduling {

/// Every cell is a text; an empty one stands for nothing.
struct Cells {
  std::string where;  ///< file, or place in one, for messages
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
  bool is_csv = false;
  std::vector<std::size_t> lines{};  ///< of the file, one per row of CSV

  [[nodiscard]] bool has(std::string_view column) const;
  /// "jobs.csv: line 1" and "jobs.csv: line 7", for messages.
  [[nodiscard]] std::string place_of_columns() const;
  [[nodiscard]] std::string place_of_row(std::size_t row) const;
};

/// Takes cells of one row by type and remembers the first mistake; finish() reports it, or a cell
/// that nobody took.
class CellFields {
 public:
  CellFields(const Cells& cells, std::size_t row)
      : cells_(&cells), row_(row), taken_(cells.columns.size()) {}

  /// The next ones are false, empty and `otherwise` where there is no such column.
  [[nodiscard]] bool given(std::string_view column);
  [[nodiscard]] std::string text(std::string_view column);
  /// A number from `least` to `most`; `otherwise` if the cell is empty.
  double number(std::string_view column, double otherwise, double least, double most);
  std::int64_t whole_number(std::string_view column, std::int64_t otherwise, std::int64_t least,
                            std::int64_t most);
  /// Seconds to nanoseconds.
  std::int64_t time(std::string_view column, std::int64_t otherwise);
  void mistake(std::string_view column, std::string_view what);
  [[nodiscard]] Status finish() const;

 private:
  [[nodiscard]] const std::string& taken(std::string_view column);

  const Cells* cells_;
  std::size_t row_;
  std::vector<bool> taken_;  // by column
  std::string mistake_;
};

/// Columns by name: those that a kind of table may have.
using KnownColumns = std::span<const std::string_view>;

/// Names in the first line, commas, quotes as in RFC 4180. Errors name the file and the line.
[[nodiscard]] Result<Cells> parse_csv(std::string_view text, const std::string& where);

/// The table that an object of a file describes: "file" (.csv, or .json with "columns" and "rows";
/// at most 64 MiB), with new names for columns in "columns" and those that nobody is to read in
/// "ignored"; or "columns" and "rows" of its own. `files` gets the file. Errors: a column that is
/// none of those known, or stands twice.
[[nodiscard]] Result<Cells> table_of(ConfigFields& fields, KnownColumns known,
                                     std::vector<std::string>& files);
/// Those errors of table_of().
[[nodiscard]] Status check_columns(const Cells& cells, KnownColumns known);

}  // namespace foretrace::scheduling
