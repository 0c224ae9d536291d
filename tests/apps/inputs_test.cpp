// What the program takes as its traces beside single files: archives, manifests, recordings of
// several processes, pipes.
#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/core/hidden_text.h"
#include "tests/apps/support/program.h"
#include "tests/trace/tar_text.h"

namespace foretrace::test {
namespace {

using nlohmann::json;

const std::string job = "tests/fixtures/job/";
const std::string several = "tests/fixtures/nsys_sqlite/tiny.sqlite";

std::string bytes_of(const std::string& path) {
  std::ifstream file(std::string(FORETRACE_SOURCE_DIR "/") + path, std::ios::binary);
  REQUIRE(file.good());
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string write(const std::string& name, const std::string& text) {
  std::string path = scratch_file(name);
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

json document_of(const std::string& arguments) {
  const Ran ran = run_program(arguments + " --json --log-level error");
  CAPTURE(arguments);
  CAPTURE(ran.err);
  REQUIRE(ran.code == 0);
  return json::parse(ran.out);
}

}  // namespace

TEST_CASE("inputs: an archive of ranks is inspected rank by rank and simulated as a job") {
  const std::string tar =
      write("ranks.tar", tar_file("rank1.json.gz", bytes_of(job + "rank1.json.gz")) +
                             tar_file("rank0.json.gz", bytes_of(job + "rank0.json.gz")) +
                             std::string(1024, '\0'));
  const json inspected = document_of("inspect '" + tar + "'");
  REQUIRE(inspected["traces"].size() == 2);
  CHECK(inspected["traces"][0]["input"]["path"] == tar + ":rank0.json.gz");
  const json alone = document_of("inspect " + job + "rank0.json.gz");
  CHECK(inspected["traces"][0]["graph"] == alone["traces"][0]["graph"]);
  CHECK(document_of("simulate '" + tar + "'")["ranks"].size() == 2);
  // One trace in an archive is that trace.
  const std::string one =
      write("one.tar", tar_file("r.json.gz", bytes_of(demo_trace)) + std::string(1024, '\0'));
  CHECK(document_of("simulate '" + one + "'")["baseline"] ==
        document_of(std::string("simulate ") + demo_trace)["baseline"]);
}

TEST_CASE("inputs: small files that unpack to a lot end in one line") {
  if (run_program("--version").out.find("without libarchive") != std::string::npos) {
    MESSAGE("skipped: the build has no libarchive");
    return;
  }
  for (const std::string name : {"blanks.json.zst", "blanks.zip"}) {
    const std::string file = "tests/fixtures/archives/" + name;
    REQUIRE(bytes_of(file).size() < 4096);
    const Ran refused = run_program("inspect " + file);
    CHECK(refused.code == 2);
    CHECK(refused.err.starts_with("foretrace: " + file + ": "));
    CHECK(refused.err.ends_with(" expected at most 1000 for each\n"));
    CHECK(refused.err.find('\n') == refused.err.size() - 1);
  }
}

TEST_CASE("inputs: an execution trace in an archive is what it is alone") {
  const std::string nodes = bytes_of("tests/fixtures/pytorch_et/schema_1.0.1.json");
  const std::string end(1024, '\0');
  const std::string one = write("et.tar", tar_file("et_0.json", nodes) + end);
  const json inspected = document_of("inspect '" + one + "'");
  const json alone = document_of("inspect tests/fixtures/pytorch_et/schema_1.0.1.json");
  CHECK(inspected["traces"][0]["nodes"] == alone["traces"][0]["nodes"]);
  CHECK(run_program("simulate '" + one + "'").err ==
        "foretrace: " + one + ":et_0.json: " + alone["traces"][0]["no_graph"].get<std::string>() +
            "; 'inspect --memory' and 'whatif' take its tensors alone\n");
  const std::string two =
      write("ets.tar", tar_file("et_0.json", nodes) + tar_file("et_1.json", nodes) + end);
  CHECK(document_of("inspect '" + two + "'")["traces"].size() == 2);
  const Ran refused = run_program("simulate '" + two + "'");
  CHECK(refused.code == 2);
  CHECK(refused.err.find("et_0.json: pytorch_et has no times to align ranks, and 2 such traces") !=
        std::string::npos);
}

TEST_CASE("inputs: a manifest stands for the recordings it lists") {
  for (const char* rank : {"rank0.json.gz", "rank1.json.gz"}) {
    write(rank, bytes_of(job + rank));
  }
  const std::string list =
      write("run.ftr.json",
            R"({"foretrace": "collect", "command": ["x"], "exit_code": 0, "signal": null, "files": [
          {"path": "rank1.json.gz", "bytes": 1, "rank": 1},
          {"path": "gone.ftr", "bytes": 1, "rank": 2},
          {"path": "rank0.json.gz", "bytes": 1, "rank": 0}]})");
  CHECK(document_of("simulate '" + list + "'")["baseline"] ==
        document_of("simulate " + job + "rank0.json.gz " + job + "rank1.json.gz")["baseline"]);
  CHECK(document_of("inspect '" + list + "'")["traces"].size() == 2);
  for (const char* command : {"simulate '", "inspect '"}) {
    const Ran ran = run_program(command + list + "'");
    CHECK(ran.code == 0);
    CHECK(ran.err.rfind(
              "foretrace: warning: " + list +
                  ": lists gone.ftr, which is missing; the other recordings are used without it\n",
              0) == 0);
  }
  const std::string broken = write("broken.json", R"({"foretrace": "collect", "files": [)");
  const Ran refused = run_program("inspect '" + broken + "'");
  CHECK(refused.code == 2);
  CHECK(refused.err.find("broken.json: the list of recordings cannot be read: ") !=
        std::string::npos);
  CHECK(std::count(refused.err.begin(), refused.err.end(), '\n') == 1);
  // Where a single trace is expected, it says what it is.
  CHECK(run_program("convert '" + list + "' '" + scratch_file("x.ftr") + "'")
            .err.find("looks like the list of recordings that foretrace collect writes") !=
        std::string::npos);
  // One recording is simulated as itself.
  const std::string one =
      write("one.json", R"({"foretrace": "collect", "files": [{"path": "rank0.json.gz"}]})");
  CHECK(document_of("simulate '" + one + "'")["baseline"] ==
        document_of("simulate " + job + "rank0.json.gz")["baseline"]);
}

TEST_CASE("inputs: the processes of one recording are the ranks of a job") {
  const json inspected = document_of("inspect " + several);
  REQUIRE(inspected["traces"].size() == 2);
  std::uint64_t events = 0;
  for (std::size_t rank = 0; rank < 2; ++rank) {
    const json& trace = inspected["traces"][rank];
    CHECK(trace["input"]["path"] == several + " (rank " + std::to_string(rank) + ")");
    CHECK(trace["input"]["rank"] == rank);
    events += trace["import"]["events"].get<std::uint64_t>();
  }
  const json simulated = document_of("simulate " + several);
  CHECK(simulated["ranks"].size() == 2);
  CHECK(simulated["import"]["events"] == events);  // each is counted once
}

TEST_CASE("inputs: a trace comes through a pipe as well as from a file") {
  const json from_file = document_of(std::string("simulate ") + demo_trace);
  const json from_pipe = document_of(std::string("list >/dev/null; cat ") + demo_trace +
                                     " | '" FORETRACE_PROGRAM "' simulate /dev/stdin");
  CHECK(from_pipe["baseline"] == from_file["baseline"]);
}

TEST_CASE("inputs: pages of what cannot be simulated fit their columns and say why") {
  const Ran ran = run_program("inspect tests/fixtures/pytorch_et/schema_1.0.1.json");
  CHECK(first_bad_line(ran.out).empty());
  CHECK(ran.out.find("  graph     none: 4 nodes and no durations") != std::string::npos);
  CHECK(ran.out.rfind("schema_1.0.1.json: ", 0) == 0);
}

TEST_CASE("inputs: a what-if takes machines of other simulators, as scenarios do") {
  const std::string command = std::string("whatif ") + demo_trace + " --parallel data=4 --cluster ";
  const Ran chips = run_program(command + "examples/recipes/imports/chips.json");
  CHECK(chips.code == 0);
  CHECK(chips.out.find("4 data-parallel ranks") != std::string::npos);
  const std::string file = write("no_machine.json", R"({"nodes": 4})");
  const Ran other = run_program(command + "'" + file + "'");
  CHECK(other.code == 2);
  CHECK(other.err.find("is not a description of a machine, expected one that names the schema "
                       "foretrace.cluster/1") != std::string::npos);
}

TEST_CASE("inputs: of tensors without times no question of time is answered") {
  const std::string command = "whatif tests/fixtures/pytorch_et/training_steps.json ";
  // A ranking is the answer where no option asks for anything else.
  for (const auto& [question, name] :
       {std::pair{"", "ranking"}, {"--rank-all", "ranking"}, {"--search", "--search"}}) {
    const Ran ran = run_program(command + question);
    CHECK(ran.code == 2);
    CHECK(ran.err.find(std::string(name) +
                       ": the recording has tensors, but no work and no times, expected --by "
                       "memory\n") != std::string::npos);
  }
  CHECK(run_program(command + "--search --by memory").code != 2);
}

TEST_CASE("inputs: of a side that was not recorded nothing is expected, not zero") {
  const std::string kernels = write("kernels.json", R"({"schemaVersion": 1, "traceEvents": [
      {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 0, "dur": 5000,
       "args": {"device": 0, "stream": 7, "correlation": 1}},
      {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 6000, "dur": 5000,
       "args": {"device": 0, "stream": 7, "correlation": 2}}]})");
  const Ran ran = run_program("simulate '" + kernels + "' --details");
  REQUIRE(ran.code == 0);
  const std::size_t row = ran.out.find("  an infinitely fast GPU");
  REQUIRE(row != std::string::npos);
  const std::string line = ran.out.substr(row, ran.out.find('\n', row) - row);
  CHECK(line.find('%') == std::string::npos);
  CHECK(line.back() == '-');
}

