#include "models/hardware/catalogue/catalogue.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <doctest/doctest.h>

#include "tests/configs.h"

namespace foretrace {
namespace {

namespace fs = std::filesystem;

/// A folder of configs of its own, with one accelerator.
class Folder {
 public:
  Folder() {
    fs::create_directories(path_ / "accelerators");
    fs::copy_file(FORETRACE_SOURCE_DIR "/configs/accelerators/t4.json", file("t4"),
                  fs::copy_options::overwrite_existing);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { fs::remove_all(path_); }

  [[nodiscard]] std::string path() const { return path_.string(); }
  [[nodiscard]] std::string file(const std::string& name) const {
    return (path_ / "accelerators" / (name + ".json")).string();
  }

 private:
  fs::path path_ = fs::temp_directory_path() / "foretrace_catalogue_test";
};

}  // namespace

TEST_CASE("catalogue: what it read stays, whatever becomes of the files") {
  const Folder folder;
  const auto read = Catalogue::read(folder.path());
  REQUIRE_MESSAGE(read.ok(), read.error().message);
  fs::remove(folder.file("t4"));
  REQUIRE(read->accelerator("t4").ok());
  CHECK((*read->accelerator("t4"))->product == "NVIDIA T4");
  CHECK(read->accelerator_names() == std::vector<std::string>{"t4"});
  CHECK((*read->accelerator("t4"))->memory.name.empty());  // no profile is there
}

TEST_CASE("catalogue: a broken file is an error that names it, not a device fewer") {
  const Folder folder;
  std::ofstream(folder.file("zzz")) << R"({"schema": "foretrace.accelerator/1", "product": 5})";
  const auto read = Catalogue::read(folder.path());
  REQUIRE_FALSE(read.ok());
  CHECK(read.error().message.find("zzz.json: /product: got the number 5") != std::string::npos);
}

TEST_CASE("catalogue: a file of the user's is known by its path once it was added") {
  const Folder folder;
  Catalogue known = *test::shipped();
  CHECK_FALSE(known.accelerator(folder.file("t4")).ok());
  REQUIRE(known.add_file("accelerators", folder.file("t4")).ok());
  CHECK((*known.accelerator(folder.file("t4")))->product == "NVIDIA T4");
  CHECK_FALSE(known.add_file("accelerators", folder.file("none")).ok());
  CHECK_FALSE(known.add_file("kernel_tables", folder.file("t4")).ok());
}

TEST_CASE("catalogue: one that knows nothing recognizes nothing") {
  CHECK(no_catalogue().accelerators().empty());
  CHECK(no_catalogue().accelerator_of_device("NVIDIA H100 80GB HBM3", 0) == nullptr);
  CHECK_FALSE(no_catalogue().document({"kernel table", "kernel_tables"}, "example").ok());
}

}  // namespace foretrace
