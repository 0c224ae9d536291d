#include "apps/questions/validate/formats.h"

#include <algorithm>
#include <string>

#include <doctest/doctest.h>

namespace foretrace {
namespace {

const FormatRow& row_of(const std::vector<FormatRow>& rows, const std::string& file) {
  const auto found = std::find_if(rows.begin(), rows.end(),
                                  [&](const FormatRow& row) { return row.file == file; });
  REQUIRE_MESSAGE(found != rows.end(), file);
  return *found;
}

TEST_CASE("formats: every file of a folder is read or refused, with a reason") {
  const auto table = format_table(FORETRACE_SOURCE_DIR "/tests/fixtures/nsys_sqlite");
  REQUIRE_MESSAGE(table.ok(), table.error().message);
  REQUIRE(table->size() == 2);
  const FormatRow& read = row_of(*table, "tiny.sqlite");
  CHECK(read.format == "nsys_sqlite");
  CHECK(read.kernels == 4);
  CHECK(read.operations == 6);
  CHECK(read.ranks == 2);
  CHECK(read.report.dropped() == 1);
  CHECK(read.speed() > 0);
  CHECK(read.span_error.has_value());
  const FormatRow& refused = row_of(*table, "tiny.sql");
  CHECK(refused.format.empty());
  CHECK(refused.refusal.starts_with("looks like text that starts with '-- A made-up export"));
  CHECK(refused.refusal.find("supported: ") != std::string::npos);
}

TEST_CASE("formats: a folder that is not there is an error") {
  const auto table = format_table(FORETRACE_SOURCE_DIR "/tests/no_such_folder");
  REQUIRE_FALSE(table.ok());
  CHECK(table.error().message.find("cannot list") != std::string::npos);
}

}  // namespace
}  // namespace foretrace
