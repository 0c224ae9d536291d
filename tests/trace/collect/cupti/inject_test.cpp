// The collector's library in a program, from foretrace collect to the file, with a stand-in for
// CUPTI that needs no device.
#ifdef FORETRACE_HAS_CUPTI
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/trace/collect/cupti/collect_run.h"
#include "tests/trace/formats/read_helpers.h"
#include "trace/inputs/list_files.h"
#include "trace/ranks/job.h"

namespace foretrace::trace::collector {
namespace {

namespace fs = std::filesystem;

TEST_CASE(
    "cupti: a program under collect is recorded to its last kernel, and keeps its exit code") {
  Folder folder;
  const Ran ran = folder.collect("''", "", program + "exit3");
  CHECK(ran.code == 3);
  CHECK(ran.out == "injected: 1\n");
  CHECK(ran.err.find("recorded 1 process in run.ftr") != std::string::npos);
  const LoadedTrace trace = read_only_file(ran);
  CHECK(trace.report.warnings.empty());
  CHECK(trace.report.damage.empty());
  REQUIRE(trace.events.size() == 200);  // 100 calls and their kernels
  const EventId kernel = event_called(trace.events, "add(float*, float*)");
  CHECK(trace.events.duration_ns[index(kernel)] == 1000);
  // The fake's clock counts from the start of the machine: it was put on that since 1970.
  CHECK(trace.events.info.first_time_ns > 1'500'000'000'000'000'000);
}

TEST_CASE("cupti: a program whose CUPTI is taken, old or broken runs on, with one line said") {
  for (const auto& [kind, says] :
       {std::pair{"owned", "another tool uses CUPTI in this process"},
        std::pair{"old", "CUPTI has version 12.0, expected 13.0"},
        std::pair{"broken", "cuptiSubscribe failed: CUPTI_ERROR_FAKE"}}) {
    Folder folder;
    const Ran ran = folder.collect(kind, "--quiet", program + "exit3");

    CHECK(ran.code == 3);
    CHECK(ran.out == "injected: 1\n");
    CHECK(ran.err.find(says) != std::string::npos);
    CHECK(ran.err.find("the program runs unrecorded\n") != std::string::npos);
    CHECK(std::count(ran.err.begin(), ran.err.end(), '\n') == 1);
    CHECK(ran.files.empty());
  }
}

TEST_CASE("cupti: only the steps that were asked for are recorded") {
  Folder folder;
  const LoadedTrace trace = read_only_file(folder.collect("''", "--steps 1:2", program + "steps"));
  // Steps 1 and 2 of 4, ten launches each, and a range for each step.
  CHECK(trace.events.size() == 42);
  CHECK(trace.report.damage.empty());
  CHECK(trace.report.warnings.empty());
  CHECK(fact(trace, "steps") == "1:2 of 4, counted by steps");
}

TEST_CASE(
    "cupti: steps have ranges of their own that last to the next, with those of NVTX or without") {
  for (const char* const options : {"--steps 1:1", "--steps 1:1 --nvtx", "--steps 1:3 --nvtx"}) {
    CAPTURE(options);
    Folder folder;
    const LoadedTrace trace = read_only_file(folder.collect("''", options, program + "steps"));
    CHECK(trace.report.damage.empty());
    const bool one = std::string_view(options).find("1:1") != std::string_view::npos;
    CHECK(trace.events.size() == (one ? 21 : 63));
    std::vector<std::string> ranges;
    for (std::size_t row = 0; row < trace.events.size(); ++row) {
      if (trace.events.kind[row] == EventKind::user_annotation) {
        ranges.emplace_back(trace.events.name_of(make_id<EventId>(row)));
      }
    }
    CHECK(ranges == (one ? std::vector<std::string>{"step 1"}
                         : std::vector<std::string>{"step 1", "step 2", "step 3"}));
  }
}

TEST_CASE("cupti: without ranges of steps the updates are counted") {
  Folder folder;
  const LoadedTrace trace =
      read_only_file(folder.collect("''", "--steps 1:2", program + "updates"));
  CHECK(trace.events.size() == 42);
  CHECK(fact(trace, "steps") == "1:2 of 4, counted by updates");
}

TEST_CASE("cupti: a program without steps leaves a file that says so, and so does collect") {
  Folder folder;
  const Ran ran = folder.collect("''", "--steps 1:2", program + "launch");
  const LoadedTrace trace = read_only_file(ran);
  CHECK(trace.events.size() == 0);
  REQUIRE(trace.report.warnings.size() == 1);
  CHECK(trace.report.warnings[0].find(
            "nothing was recorded: steps 1:2 were requested and no step") == 0);
  CHECK(ran.err.find("run.ftr: nothing was recorded: steps 1:2") != std::string::npos);
}

TEST_CASE("cupti: what CUPTI lost is told") {
  Folder folder;
  const LoadedTrace trace = read_only_file(folder.collect("drops", "", program + "launch"));
  CHECK(damage_count(trace.report, "records lost by CUPTI while recording") == 42);
}

TEST_CASE("cupti: a forked child neither records nor breaks what its parent records") {
  Folder folder;
  const Ran ran = folder.collect("''", "", program + "fork");
  CHECK(ran.code == 0);
  CHECK(ran.out == "injected: 1\nchild: 9\n");
  const LoadedTrace trace = read_only_file(ran);
  CHECK(trace.events.size() == 200);
  CHECK(trace.report.warnings.empty());
}

TEST_CASE("cupti: processes that each use CUDA write a file each") {
  Folder folder;
  const Ran ran = folder.collect("''", "",
                                 "sh -c '" FORETRACE_FAKE_PROGRAM " launch; " FORETRACE_FAKE_PROGRAM
                                 " launch; exit 6'");
  CHECK(ran.code == 6);
  REQUIRE(ran.files.size() == 2);
  CHECK(ran.err.find("recorded 2 processes") != std::string::npos);
  for (const std::string& file : ran.files) {
    const auto loaded = read_trace(file, {});
    REQUIRE(loaded.ok());
    CHECK(loaded->events.size() == 200);
  }
}

TEST_CASE("cupti: the list of recordings knows their ranks and is read as the job") {
  Folder folder;
  const Ran ran = folder.collect("''", "",
                                 "sh -c 'RANK=1 WORLD_SIZE=2 " FORETRACE_FAKE_PROGRAM
                                 " launch; RANK=0 WORLD_SIZE=2 " FORETRACE_FAKE_PROGRAM " launch'");
  REQUIRE(ran.files.size() == 2);
  const std::string list = (fs::path(ran.files[0]).parent_path() / "run.ftr.json").string();
  const auto content = open_input(list, {});
  REQUIRE(content.ok());
  const auto* const listed = std::get_if<Listing>(&*content);
  REQUIRE(listed != nullptr);
  REQUIRE(listed->files.size() == 2);
  CHECK(listed->files[0].rank + listed->files[1].rank == 1);
  const auto job = read_job(std::vector<std::string>{list}, {});
  REQUIRE_MESSAGE(job.ok(), (job.ok() ? std::string() : job.error().message));
  REQUIRE(job->size() == 2);
  CHECK((*job)[0].rank == 0);
  CHECK((*job)[1].rank == 1);
  CHECK((*job)[1].trace.events.info.world_size == 2);
}

TEST_CASE("cupti: a program that is killed leaves a file that says so") {
  Folder folder;
  const Ran ran = folder.collect("''", "", program + "kill");
  CHECK(ran.err.find("run.ftr: the recording has no end: the program ended by a signal") !=
        std::string::npos);
  CHECK(ran.code != 0);
  const LoadedTrace trace = read_only_file(ran);
  CHECK(has_warning(trace.report, "the file has no end mark, its writer was stopped"));
}

TEST_CASE("cupti: a folder that cannot be written costs the recording only") {
  const std::string line =
      "FORETRACE_COLLECT_FILE=/no/such/folder/x.ftr "
      "CUDA_INJECTION64_PATH='" FORETRACE_COLLECTOR_LIBRARY
      "' LD_LIBRARY_PATH='" FORETRACE_FAKE_CUPTI_FOLDER "' " +
      program + "exit3 >/dev/null 2>&1";
  const int status = std::system(line.c_str());  // NOLINT(concurrency-mt-unsafe)
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 3);
}

}  // namespace
}  // namespace foretrace::trace::collector
#endif
