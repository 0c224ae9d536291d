// Programs under `foretrace collect`, with a stand-in for CUPTI that needs no device.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace/collect/settings.h"
#include "trace/formats/reader.h"

namespace foretrace::trace::collector {

namespace fs = std::filesystem;

struct Ran {
  int code = 0;
  std::string out;
  std::string err;
  std::vector<std::string> files;  ///< recordings, by name
};

inline std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// collect with the stand-in for CUPTI; without the leak check of a sanitizer, which needs a thread
/// and the locks of its allocator where a program forks or may have none.
inline const std::string collect_command =
    "ASAN_OPTIONS=detect_leaks=0 FORETRACE_COLLECTOR='" FORETRACE_COLLECTOR_LIBRARY
    "' LD_LIBRARY_PATH='" FORETRACE_FAKE_CUPTI_FOLDER "' '" FORETRACE_PROGRAM "' collect";

/// A folder for one run.
class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / ("foretrace_inject_" + std::to_string(::getpid()))) {
    fs::remove_all(path_);
    fs::create_directories(path_);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }

  Ran collect(const std::string& behaviour, const std::string& options, const std::string& what) {
    return shell("FAKE_CUPTI=" + behaviour + " " + collect_command + " -o run.ftr " + options +
                 " -- " + what);
  }

  /// A line of the shell, in the folder.
  Ran shell(const std::string& line) {
    const std::string whole =
        "cd '" + path_.string() + "' && { " + line + "\n} >out 2>err </dev/null";
    const int status = std::system(whole.c_str());  // NOLINT(concurrency-mt-unsafe)
    Ran ran{WIFEXITED(status) ? WEXITSTATUS(status) : 128,
            text_of(path_ / "out"),
            text_of(path_ / "err"),
            {}};
    for (const auto& entry : fs::directory_iterator(path_)) {
      if (entry.path().extension() == ".ftr") {
        ran.files.push_back(entry.path().string());
      }
    }
    std::sort(ran.files.begin(), ran.files.end());
    return ran;
  }

  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

inline const std::string program = "'" FORETRACE_FAKE_PROGRAM "' ";

inline LoadedTrace read_only_file(const Ran& ran) {
  CAPTURE(ran.err);
  CAPTURE(ran.out);
  REQUIRE(ran.files.size() == 1);
  auto loaded = read_trace(ran.files.front(), {});
  REQUIRE_MESSAGE(loaded.ok(), loaded.error().message);
  return std::move(loaded).value();
}

inline std::string fact(const LoadedTrace& trace, const std::string& key) {
  for (const auto& [known, value] : trace.events.info.environment) {
    if (known == key) {
      return value;
    }
  }
  return {};
}

}  // namespace foretrace::trace::collector
