// foretrace convert as a user meets it.
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "tests/apps/support/program.h"

namespace foretrace::test {
namespace {

const std::string demo = demo_trace;

/// A page without the lines that name the file and its size.
std::string rest_of_page(const std::string& page) {
  std::string rest;
  for (std::size_t at = 0; at < page.size();) {
    const std::size_t end = page.find('\n', at);
    const std::string line = page.substr(at, end - at);
    rest += line.find(" MB") == std::string::npos && line.find("demo") == std::string::npos &&
                    line.find("converted") == std::string::npos
                ? line + "\n"
                : "";
    at = end + 1;
  }
  return rest;
}

TEST_CASE("convert leaves what inspect and simulate say, as JSON and in our own format") {
  for (const auto& written : {std::pair{"converted.json.gz", "kineto_json"},
                              {"converted.ftr", "ftr"},
                              {"converted.ftr.gz", "ftr"}}) {
    const auto& [name, format] = written;
    CAPTURE(written.first);
    const std::string file = scratch_file(name);
    const Ran ran = run_program("convert " + demo + " '" + file + "'");
    CHECK(ran.code == 0);
    CHECK(ran.err.empty());
    CHECK(ran.out.rfind("wrote " + file + " (" + format + ", ", 0) == 0);
    CHECK(rest_of_page(run_program("simulate '" + file + "'").out) ==
          rest_of_page(run_program("simulate " + demo).out));
    if (format != std::string_view("kineto_json")) continue;
    CHECK(rest_of_page(run_program("inspect '" + file + "'").out) ==
          rest_of_page(run_program("inspect " + demo).out));
  }
}

TEST_CASE("convert says as JSON what it wrote and what it left out") {
  const std::string file = scratch_file("converted.dat");
  const Ran ran =
      run_program("convert " + demo + " '" + file + "' --to kineto_json --scrub --json");
  CHECK(ran.code == 0);
  const auto document = nlohmann::json::parse(ran.out);
  CHECK(document["format"] == "kineto_json");
  CHECK(document["bytes"] == std::filesystem::file_size(file));
  CHECK(document["entries"] > 1000);
  CHECK(document["left_out"].empty());
}

TEST_CASE("convert refuses a name without a format, an unknown one, and its own input") {
  const Ran no_format = run_program("convert " + demo + " x.dat");
  CHECK(no_format.code == 2);
  CHECK(no_format.err.rfind(
            "foretrace: convert: x.dat: the suffix is of no format to write, expected one of: ",
            0) == 0);
  const Ran unknown = run_program("convert " + demo + " x.dat --to kineto_jso");
  CHECK(unknown.err.find("did you mean 'kineto_json'?") != std::string::npos);
  const std::string copy = scratch_file("own.json.gz");
  std::filesystem::copy_file(FORETRACE_SOURCE_DIR "/" + demo, copy);
  const Ran own = run_program("convert '" + copy + "' '" + copy + "'");
  CHECK(own.code == 2);
  CHECK(own.err.find("it is an input, too") != std::string::npos);
  CHECK(std::filesystem::file_size(copy) ==
        std::filesystem::file_size(FORETRACE_SOURCE_DIR "/" + demo));
}

TEST_CASE("convert leaves no half a file behind") {
  const std::string file = scratch_file("half.json");
  const Ran ran =
      run_program("list >/dev/null; ulimit -f 1; trap '' XFSZ; " FORETRACE_PROGRAM " convert " +
                  demo + " '" + file + "'");
  CHECK(ran.code == 2);
  CHECK_FALSE(std::filesystem::exists(file));
  CHECK(run_program("convert no_such_file.json '" + file + "'").code == 2);
  CHECK_FALSE(std::filesystem::exists(file));
}

}  // namespace
}  // namespace foretrace::test
