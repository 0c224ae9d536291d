// What reaches a terminal: an error changes no exit code where it cannot be told, and names that
// anybody may have made are only text.
#include "apps/cli/output/console.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <doctest/doctest.h>

#include "tests/apps/support/program.h"

namespace foretrace::test {
namespace {

const std::string demo = demo_trace;

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// No bytes that a terminal may take as a command, or that turn the direction of what follows.
bool is_plain(const std::string& text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool is_c1 =
        byte == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0;
    if ((byte < 0x20 && byte != '\n') || byte == 0x7F || is_c1) {
      return false;
    }
  }
  return text.find("\u202E") == std::string::npos;
}

TEST_CASE("console: an unwritable stderr changes no exit code") {
  const std::string cut = scratch_file("cut.json.gz");
  std::ofstream(cut, std::ios::binary) << text_of(FORETRACE_SOURCE_DIR "/" + demo).substr(0, 60000);
  struct Case {
    std::string arguments;
    int code;
  };
  for (const Case& one :
       {Case{"list", 0},
        {"", 0},
        {"simulte", 2},
        {"simulate no_such_file", 2},
        {"simulate " + demo, 0},
        {"inspect " + cut, 0},  // with warnings
        {"whatif " + demo + " --apply \"scale:select='name=nothing',factor=2\"", 1},
        {"convert " + demo + " /no/such/folder/x.json", 2},
        {"validate --data /no/such/folder", 2},
        {"explain nothing_like_it", 2},
        {"list > /dev/full", 2}}) {
    for (const char* const where : {" 2>/dev/null", " 2>/dev/full", " 2>&-"}) {
      CAPTURE(one.arguments + where);
      CHECK(run_program(one.arguments + where).code == one.code);
    }
  }
}

TEST_CASE("console: closed streams are not taken by the files that are written") {
  const std::string usual = scratch_file("usual.json");
  REQUIRE(run_program("simulate " + demo + " --timeline '" + usual + "'").code == 0);
  const std::string file = scratch_file("with_closed_streams.json");
  CHECK(run_program("simulate " + demo + " --timeline '" + file + "' <&- 2>&-").code == 0);
  CHECK(text_of(file) == text_of(usual));
  std::filesystem::remove(file);
  CHECK(run_program("simulate " + demo + " --timeline '" + file + "' <&- >&- 2>&-").code == 2);
  CHECK(text_of(file) == text_of(usual));
}

TEST_CASE("console: names with escape sequences reach neither stdout nor stderr as such") {
  const std::string trace = scratch_file("hostile.json");
  // ESC, BEL, U+009B (CSI in one character), a line feed, DEL, an override of the direction and a
  // byte that is no UTF-8.
  const std::string evil = "\\u001b[31m\\u0007\\u009b2J\\n\\u007f\\u202e\xFF";
  std::ofstream(trace, std::ios::binary)
      << R"({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": ")" << evil
      << R"("}], "traceEvents": [
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 10, "dur": 5,
 "args": {"correlation": 1}},
{"ph": "X", "cat": "kernel", "name": "k)"
      << evil << R"(", "pid": 0, "tid": 7, "ts": 20, "dur": 900, "args": {"device": 0, "stream": 7,
 "correlation": 1}},
{"ph": "X", "cat": "kernel", "name": "k2", "pid": 0, "tid": 7, "ts": -20, "dur": -9}]})";
  for (const std::string command :
       {"inspect ", "simulate ", "critical-path ", "simulate --json ", "inspect --json ",
        "whatif --apply scale:factor=0.5,select=kind=kernel ", "whatif --rank-all "}) {
    const Ran ran = run_program(command + trace);
    CAPTURE(command);
    CAPTURE(ran.err);
    CHECK(is_plain(ran.out));
    CHECK(is_plain(ran.err));
  }
  const Ran ran = run_program("simulate '" + scratch_file("\033[31m\xFF\nno_such_file") + "'");
  CHECK(ran.code == 2);
  CHECK(is_plain(ran.err));
  CHECK(std::count(ran.err.begin(), ran.err.end(), '\n') == 1);
}

TEST_CASE("console: a message is one line of at most 4 KB") {
  const Ran ran = run_program("simulate " + std::string(60'000, 'x'));
  CHECK(ran.code == 2);
  CHECK(ran.err.size() <= 4096);
  CHECK(std::count(ran.err.begin(), ran.err.end(), '\n') == 1);
}

}  // namespace
}  // namespace foretrace::test