TEST_CASE("inputs: what nobody sees in a name reaches no output, whatever writes it") {
  // DEL, what begins an escape sequence, right to left, no width, a byte order mark, a tag.
  const std::string bad = "k\x7F\xC2\x9B[31m\xE2\x80\xAEX\xE2\x80\x8B\xEF\xBB\xBF\xF3\xA0\x81\x81";
  std::string events;
  for (int i = 0; i < 6; ++i) {
    events += fmt::format(
        R"({{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","ts":{0},"dur":5,"pid":1,"tid":1,"args":{{"correlation":{1}}}}},)"
        R"({{"ph":"X","cat":"kernel","name":"gemm{2}","ts":{3},"dur":20,"pid":0,"tid":7,"args":{{"correlation":{1},"device":0,"stream":7}}}},)",
        100 * i, i + 1, bad, 100 * i + 10);
  }
  const std::string trace = scratch_file("hidden.json");
  std::ofstream(trace) << R"({"schemaVersion":1,"deviceProperties":[{"id":0,"name":"NVIDIA A100)"
                       << bad << R"("}],"traceEvents":[)" << events
                       << R"({"ph":"M","name":"thread_name","pid":1,"tid":1,"args":{"name":"t)"
                       << bad << R"("}}]})";
  for (const std::string& command :
       {"inspect " + trace, "inspect " + trace + " --json", "inspect " + trace + " --csv",
        "simulate " + trace + " --timeline /dev/stdout", "critical-path " + trace,
        "compare " + trace + " " + trace + " --csv", "report " + trace + " -o /dev/stdout",
        "convert " + trace + " /dev/stdout --to kineto_json",
        "whatif " + trace + " --apply \"scale:select='name~gemm',factor=0.5\" --svg /dev/stdout",
        "whatif " + trace + " --apply mixed_precision"}) {
    CAPTURE(command);
    const Ran ran = run_program(command);
    CHECK(ran.out.size() + ran.err.size() > 40);
    for (const std::string& text : {ran.out, ran.err}) {
      for (std::size_t at = 0; at < text.size(); ++at) {
        const bool shown = hidden_length(std::string_view(text).substr(at)) == 0;
        CHECK(shown);
        if (!shown) break;
      }
    }
  }
}

}  // namespace foretrace::test
