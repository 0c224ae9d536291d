// The list of recordings that foretrace collect writes, read as a job.
#include "trace/ranks/manifest.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <unistd.h>

#include "trace/ranks/job.h"
#include "trace/ranks/job_inputs.h"

namespace foretrace::trace {
namespace {

using detail::is_manifest;
using detail::parse_manifest;

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
  CHECK((*job)[0].events.name_of(EventId{0}) == "first");
  CHECK((*job)[1].rank == 1);
  CHECK((*job)[1].events.info.rank == 1);
  // Without ranks their order counts: 4711 is a process.
  const std::string other =
      folder.write("b.json", manifest(R"({"path": "run.4711.ftr"}, {"path": "run.4712.ftr"})"));
  const auto ordered = read_job(std::vector<std::string>{other}, {});
  REQUIRE(ordered.ok());
  CHECK((*ordered)[0].rank == 0);
  CHECK((*ordered)[0].events.name_of(EventId{0}) == "second");
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
      job->front().report.warnings ==
      std::vector<std::string>{
          list + ": lists run.2.ftr, which is not there; the other recordings are taken without it",
          list +
              ": lists run.3.ftr, which is not there; the other recordings are taken without it"});
  const std::string gone = folder.write("gone.json", manifest(R"({"path": "x.ftr"})"));
  const auto none = list_job_files(std::vector<std::string>{gone});
  REQUIRE_FALSE(none.ok());
  CHECK(none.error().message ==
        gone + ": lists 1 recording of which none is there, the first is x.ftr");
}

TEST_CASE("manifest: one that lists itself, a list of it, or a recording twice is refused") {
  const Folder folder;
  const auto refusal = [](const std::string& list) {
    const auto job = list_job_files(std::vector<std::string>{list});
    REQUIRE_FALSE(job.ok());
    return job.error().message;
  };
  const std::string own = folder.write("own.json", manifest(R"({"path": "own.json"})"));
  CHECK(refusal(own) == own + ": lists own.json, which is a list itself, expected a recording");
  const std::string there = folder.write("there.json", manifest(R"({"path": "back.json"})"));
  folder.write("back.json", manifest(R"({"path": "there.json"})"));
  CHECK(refusal(there).find("lists back.json, which is a list itself") != std::string::npos);
  folder.write("run.1.ftr", "x");
  fs::create_symlink("run.1.ftr", folder.path / "same.ftr");
  for (const char* const second : {"run.1.ftr", "./run.1.ftr", "same.ftr"}) {
    const std::string twice = folder.write(
        "twice.json",
        manifest(R"({"path": "run.1.ftr"}, {"path": ")" + std::string(second) + "\"}"));
    CHECK(refusal(twice) == twice + ": lists " + second + " twice, expected each recording once");
  }
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
