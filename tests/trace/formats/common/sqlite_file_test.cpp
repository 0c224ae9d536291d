#include "trace/formats/common/sqlite_file.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <doctest/doctest.h>

#include "tests/trace/formats/sqlite_bytes.h"

namespace foretrace::trace::formats {
namespace {

std::unique_ptr<SqliteFile> open_bytes(const std::string& bytes) {
  const auto source = open_memory(bytes, "t.sqlite");
  auto opened = SqliteFile::open(*source);
  REQUIRE_MESSAGE(opened.ok(), opened.error().message);
  return std::move(opened).value();
}

TEST_CASE("sqlite: what is missing has no rows and no values") {
  const auto file =
      open_bytes(database("CREATE TABLE t (a INTEGER, \"odd \"\" name\" TEXT); INSERT INTO t "
                          "VALUES (7, 'x'), (NULL, 3);"));
  CHECK(file->has_table("t"));
  CHECK(file->has_column("t", "odd \" name"));
  CHECK_FALSE(file->has_column("t", "b"));
  CHECK_FALSE(file->has_table("u"));
  TableScan scan(*file, "t", {"a", "b", "odd \" name"});
  REQUIRE(scan.next());
  CHECK(scan.integer(0) == 7);
  CHECK_FALSE(scan.integer(1).has_value());
  CHECK_FALSE(scan.has(1));
  CHECK(scan.text(2) == "x");
  REQUIRE(scan.next());
  CHECK_FALSE(scan.integer(0).has_value());
  CHECK_FALSE(scan.next());
  CHECK(scan.trouble().empty());
  TableScan none(*file, "u", {"a"});
  CHECK_FALSE(none.next());
  CHECK(none.trouble().empty());
}

TEST_CASE("sqlite: numbers may be stored as reals, texts are no numbers") {
  const auto file = open_bytes(
      database("CREATE TABLE t (a); INSERT INTO t VALUES (3.9), ('5'), (1e300), (x'0102');"));
  TableScan scan(*file, "t", {"a"});
  REQUIRE(scan.next());
  CHECK(scan.integer(0) == 3);
  REQUIRE(scan.next());
  CHECK_FALSE(scan.integer(0).has_value());
  REQUIRE(scan.next());
  CHECK_FALSE(scan.integer(0).has_value());
  REQUIRE(scan.next());
  CHECK_FALSE(scan.integer(0).has_value());
  CHECK(scan.text(0).empty());
}

TEST_CASE("sqlite: views, virtual and computed columns are not seen") {
  const auto file = open_bytes(
      database("CREATE TABLE t (a INTEGER, b AS (a + 1)); CREATE VIEW v AS SELECT a FROM t;"));
  CHECK(file->has_table("t"));
  CHECK_FALSE(file->has_column("t", "b"));
  CHECK_FALSE(file->has_table("v"));
}

TEST_CASE("sqlite: a file in place and its bytes say the same, and neither is changed") {
  const std::string bytes = database("CREATE TABLE t (a); INSERT INTO t VALUES (1), (2);");
  const auto folder = std::filesystem::temp_directory_path() / "foretrace_sqlite_test";
  std::filesystem::create_directories(folder);
  const std::string path = (folder / "odd ?#% name.sqlite").string();
  std::ofstream(path, std::ios::binary) << bytes;
  {
    auto source = open_file(path);
    REQUIRE(source.ok());
    auto file = SqliteFile::open(**source);
    REQUIRE_MESSAGE(file.ok(), file.error().message);
    CHECK((*file)->size() == bytes.size());
    TableScan scan(**file, "t", {"a"});
    CHECK(scan.next());
    CHECK(scan.next());
    CHECK_FALSE(scan.next());
  }
  std::ifstream again(path, std::ios::binary);
  CHECK(std::string(std::istreambuf_iterator<char>(again), {}) == bytes);
  std::filesystem::remove_all(folder);
}

TEST_CASE("sqlite: a text larger than the file says it is gives an error, not memory") {
  // The record of the only row claims 2^31 bytes.
  std::string bytes = database("CREATE TABLE t (a); INSERT INTO t VALUES ('needle');");
  const std::size_t at = bytes.find("needle");
  REQUIRE(at != std::string::npos);
  // Before the text: payload size, row number, header size, type of the value.
  bytes[at - 4] = '\xFF';
  const auto file = open_bytes(bytes);
  TableScan scan(*file, "t", {"a"});
  while (scan.next()) {
    CHECK(scan.text(0).size() < bytes.size());
  }
  CHECK(scan.row() <= 1);
}

}  // namespace
}  // namespace foretrace::trace::formats
