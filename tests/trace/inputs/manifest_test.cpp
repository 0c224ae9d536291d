// The list of recordings that foretrace collect writes, read as a job.
#include "trace/inputs/manifest.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <unistd.h>

#include "trace/ranks/job.h"

namespace foretrace::trace {
namespace {

namespace fs = std::filesystem;

/// A folder of its own that goes with the test.
struct Folder {
  // Tests run side by side, each in a process of its own.
  fs::path path = fs::temp_directory_path() / ("foretrace_manifest_" + std::to_string(::getpid()));
  Folder() {
    fs::remove_all(path);
    fs::create_directories(path);
  }
  ~Folder() { fs::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  // NOLINTNEXTLINE(modernize-use-nodiscard): some only need the file to be there
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path / name) << text;
    return (path / name).generic_string();
  }
};

std::string trace(const std::string& name) {
  return R"({"schemaVersion": 1, "traceEvents": [{"ph": "X", "cat": "cpu_op", "name": ")" + name +
         R"(", "pid": 1, "tid": 1, "ts": 1, "dur": 2}]})";
}

std::string manifest(const std::string& files) {
  return R"({"foretrace": "collect", "command": ["python"], "exit_code": 0, "signal": null,
    "files": [)" +
         files + "]}";
}

}  // namespace

TEST_CASE("manifest: known by its first key, whatever the file is called") {
  CHECK(is_manifest(manifest("")));
  CHECK(is_manifest(manifest("").substr(0, 30)));  // a start will do
  CHECK_FALSE(is_manifest(R"({"schemaVersion": 1, "traceEvents": []})"));
  CHECK_FALSE(is_manifest(R"(["foretrace"])"));
  CHECK_FALSE(is_manifest(""));
}

TEST_CASE("manifest: ranks are those it gives, not the numbers of processes in the names") {
  const Folder folder;
  folder.write("run.4711.ftr", trace("second"));
  folder.write("run.4712.ftr", trace("first"));
  const std::string list =
      folder.write("run.ftr.json", manifest(R"({"path": "run.4711.ftr", "bytes": 9, "rank": 1},
                                  {"path": "run.4712.ftr", "bytes": 9, "rank": 0})"));
  const auto job = read_job(std::vector<std::string>{list}, {});
  REQUIRE_MESSAGE(job.ok(), (job.ok() ? std::string() : job.error().message));
  REQUIRE(job->size() == 2);
  CHECK((*job)[0].rank == 0);
  CHECK((*job)[0].trace.events.name_of(EventId{0}) == "first");
  CHECK((*job)[1].rank == 1);
  CHECK((*job)[1].trace.events.info.rank == 1);
  // Without ranks their order counts: 4711 is a process.
  const std::string other =
      folder.write("b.json", manifest(R"({"path": "run.4711.ftr"}, {"path": "run.4712.ftr"})"));
  const auto ordered = read_job(std::vector<std::string>{other}, {});
  REQUIRE(ordered.ok());
  CHECK((*ordered)[0].rank == 0);
  CHECK((*ordered)[0].trace.events.name_of(EventId{0}) == "second");
  CHECK((*ordered)[1].rank == 1);
}

TEST_CASE("manifest: each recording that is not there costs a warning, all of them an error") {
  const Folder folder;
  folder.write("run.1.ftr", trace("aten::add"));
  const std::string list = folder.write(
      "run.ftr.json",
      manifest(R"({"path": "run.1.ftr"}, {"path": "run.2.ftr"}, {"path": "run.3.ftr"})"));
  const auto job = read_job(std::vector<std::string>{list}, {});
  REQUIRE(job.ok());
  CHECK(job->size() == 1);
  CHECK(
      job->front().trace.report.warnings ==
      std::vector<std::string>{
          list + ": lists run.2.ftr, which is missing; the other recordings are used without it",
          list + ": lists run.3.ftr, which is missing; the other recordings are used without it"});
  const std::string gone = folder.write("gone.json", manifest(R"({"path": "x.ftr"})"));
  const auto none = read_job(std::vector<std::string>{gone}, {});
  REQUIRE_FALSE(none.ok());
  CHECK(none.error().message ==
        gone + ": lists 1 recording, all of them missing, the first is x.ftr");
}

TEST_CASE("manifest: one that lists itself, another list or a recording twice is refused") {
  const Folder folder;
  const auto refusal = [&](const std::string& path) {
    const auto job = read_job(std::vector<std::string>{path}, {});
    REQUIRE_FALSE(job.ok());
    CHECK(job.error().code == ErrorCode::bad_format);
    return job.error().message;
  };
  const std::string self = folder.write("run.ftr.json", manifest(R"({"path": "run.ftr.json"})"));
  CHECK(refusal(self) ==
        self + ": lists " + self + ", which is a list itself; expected recordings");
  // Two that list each other.
  const std::string a = folder.write("a.json", manifest(R"({"path": "b.json"})"));
  const std::string b = folder.write("b.json", manifest(R"({"path": "a.json"})"));
  CHECK(refusal(a) == a + ": lists " + b + ", which is a list itself; expected recordings");
  folder.write("run.1.ftr", trace("aten::add"));
  const std::string twice = folder.write(
      "twice.json", manifest(R"({"path": "run.1.ftr"}, {"path": "./x/../run.1.ftr"})"));
  CHECK(refusal(twice).find("\"files\"[1] names ./x/../run.1.ftr a second time") !=
        std::string::npos);
}

TEST_CASE("manifest: one that cannot be read is told in one line") {
  const auto refusal = [](const std::string& text) {
    const auto files = parse_manifest(text, "run.ftr.json");
    REQUIRE_FALSE(files.ok());
    CHECK(files.error().message.find('\n') == std::string::npos);
    CHECK(files.error().message.rfind("run.ftr.json: the list of recordings cannot be read: ", 0) ==
          0);
    return files.error().message;
  };
  refusal(manifest("").substr(0, 40));
  CHECK(refusal(R"({"foretrace": "collect"})").find("\"files\" is no list") != std::string::npos);
  CHECK(refusal(R"({"foretrace": "collect", "files": 3})").find("is no list") != std::string::npos);
  CHECK(refusal(manifest("")).find("it lists no file") != std::string::npos);
  CHECK(refusal(manifest(R"({"path": "a"}, {"bytes": 3})")).find("\"files\"[1] has no \"path\"") !=
        std::string::npos);
  CHECK(refusal(manifest("7")).find("\"files\"[0] has no \"path\"") != std::string::npos);
  // A rank that is none is as good as no rank.
  const auto odd = parse_manifest(
      manifest(R"({"path": "a", "rank": -4}, {"path": "b", "rank": 1e9})"), "run.ftr.json");
  REQUIRE(odd.ok());
  CHECK(odd->front().rank == -1);
  CHECK(odd->back().rank == -1);
}

}  // namespace foretrace::trace
