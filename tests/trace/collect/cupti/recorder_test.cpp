// The collector in programs that close, limit, fork and end as they please: it records what it can
// and is not noticed. With a stand-in for CUPTI.
#ifdef FORETRACE_HAS_CUPTI
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/small_disk.h"
#include "tests/trace/collect/cupti/collect_run.h"
#include "tests/trace/formats/read_helpers.h"

namespace foretrace::trace::collector {
namespace {

std::string all_of(const Ran& ran) { return ran.out + ran.err; }

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

LoadedTrace read_file(const std::string& path) {
  auto loaded = read_trace(path, {});
  REQUIRE_MESSAGE(loaded.ok(), (loaded.ok() ? std::string() : loaded.error().message));
  return std::move(loaded).value();
}

std::size_t count_of(const fs::path& folder, const std::string& suffix) {
  return static_cast<std::size_t>(
      std::count_if(fs::directory_iterator(folder), fs::directory_iterator(),
                    [&](const auto& entry) { return entry.path().string().ends_with(suffix); }));
}

TEST_CASE("cupti: where no thread can be started the program runs on, unrecorded") {
  Folder folder;
  fs::permissions(folder.path(), fs::perms::all);
  const Ran ran = folder.collect("''", "", program + "threads");
  CAPTURE(all_of(ran));
  CHECK(ran.code == 0);
  CHECK(ran.out == "injected: 1\nin use: 0\n");
  CHECK(says(ran.err, "no thread can be started; the program runs unrecorded\n"));
  CHECK(says(ran.err, "1 process used CUDA and could not be recorded: no thread can be started"));
  CHECK(ran.files.empty());
  CHECK(count_of(folder.path(), ".note") == 0);
}

TEST_CASE("cupti: a start that fails leaves nothing subscribed and no file") {
  Folder folder;
  const Ran ran = folder.collect("late", "--quiet", program + "use");
  CAPTURE(all_of(ran));
  CHECK(ran.code == 3);
  CHECK(ran.out == "injected: 1\nin use: 0\n");
  CHECK(says(ran.err,
             "cuptiActivityRegisterCallbacks failed: CUPTI_ERROR_FAKE; the program runs "
             "unrecorded\n"));
  CHECK(std::count(ran.err.begin(), ran.err.end(), '\n') == 1);
  CHECK(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()) == 2);
}

TEST_CASE("cupti: a start without memory, wherever it ends, ends no program") {
  Folder folder;
  const Ran ran = folder.collect("''", "--quiet", program + "memory");
  CAPTURE(all_of(ran).substr(0, 2000));
  CHECK(ran.code == 0);
  CHECK(says(ran.out, "tried 60\n"));
  CHECK_FALSE(says(ran.out, "allocation "));
}

TEST_CASE("cupti: a program that closes all descriptors is recorded and its files are its own") {
  Folder folder;
  const Ran ran = folder.collect("''", "", program + "close");
  CHECK(ran.code == 0);
  CHECK(text_of(folder.path() / "own.txt") == "mine\n");
  const LoadedTrace trace = read_only_file(ran);
  CHECK(trace.events.size() == 200);
  CHECK(trace.report.warnings.empty());
}

TEST_CASE("cupti: a program that takes every descriptor loses none of its bytes") {
  Folder folder;
  const Ran ran = folder.collect("''", "", program + "descriptors");
  CHECK(ran.code == 0);
  CHECK(text_of(folder.path() / "own.txt") == "mine\nmine\n");
  // What was written before is there.
  CHECK(read_only_file(ran).report.damage.empty());
}

TEST_CASE("cupti: a hundred forks from four threads break neither children nor the recording") {
  Folder folder;
  const Ran ran = folder.collect("''", "", program + "storm");
  CAPTURE(all_of(ran));
  CHECK(ran.code == 0);
  CHECK(says(ran.out, "wrong: 0\n"));
  const LoadedTrace trace = read_only_file(ran);
  CHECK(trace.events.size() == 2000);
  CHECK(trace.report.damage.empty());
  CHECK(trace.report.warnings.empty());
}

TEST_CASE("cupti: a process that becomes another program keeps both recordings") {
  Folder folder;
  const Ran ran = folder.collect("''", "", program + "exec");
  CHECK(ran.code == 0);
  REQUIRE(ran.files.size() == 2);
  CHECK(read_file(ran.files[0]).events.size() + read_file(ran.files[1]).events.size() == 220);
}

TEST_CASE("cupti: two collects with one output keep both recordings and both lists") {
  Folder folder;
  // Neither program ends before both have begun.
  const std::string one = collect_command +
                          " -o run.ftr -- sh -c 'touch begun.$$; " FORETRACE_FAKE_PROGRAM
                          " launch; until [ $(ls | grep -c begun) = 2 ]; do sleep 0.05; done'";
  const Ran ran = folder.shell(one + " & " + one + " & wait");
  CAPTURE(all_of(ran));
  REQUIRE(ran.files.size() == 2);
  for (const std::string& file : ran.files) {
    CHECK(read_file(file).events.size() == 200);
  }
  CHECK(fs::exists(folder.path() / "run.ftr"));
  CHECK(fs::exists(folder.path() / "run.ftr.json"));
  CHECK(count_of(folder.path(), ".ftr.json") == 2);
  CHECK(says(ran.err, "another program wrote run.ftr meanwhile; it stays"));
}

TEST_CASE("cupti: an earlier recording is replaced by a new one, other files never") {
  Folder folder;
  Ran ran = folder.collect("''", "", program + "launch");
  const std::string first = text_of(folder.path() / "run.ftr");
  std::ofstream(folder.path() / "run.77.ftr") << "not ours";
  std::ofstream(folder.path() / "run.0123456789abcdef.77.ftr") << "not ours either";
  // A program that cannot be run costs nothing.
  ran = folder.collect("''", "", "/no/such/program");
  CHECK(ran.code == 125);
  CHECK(text_of(folder.path() / "run.ftr") == first);
  CHECK(ran.files.size() == 3);
  // One that uses no CUDA leaves the old recording, and that is said.
  ran = folder.collect("''", "", "true");
  CHECK(text_of(folder.path() / "run.ftr") == first);
  CHECK(says(ran.err, "nothing was recorded; run.ftr is of an earlier run\n"));
  ran = folder.collect("''", "", program + "steps");
  CHECK(ran.files.size() == 3);
  CHECK(read_file((folder.path() / "run.ftr").string()).events.size() == 80);
  CHECK(text_of(folder.path() / "run.77.ftr") == "not ours");
}

TEST_CASE("cupti: a full disk costs the rest of the recording, and is said at the end") {
  Folder folder;
  const std::string disk = (folder.path() / "disk").string();
  const test::SmallDisk small(disk, "400k");
  if (!small.is_there()) {
    MESSAGE("SKIPPED: no small disk can be mounted here (it needs root)");
    return;
  }
  const Ran ran = folder.shell(collect_command + " -o disk/run.ftr -- " + program + "fill");
  CAPTURE(all_of(ran));
  CHECK(ran.code == 3);
  CHECK(says(ran.err, "the recording of this program is incomplete: No space left on device\n"));
  CHECK(says(ran.err, "run.ftr: recorded until 20"));
  const LoadedTrace trace = read_file(disk + "/run.ftr");
  CHECK(trace.events.size() > 1000);
  CHECK(has_warning(trace.report, " UTC only, the program continued: No space left on device"));
  CHECK(damage_count(trace.report, "records of calls that could not be written") > 1000);
}

TEST_CASE("cupti: a disk that others fill meanwhile costs no recording its end") {
  Folder folder;
  const std::string disk = (folder.path() / "disk").string();
  const test::SmallDisk small(disk, "400k");
  if (!small.is_there()) {
    MESSAGE("SKIPPED: no small disk can be mounted here (it needs root)");
    return;
  }
  const Ran ran = folder.shell(collect_command + " -o disk/run.ftr -- " + program +
                               "until_told & until [ -e begun ]; do sleep 0.05; done; sleep 2; "
                               "cat /dev/zero >disk/other; touch told; wait $!");
  CAPTURE(all_of(ran));
  const LoadedTrace trace = read_file(disk + "/run.ftr");
  CHECK(trace.events.size() >= 100);
  CHECK(trace.events.size() <= 200);
  CHECK_FALSE(has_warning(trace.report, "end mark"));
  const bool whole = trace.events.size() == 200;
  CHECK(has_warning(trace.report, "the program continued: No space left on device") != whole);
}

TEST_CASE("cupti: a limit for the size of files ends the recording and not the program") {
  Folder folder;
  const Ran ran = folder.collect("''", "", "sh -c \"ulimit -f 300; exec " + program + " fill\"");
  CAPTURE(all_of(ran));
  CHECK(ran.code == 3);
  const LoadedTrace trace = read_only_file(ran);
  CHECK(trace.events.size() > 1000);
  CHECK(has_warning(trace.report, "the program continued: File too large"));
}

TEST_CASE("cupti: --max-size is kept, and what is in the file can be read") {
  Folder folder;
  const Ran ran = folder.collect("''", "--max-size '200 KiB'", program + "fill");
  CAPTURE(all_of(ran));
  CHECK(ran.code == 3);
  CHECK(fs::file_size(folder.path() / "run.ftr") <= 200 * 1024);
  CHECK(fs::file_size(folder.path() / "run.ftr") > 100 * 1024);
  CHECK(has_warning(read_only_file(ran).report, "the file has reached its size limit"));
  CHECK(folder.collect("''", "--max-size 3", program + "launch").code == 125);
}

TEST_CASE(
    "cupti: recordings and lists are for their owner, and hold the command only if asked to") {
  Folder folder;
  const auto mode_of = [&](const char* name) {
    return static_cast<unsigned>(fs::status(folder.path() / name).permissions());
  };
  const auto holds = [&](const char* name) {
    return says(text_of(folder.path() / name), "--token=geheim");
  };
  const std::string what = program + "launch --token=geheim";
  Ran ran = folder.shell("umask 000; " + collect_command + " -- " + what);
  CHECK(ran.code == 0);
  CHECK(mode_of("run.ftr") == 0600U);
  CHECK(mode_of("run.ftr.json") == 0600U);
  CHECK_FALSE(holds("run.ftr"));
  CHECK_FALSE(holds("run.ftr.json"));
  CHECK(fact(read_only_file(ran), "command").empty());
  ran = folder.collect("''", "--with-command", what);
  CHECK(holds("run.ftr"));
  CHECK(holds("run.ftr.json"));
  CHECK(says(fact(read_only_file(ran), "command"), "launch --token=geheim"));
}

TEST_CASE("cupti: after collect was killed the recording goes on and is whole") {
  Folder folder;
  const Ran ran = folder.shell(collect_command + " -- " + program +
                               "until_told & until [ -e begun ]; do sleep 0.05; done; kill -9 $!; "
                               "wait $!; echo $?; touch told; sleep 2");
  CHECK(ran.out == "injected: 1\n137\n");
  const LoadedTrace trace = read_only_file(ran);
  CHECK(trace.events.size() == 200);
  CHECK(trace.report.warnings.empty());
}

TEST_CASE("cupti: another tool's library goes first, and other ranges are not taken over") {
  Folder folder;
  const std::string other = FORETRACE_FAKE_CUPTI_FOLDER "/libcupti.so.13";
  Ran ran = folder.shell("CUDA_INJECTION64_PATH='" + other + "' " + collect_command + " -- " +
                         program + "launch");
  CAPTURE(all_of(ran));
  CHECK(ran.out == "first\ninjected: 1\n");
  CHECK(says(ran.err, "CUDA_INJECTION64_PATH names " + other + ", which loads first"));
  CHECK(read_only_file(ran).events.size() == 200);
  ran = folder.shell("NVTX_INJECTION64_PATH='" + other + "' " + collect_command + " --nvtx -- " +
                     program + "launch");
  CHECK(ran.code == 125);
  CHECK(ran.out.empty());
  CHECK(says(ran.err, "collect: NVTX_INJECTION64_PATH names " + other));
}

TEST_CASE("cupti: why a process was not recorded is told where its stderr is not ours") {
  Folder folder;
  const Ran ran = folder.collect("owned", "", "sh -c \"exec " + program + " use 2>own.txt\"");
  CHECK(ran.code == 3);
  CHECK(text_of(folder.path() / "own.txt").empty());
  CHECK(says(ran.err,
             "1 process used CUDA and could not be recorded: another tool uses CUPTI in "
             "this process\n"));
  CHECK_FALSE(says(ran.err, "no process"));
  CHECK(count_of(folder.path(), ".note") == 0);
}

TEST_CASE("cupti: a collector that is missing or none is not a program without CUDA") {
  Folder folder;
  std::ofstream(folder.path() / "none.so") << "no library";
  for (const char* const library : {"/no/such/collector.so", "./none.so"}) {
    const Ran ran = folder.shell("FORETRACE_COLLECTOR=" + std::string(library) +
                                 " '" FORETRACE_PROGRAM "' collect -- sh -c 'exit 4'");
    CAPTURE(ran.err);
    CHECK(ran.code == 4);
    CHECK(says(ran.err, "collect: " + std::string(library) + " cannot be loaded into the program"));
    CHECK_FALSE(says(ran.err, "no process"));
    CHECK(std::count(ran.err.begin(), ran.err.end(), '\n') == 1);
  }
}

TEST_CASE("cupti: a name that another host gave carries that host") {
  Folder folder;
  const Ran ran = folder.collect("''", "",
                                 "sh -c \"FORETRACE_COLLECT_HOST=elsewhere " + program +
                                     " launch; exec " + program + " launch\"");
  REQUIRE(ran.files.size() == 2);
  CHECK(std::count_if(ran.files.begin(), ran.files.end(), [](const std::string& file) {
          return says(file, "." + host_name() + ".");
        }) == 1);
}

}  // namespace
}  // namespace foretrace::trace::collector
#endif
