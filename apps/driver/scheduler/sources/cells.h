// Tables of users: rows of cells under named columns, from CSV or JSON.
#pragma once

#include <cstdint>
#include <map>
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

  [[nodiscard]] bool has(std::string_view column) const;
  /// Empty if there is no such column.
  [[nodiscard]] const std::string& text(std::size_t row, std::string_view column) const;
};

/// Takes cells of one row by type and remembers the first mistake.
class CellFields {
 public:
  CellFields(const Cells& cells, std::size_t row) : cells_(&cells), row_(row) {}

  [[nodiscard]] bool given(std::string_view column) const;
  [[nodiscard]] std::string text(std::string_view column) const;
  /// A number from `least` to `most`; `otherwise` if the cell is empty or there is no such column.
  double number(std::string_view column, double otherwise, double least, double most);
  std::int64_t whole_number(std::string_view column, std::int64_t otherwise, std::int64_t least,
                            std::int64_t most);
  /// Seconds to nanoseconds.
  std::int64_t time(std::string_view column, std::int64_t otherwise);
  void mistake(std::string_view column, std::string_view what);
  [[nodiscard]] Status finish() const;

 private:
  const Cells* cells_;
  std::size_t row_;
  std::string mistake_;
};

/// New names of columns: ours -> that of the table.
using ColumnNames = std::map<std::string, std::string>;

/// A .csv file (commas, quotes as in RFC 4180, names in the first line), or a JSON file with
/// "columns" and "rows". At most 64 MiB. Errors name the file and the line or row.
[[nodiscard]] Result<Cells> read_cells(const std::string& path, const ColumnNames& names);
[[nodiscard]] Result<Cells> parse_csv(std::string_view text, const std::string& where);
/// The table that an object of a file describes: "file", with new names for columns in "columns",
/// or "columns" and "rows" of its own. `files` gets the file.
[[nodiscard]] Result<Cells> table_of(const ConfigValue& object, ConfigFields& fields,
                                     std::vector<std::string>& files);
/// From an object with "columns" and "rows".
[[nodiscard]] Result<Cells> cells_of(const ConfigValue& table, const std::string& where);
/// Errors: a known column that stands twice; one that is none of those known, but may have been
/// meant for one that is not there.
/// Tables of users have others, which nobody reads.
[[nodiscard]] Status check_columns(const Cells& cells, std::span<const std::string_view> known);
/// Gives columns the names that we know. Errors: a name that the table does not have.
[[nodiscard]] Status rename(Cells& cells, const ColumnNames& names);

}  // namespace foretrace::scheduling
