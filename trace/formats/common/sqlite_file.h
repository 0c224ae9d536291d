// Reads tables of an SQLite database that may be hostile: no views, no computed columns, no
// triggers, and a bound on the work that grows with the size of the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/result.h"
#include "trace/io/byte_source.h"

struct sqlite3;
struct sqlite3_stmt;

namespace foretrace::trace::formats {

/// An open database. Its tables are known when it is open.
class SqliteFile {
 public:
  /// A plain file is read in place, anything else from memory. Takes the source to its end.
  [[nodiscard]] static Result<std::unique_ptr<SqliteFile>> open(ByteSource& source);
  SqliteFile(const SqliteFile&) = delete;
  SqliteFile& operator=(const SqliteFile&) = delete;
  SqliteFile(SqliteFile&&) = delete;
  SqliteFile& operator=(SqliteFile&&) = delete;
  ~SqliteFile();

  /// True for a table with stored rows; views and virtual tables are none.
  [[nodiscard]] bool has_table(std::string_view table) const;
  [[nodiscard]] bool has_column(std::string_view table, std::string_view column) const;
  [[nodiscard]] const std::map<std::string, std::vector<std::string>, std::less<>>& tables() const {
    return tables_;
  }
  /// Bytes of the database.
  [[nodiscard]] std::uint64_t size() const { return size_; }

 private:
  friend class TableScan;
  SqliteFile() = default;
  Status open_bytes(std::string bytes, std::string_view path);
  Status open_path(const std::string& path, std::uint64_t size);
  void set_limits();
  Status read_schema(std::string_view path);
  static int on_progress(void* self);

  sqlite3* db_ = nullptr;
  std::string bytes_;
  std::uint64_t size_ = 0;
  std::uint64_t steps_left_ = 0;
  std::uint64_t text_left_ = 0;
  std::map<std::string, std::vector<std::string>, std::less<>> tables_;
};

/// Goes over the rows of a table, in the order they are stored. A missing table has no rows, a
/// missing column no values.
class TableScan {
 public:
  TableScan(SqliteFile& file, std::string_view table,
            std::initializer_list<std::string_view> columns);
  TableScan(const TableScan&) = delete;
  TableScan& operator=(const TableScan&) = delete;
  TableScan(TableScan&&) = delete;
  TableScan& operator=(TableScan&&) = delete;
  ~TableScan();

  /// The next row; false at the end and where the file is damaged.
  [[nodiscard]] bool next();
  /// Row number, from 1.
  [[nodiscard]] std::uint64_t row() const { return row_; }
  /// The column at this place of the constructor's list.
  [[nodiscard]] bool has(std::size_t column) const;
  [[nodiscard]] std::optional<std::int64_t> integer(std::size_t column);
  [[nodiscard]] std::int64_t integer_or(std::size_t column, std::int64_t fallback) {
    return integer(column).value_or(fallback);
  }
  /// Valid until next(). Empty for what is no text.
  [[nodiscard]] std::string_view text(std::size_t column);
  /// Empty, or why rows are missing.
  [[nodiscard]] const std::string& trouble() const { return trouble_; }

 private:
  SqliteFile& file_;
  sqlite3_stmt* statement_ = nullptr;
  std::vector<int> places_;  // in the statement; -1: not there
  std::uint64_t row_ = 0;
  std::string trouble_;
};

}  // namespace foretrace::trace::formats
