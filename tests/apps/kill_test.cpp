// Commands that are killed while they write: the old file is there or the new one, never half of
// one. FORETRACE_KILLS says how often; `make test` tries a few.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/apps/support/program.h"

namespace foretrace::test {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

int kills() {
  const char* const given = std::getenv("FORETRACE_KILLS");  // NOLINT(concurrency-mt-unsafe)
  const int count = given == nullptr ? 0 : std::atoi(given);
  return count > 0 ? count : 20;
}

/// Starts the program without a shell, so that a kill meets it.
pid_t start(const std::vector<std::string>& arguments) {
  std::vector<char*> words;
  words.reserve(arguments.size() + 1);
  for (const std::string& word : arguments) {
    words.push_back(const_cast<char*>(word.c_str()));
  }
  words.push_back(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    const int null = ::open("/dev/null", O_RDWR);
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
      ::dup2(null, stream);
    }
    ::execv(words.front(), words.data());
    ::_exit(127);
  }
  return child;
}

/// Its exit code; 128 and more: it was ended by a signal.
int wait_for(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// Kills the program within the time that it takes; true if it was still there.
bool kill_within(const std::vector<std::string>& arguments, microseconds time, double share) {
  const pid_t child = start(arguments);
  std::this_thread::sleep_for(
      microseconds(static_cast<std::int64_t>(static_cast<double>(time.count()) * share)));
  ::kill(child, SIGKILL);
  return wait_for(child) == 128 + SIGKILL;
}

struct Writer {
  std::string name;
  std::vector<std::string> arguments;  ///< words that are outputs begin with the folder
};

/// Every command that writes, with every option that names a file.
std::vector<Writer> writers_in(const std::string& folder) {
  const std::string demo = FORETRACE_SOURCE_DIR "/" + std::string(demo_trace);
  const std::string memory =
      FORETRACE_SOURCE_DIR "/examples/traces/demo_generated_cnn_memory.json.gz";
  const std::string table = FORETRACE_SOURCE_DIR "/tests/fixtures/operators/made_up_gemm.json";
  const std::string jobs = FORETRACE_SOURCE_DIR "/examples/recipes/schedule/heterogeneous.json";
  const std::string scenario = FORETRACE_SOURCE_DIR "/examples/recipes/many_devices/run_on_8.json";
  const std::string sweep = FORETRACE_SOURCE_DIR "/examples/recipes/sweeps/gpt3_512.json";
  const auto in = [&](const char* name) { return folder + "/" + name; };
  return {{"json", {"convert", demo, in("a.json")}},
          {"packed", {"convert", demo, in("a.json.gz")}},
          {"ftr", {"convert", demo, in("a.ftr")}},
          {"scrubbed", {"convert", demo, "--scrub", in("b.ftr")}},
          {"simulate", {"simulate", demo, "--timeline", in("a.json"), "--svg", in("a.svg")}},
          {"memory", {"simulate", memory, "--memory-svg", in("b.svg")}},
          {"scenario", {"simulate", scenario, "--timeline", in("b.json")}},
          {"whatif",
           {"whatif", demo, "--apply", "mixed_precision", "--timeline", in("c.json"), "--svg",
            in("c.svg")}},
          {"calibrate", {"calibrate", table, "--accelerator", "a100_sxm_80gb", "-o", in("d.json")}},
          {"page", {"report", demo, "--top", "1", "-o", in("a.html")}},
          {"schedule",
           {"schedule", jobs, "--policy", "fifo", "--jobs", in("a.csv"), "--events", in("b.csv"),
            "--timeline", in("e.json"), "--svg", in("d.svg")}},
          {"sweep's picture", {"sweep", sweep, "-o", folder + "_store", "--svg", in("e.svg")}}};
}

/// Its files in the folder.
std::vector<std::string> outputs_of(const Writer& writer, const std::string& folder) {
  std::vector<std::string> outputs;
  std::copy_if(writer.arguments.begin(), writer.arguments.end(), std::back_inserter(outputs),
               [&](const std::string& word) { return word.starts_with(folder + "/"); });
  return outputs;
}

TEST_CASE("files: a command that is killed leaves the old files or the new ones") {
  const std::string folder = scratch_file("kill");
  fs::create_directory(folder);
  const std::vector<Writer> writers = writers_in(folder);
  std::mt19937 random(1);
  int killed = 0;
  const int each =
      (kills() + static_cast<int>(writers.size()) - 1) / static_cast<int>(writers.size());
  for (const Writer& writer : writers) {
    CAPTURE(writer.name);
    std::vector<std::string> words = {FORETRACE_PROGRAM};
    words.insert(words.end(), writer.arguments.begin(), writer.arguments.end());
    const std::vector<std::string> outputs = outputs_of(writer, folder);
    REQUIRE_FALSE(outputs.empty());
    REQUIRE(wait_for(start(words)) == 0);
    const auto begin = Clock::now();
    REQUIRE(wait_for(start(words)) == 0);  // as later: a sweep finds its points
    const auto time = std::chrono::duration_cast<microseconds>(Clock::now() - begin);
    std::vector<std::string> whole;
    for (const std::string& output : outputs) {
      whole.push_back(text_of(output));
      REQUIRE(whole.back().size() > 100);
    }
    int met = 0;  // some programs have ended by the time
    for (int i = 0; met < each && i < 4 * each; ++i) {
      for (const std::string& output : outputs) {
        std::ofstream(output, std::ios::binary) << "old and good";
      }
      // Mostly near the end, where files are written.
      const double share = std::uniform_real_distribution<>(i % 4 == 0 ? 0.0 : 0.6, 1.05)(random);
      met += kill_within(words, time, share) ? 1 : 0;
      for (std::size_t file = 0; file < outputs.size(); ++file) {
        CAPTURE(outputs[file]);
        const std::string text = text_of(outputs[file]);
        CHECK((text == "old and good" || text == whole[file]));
      }
    }
    killed += met;
  }
  CHECK(killed > 0);
  MESSAGE("killed " << killed << " of " << each * static_cast<int>(writers.size()));
}

TEST_CASE("sweep: killed again and again, it loses nothing and ends with the same bytes") {
  const std::string folder = scratch_file("kill_sweep");
  const std::string whole = scratch_file("whole_sweep");
  const std::string file = FORETRACE_SOURCE_DIR "/examples/recipes/sweeps/gpt3_512.json";
  const std::string program = FORETRACE_PROGRAM;
  const auto begin = Clock::now();
  REQUIRE(wait_for(start({program, "sweep", file, "-o", whole})) == 0);
  const auto time = std::chrono::duration_cast<microseconds>(Clock::now() - begin);
  const auto lines = [](const std::string& of) {
    return run_program("sweep " + of + " --show --csv").out;
  };
  const std::string expected = lines(whole);
  std::set<std::string> expected_rows;
  std::istringstream all(expected);
  for (std::string row; std::getline(all, row);) expected_rows.insert(row);
  REQUIRE(expected_rows.size() > 10000);
  std::mt19937 random(3);
  int killed = 0;
  bool met = true;
  for (int i = 0; killed < kills() && i < 4 * kills(); ++i) {
    // Else most kills would meet a store that is full.
    if (killed % 4 == 3 || !met) fs::remove_all(folder);
    const double share = std::uniform_real_distribution<>(0.0, 0.9)(random);
    met = kill_within({program, "sweep", file, "-o", folder}, time, share);
    killed += met ? 1 : 0;
    // Whatever is there is right, and is there once.
    if (!fs::exists(folder + "/sweep.db") || run_program("sweep " + folder + " --show").code > 1) {
      continue;
    }
    std::istringstream rows(lines(folder));
    for (std::string row; std::getline(rows, row);) {
      if (!expected_rows.contains(row)) {
        FAIL_CHECK("a row that an uninterrupted run does not have: " << row);
        break;
      }
    }
  }
  CHECK(killed > 0);
  MESSAGE("killed " << killed << " of " << kills());
  REQUIRE(wait_for(start({program, "sweep", file, "-o", folder})) == 0);
  CHECK(lines(folder) == expected);
}

TEST_CASE("files: a collect that is killed loses neither the old recording nor the new one") {
  const std::string folder = scratch_file("kill_collect");
  fs::create_directory(folder);
  const std::string magic =
      "\x89"
      "FTR\r\n\x1a\n";
  const std::string out = folder + "/run.ftr";
  // The program writes its recording in two pieces, as the collector's library would.
  const std::string script =
      R"(f=$FORETRACE_COLLECT_FILE.$$.ftr; printf '\211FTR\r\n\032\n' > $f; printf new >> $f)";
  const std::vector<std::string> arguments = {FORETRACE_PROGRAM, "collect", "-o",  out, "--",
                                              "/bin/sh",         "-c",      script};
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing else runs
  ::setenv("FORETRACE_COLLECTOR", FORETRACE_EMPTY_COLLECTOR, 1);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);  // what collect leaves behind becomes ours to wait for
  const auto begin = Clock::now();
  REQUIRE(wait_for(start(arguments)) == 0);
  const auto time = std::chrono::duration_cast<microseconds>(Clock::now() - begin);
  REQUIRE(text_of(out) == magic + "new");
  const std::string old_list = R"({"foretrace": "collect", "files": [{"path": "old"}]})";
  std::mt19937 random(2);
  int killed = 0;
  for (int i = 0; killed < kills() && i < 4 * kills(); ++i) {
    for (const auto& entry : fs::directory_iterator(folder)) {
      fs::remove(entry.path());
    }
    std::ofstream(out, std::ios::binary) << magic << "old";
    std::ofstream(out + ".json") << old_list;
    killed +=
        kill_within(arguments, time, std::uniform_real_distribution<>(0.0, 1.05)(random)) ? 1 : 0;
    while (::waitpid(-1, nullptr, 0) > 0) {  // the program itself, which goes on
    }
    const bool is_new = text_of(out) == magic + "new";
    CHECK((is_new || text_of(out) == magic + "old"));
    const std::string list = text_of(out + ".json");
    CHECK((list == old_list || nlohmann::json::parse(list)["files"][0]["path"] == "run.ftr"));
    for (const auto& entry : fs::directory_iterator(folder)) {
      const std::string name = entry.path().filename().string();
      if (name.ends_with(".ftr") && name != "run.ftr") {
        CHECK(text_of(entry.path()) == magic + "new");
        CHECK_FALSE(is_new);
      }
    }
  }
  CHECK(killed > 0);
  MESSAGE("killed " << killed << " of " << kills());
  ::prctl(PR_SET_CHILD_SUBREAPER, 0);
  ::unsetenv("FORETRACE_COLLECTOR");  // NOLINT(concurrency-mt-unsafe)
}

}  // namespace
}  // namespace foretrace::test
