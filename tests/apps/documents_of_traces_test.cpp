// Every document that commands make of a trace, of every real trace that is there, against the
// schemas that are shipped. In one process: a program per document would read each trace ten times.
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "apps/questions/compare/communication.h"
#include "apps/report/pages/communication.h"
#include "apps/report/pages/critical_path.h"
#include "apps/report/pages/inspect.h"
#include "apps/report/pages/result.h"
#include "apps/report/writers.h"
#include "apps/session/recording/inspect.h"
#include "apps/session/session.h"
#include "models/hardware/catalogue/accelerator.h"
#include "models/whatifs/what_if_spec.h"
#include "tests/apps/support/json_schema.h"
#include "tests/configs.h"

namespace foretrace::test {
namespace {

using nlohmann::json;

class Documents {
 public:
  void check(const std::string& schema, const report::Page& page) {
    const json document = json::parse(report::json_of(page));
    for (const std::string& violation : violations(read_schema(schema), document)) {
      FAIL_CHECK(schema << violation);
    }
    ++checked_;
    // The other formats must come through as well: names of any bytes, tables of any shape.
    CHECK_FALSE(report::text_of(page).empty());
    CHECK_FALSE(report::text_of(page, {.details = true}).empty());
    CHECK_FALSE(report::markdown_of(page).empty());
    const Result<std::string> table = report::csv_of(page);
    if (!table.ok()) CHECK(table.error().code == ErrorCode::no_match);  // a page without a table
  }
  [[nodiscard]] std::size_t checked() const { return checked_; }

 private:
  std::size_t checked_ = 0;
};

void check_inspection(const std::string& path, Documents& documents) {
  const auto traces = inspect(path, {}, {.asked = true, .settings = {}});
  if (!traces.ok()) return;  // refused, which other tests are about
  documents.check("inspect-1.json",
                  report::inspect_page(*traces, {.memory = true, .modules = true}));
}

void check_recording(const Recording& recording, Documents& documents) {
  const auto session = Session::of(recording);
  if (!session.ok()) return;
  documents.check("result-2.json", report::result_page({.session = *session, .all_steps = true}));
  const PathReport path = session->path(5);
  documents.check("critical-path-1.json", report::critical_path_page({*session, path}));
  if (recording.job != nullptr) {
    const auto communication = communication_of(*session);
    documents.check("communication-1.json", report::communication_page({*session, communication}));
  }
  const auto stack = stack_of({"scale:select='resource=device',factor=0.5"});
  const auto answer = session->ask(*stack);
  if (!answer.ok()) return;  // no device work
  documents.check("result-2.json",
                  report::result_page({.session = *session, .predicted = &*answer}));
}

std::vector<std::string> files_below(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

TEST_CASE("documents of every real trace follow their schemas") {
  const std::string folder = FORETRACE_SHARED_DIR "/traces";
  if (!std::filesystem::exists(folder)) {
    MESSAGE("SKIPPED: no " << folder);
    return;
  }
  Documents documents;
  for (const std::string& path : files_below(folder)) {
    CAPTURE(path);
    check_inspection(path, documents);
    LoadOptions options{.catalogue = test::shipped()};
    options.memory_graph = true;
    const auto recording = load(path, options);
    if (recording.ok()) check_recording(*recording, documents);
  }
  CHECK(documents.checked() > 300);
}

TEST_CASE("documents of the fixtures of every format follow their schemas") {
  Documents documents;
  for (const std::string& path : files_below(FORETRACE_SOURCE_DIR "/tests/fixtures")) {
    CAPTURE(path);
    check_inspection(path, documents);
    const auto recording = load(path, {.catalogue = test::shipped()});
    if (recording.ok()) check_recording(*recording, documents);
  }
  const auto job = load(FORETRACE_SOURCE_DIR "/tests/fixtures/job", {.catalogue = test::shipped()});
  REQUIRE(job.ok());
  check_recording(*job, documents);
  CHECK(documents.checked() > 30);
}

}  // namespace
}  // namespace foretrace::test
