#include "tests/apps/support/program.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include <sys/wait.h>
#include <unistd.h>

namespace foretrace::test {
namespace {

/// One folder per test process, removed at its end.
class Scratch {
 public:
  Scratch() {
    path_ = std::filesystem::temp_directory_path() /
            ("foretrace_apps_tests_" + std::to_string(getpid()));
    std::filesystem::create_directories(path_);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

std::string scratch_file(const std::string& name) {
  static const Scratch scratch;
  return scratch.file(name);
}

Ran run_program(const std::string& arguments, const std::string& variables) {
  const std::string out = scratch_file("stdout");
  const std::string err = scratch_file("stderr");
  // A folder of our own for the user's defaults: whoever runs the tests may have some, and a width.
  const std::string line = "cd '" FORETRACE_SOURCE_DIR
                           "' && unset COLUMNS && export FORETRACE_CONFIGS='" FORETRACE_SOURCE_DIR
                           "/configs' XDG_CONFIG_HOME='" +
                           scratch_file("config") + "' " + variables +
                           " && { '" FORETRACE_PROGRAM "' " + arguments + "\n} >'" + out + "' 2>'" +
                           err + "' </dev/null";
  // NOLINTNEXTLINE(cert-env33-c,concurrency-mt-unsafe): the shell is what a user types into
  const int status = std::system(line.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128, text_of(out), text_of(err)};
}

std::string first_bad_line(const std::string& text, std::int64_t width) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const auto length = std::count_if(line.begin(), line.end(), [](char c) {
      return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
    });
    if (length > width || (!line.empty() && line.back() == ' ')) {
      return line;
    }
  }
  return "";
}

}  // namespace foretrace::test
