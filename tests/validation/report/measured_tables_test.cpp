// What foretrace-validate prints of tables, against its schema and for who mistypes.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "tests/apps/support/json_schema.h"
#include "tests/apps/support/program.h"
#include "tests/validation/report/pages.h"

namespace foretrace::test {
namespace {

nlohmann::json checked_document(const std::string& arguments, const nlohmann::json& schema) {
  const Ran ran = run_program(arguments + " --json");
  INFO(ran.err);
  REQUIRE(ran.code == 0);
  auto document = nlohmann::json::parse(ran.out);
  for (const std::string& violation : violations(schema, document)) {
    FAIL_CHECK(violation);
  }
  return document;
}

void check_tables(const std::string& folder) {
  std::ifstream file(FORETRACE_SOURCE_DIR "/tests/validation/report/tables-1.json");
  const auto schema = nlohmann::json::parse(file);
  CHECK(schema["$id"] == "foretrace.tables/1");
  CHECK_FALSE(checked_document("--tables '" + folder + "'", schema)["tables"].empty());
}

TEST_CASE("foretrace-validate: its documents follow their schemas") {
  CHECK_FALSE(checked_document("--claims --data examples/traces",
                               read_schema("validation-1.json"))["claims"]
                  .empty());
  check_tables("tests/fixtures/tables");
  const std::string folder = FORETRACE_SHARED_DIR "/validation";
  if (std::filesystem::exists(folder)) {
    check_tables(folder);
  } else {
    MESSAGE("SKIPPED: no " << folder);
  }
}

TEST_CASE("foretrace-validate: who asks for nothing, or for what is not there, is told in a line") {
  for (const char* const arguments :
       {"", "--claims", "--tables /nonexistent", "--claims --data /nonexistent",
        "--tables tests/fixtures/tables --only vtrain_single_nod"}) {
    CAPTURE(arguments);
    const Ran ran = run_program(arguments);
    CHECK(ran.code == 2);
    CHECK(ran.out.empty());
    CHECK(std::count(ran.err.begin(), ran.err.end(), '\n') == 1);
  }
}

}  // namespace
}  // namespace foretrace::test
