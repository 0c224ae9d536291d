// SQLite for the store of a sweep: statements as values, errors in one line, one writer at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "sim/core/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace foretrace::sweeping {

class Statement {
 public:
  Statement() = default;
  Statement(Statement&& other) noexcept;
  Statement& operator=(Statement&& other) noexcept;
  ~Statement();

  void bind(int place, std::int64_t value);
  void bind(int place, double value);
  void bind(int place, std::string_view text);  ///< the text must live until the next step
  void bind_null(int place);
  /// True if there is a row. After the last one the statement can be bound again.
  [[nodiscard]] Result<bool> step();
  [[nodiscard]] std::int64_t whole(int column) const;
  [[nodiscard]] double number(int column) const;  ///< not a number if the value is null
  [[nodiscard]] std::string text(int column) const;
  [[nodiscard]] bool is_null(int column) const;
  /// A number or nothing; SQLite makes 0 of any text that is asked for its number.
  [[nodiscard]] bool is_figure(int column) const;

 private:
  friend class Database;
  sqlite3_stmt* statement_ = nullptr;
  const std::string* path_ = nullptr;
};

class Database {
 public:
  Database() = default;
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database();

  [[nodiscard]] Status open_for_writing(const std::string& path);
  /// Also where nothing can be written, neither file nor folder.
  [[nodiscard]] Status open_for_reading(const std::string& path);
  /// Whether what is in the file can be read, all of it.
  [[nodiscard]] bool is_sound() const;
  void close();
  /// Refuses if another process holds it.
  [[nodiscard]] Status lock(const std::string& path);
  [[nodiscard]] Status run(std::string_view sql) const;
  [[nodiscard]] Result<Statement> prepare(std::string_view sql) const;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  [[nodiscard]] Status open(const std::string& name, int flags);

  std::string path_;
  sqlite3* handle_ = nullptr;
  int lock_ = -1;
};

}  // namespace foretrace::sweeping
