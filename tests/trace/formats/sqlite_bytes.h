// Databases for tests, made of SQL text.
#pragma once

#include <string>

#include <doctest/doctest.h>
#include <sqlite3.h>

namespace foretrace::trace {

/// The bytes of a database that these statements make.
[[nodiscard]] inline std::string database(const std::string& sql) {
  sqlite3* db = nullptr;
  REQUIRE(sqlite3_open(":memory:", &db) == SQLITE_OK);
  char* message = nullptr;
  const int state = sqlite3_exec(db, sql.c_str(), nullptr, nullptr, &message);
  REQUIRE_MESSAGE(state == SQLITE_OK, (message == nullptr ? "" : message));
  sqlite3_int64 size = 0;
  unsigned char* bytes = sqlite3_serialize(db, "main", &size, 0);
  REQUIRE(bytes != nullptr);
  std::string out(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
  sqlite3_free(bytes);
  sqlite3_close(db);
  return out;
}

}  // namespace foretrace::trace
