#include "apps/questions/validate/folders.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include "tests/apps/support/program.h"

namespace foretrace {
namespace {

namespace fs = std::filesystem;

struct Folder {
  explicit Folder(std::string_view name) : path(fs::temp_directory_path() / name) {
    fs::remove_all(path);
    fs::create_directories(path);
  }
  ~Folder() { fs::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  fs::path path;
};

TEST_CASE("validate: a folder without recordings is bad input, said in one line") {
  const Folder folder("foretrace_no_recordings");
  const std::string path = folder.path.string();
  const auto refused = [&] {
    const Status status = check_folder(path);
    REQUIRE_FALSE(status.ok());
    return status.error().message;
  };
  CHECK(refused() == path + ": no files in or below this folder");
  fs::create_symlink("/nowhere/b.json.gz", folder.path / "b.json.gz");
  fs::create_symlink("/nowhere/a.json.gz", folder.path / "a.json.gz");
  CHECK(refused() ==
        path + ": no files in or below this folder; 2 links in it lead nowhere, such as a.json.gz");
  for (const char* question : {"--data", "--what-ifs --data", "--jobs --data", "--formats --data",
                               "--ablate all --data"}) {
    CAPTURE(question);
    const test::Ran ran =
        test::run_program("validate " + std::string(question) + " '" + path + "'");
    CHECK(ran.code == 2);
    CHECK(std::count(ran.err.begin(), ran.err.end(), '\n') == 1);
    CHECK(ran.out.empty());
  }
  std::ofstream(folder.path / "c.json") << "{}";
  CHECK(check_folder(path).ok());
  CHECK_FALSE(check_folder(path + "/c.json").ok());
  CHECK_FALSE(check_folder(path + "/gone").ok());
}

}  // namespace
}  // namespace foretrace
