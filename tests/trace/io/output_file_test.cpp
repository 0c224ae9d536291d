// Files that are whole or not there, whatever happens while they are written.
#include "trace/io/output_file.h"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace foretrace::trace {
namespace {

namespace fs = std::filesystem;

struct Folder {
  fs::path path = fs::temp_directory_path() / ("foretrace_output_" + std::to_string(::getpid()));
  Folder() {
    fs::remove_all(path);
    fs::create_directories(path);
  }
  ~Folder() { fs::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] std::string file(const char* name) const { return (path / name).string(); }
  [[nodiscard]] auto files() const {
    return std::distance(fs::directory_iterator(path), fs::directory_iterator());
  }
};

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

unsigned mode_of(const std::string& path) {
  return static_cast<unsigned>(fs::status(path).permissions());
}

/// Writes it all, or says why not.
std::string put(const std::string& path, const std::string& text,
                OutputAccess access = OutputAccess::as_usual) {
  auto file = OutputFile::create(path, access);
  if (!file.ok()) {
    return file.error().message;
  }
  static_cast<void>(file->write(text));
  const Status status = file->commit();
  return status.ok() ? "" : status.error().message;
}

TEST_CASE("output file: the old file stays until the new one is complete, and nothing beside it") {
  const Folder folder;
  const std::string path = folder.file("a.json");
  CHECK(put(path, "old").empty());
  {
    auto file = OutputFile::create(path);
    REQUIRE(file.ok());
    CHECK(file->write(std::string(1'000'000, 'x')));
    CHECK(text_of(path) == "old");
  }  // an error or an exception
  CHECK(text_of(path) == "old");
  CHECK(folder.files() == 1);
  CHECK(put(path, std::string(3'000'000, 'y')).empty());
  CHECK(text_of(path) == std::string(3'000'000, 'y'));
  CHECK(folder.files() == 1);
}

TEST_CASE("output file: what does not fit leaves the old file") {
  const Folder folder;
  const std::string path = folder.file("a.json");
  CHECK(put(path, "old").empty());
  struct rlimit before {};
  ::getrlimit(RLIMIT_FSIZE, &before);
  static_cast<void>(std::signal(SIGXFSZ, SIG_IGN));
  const struct rlimit small { 500'000, before.rlim_max };
  ::setrlimit(RLIMIT_FSIZE, &small);
  const std::string said = put(path, std::string(600'000, 'x'));
  ::setrlimit(RLIMIT_FSIZE, &before);
  static_cast<void>(std::signal(SIGXFSZ, SIG_DFL));
  CHECK(said == "cannot write '" + path + "': File too large");
  CHECK(text_of(path) == "old");
  CHECK(folder.files() == 1);
}

TEST_CASE("output file: two writers leave one of two whole files") {
  const Folder folder;
  const std::string path = folder.file("a.json");
  auto one = OutputFile::create(path);
  auto two = OutputFile::create(path);
  REQUIRE((one.ok() && two.ok()));
  CHECK(one->write("one"));
  CHECK(two->write("two and more"));
  CHECK(one->commit().ok());
  CHECK(text_of(path) == "one");
  CHECK(two->commit().ok());
  CHECK(text_of(path) == "two and more");
  CHECK(folder.files() == 1);
}

TEST_CASE("output file: permissions are those of the old file, else as usual, or the owner's") {
  const Folder folder;
  const ::mode_t before = ::umask(027);
  CHECK(put(folder.file("new"), "x").empty());
  CHECK(mode_of(folder.file("new")) == 0640U);
  CHECK(put(folder.file("secret"), "x", OutputAccess::owner_only).empty());
  CHECK(mode_of(folder.file("secret")) == 0600U);
  ::umask(before);
  fs::permissions(folder.file("new"), static_cast<fs::perms>(0604));
  CHECK(put(folder.file("new"), "y").empty());
  CHECK(mode_of(folder.file("new")) == 0604U);
}

TEST_CASE("output file: through a link the file behind it is replaced, and the link stays") {
  const Folder folder;
  fs::create_directory(folder.path / "far");
  fs::create_symlink("far/real.json", folder.file("link"));
  fs::create_symlink("link", folder.file("second"));
  CHECK(put(folder.file("second"), "x").empty());
  CHECK(fs::is_symlink(folder.file("link")));
  CHECK(fs::is_symlink(folder.file("second")));
  CHECK(text_of(folder.file("far/real.json")) == "x");
  fs::create_symlink("round", folder.file("round"));
  CHECK(put(folder.file("round"), "x").find("Too many levels of symbolic links") !=
        std::string::npos);
}

TEST_CASE("output file: devices and pipes are written as they are") {
  CHECK(put("/dev/null", "x").empty());
  CHECK(put("/dev/full", "x") == "cannot write '/dev/full': No space left on device");
  CHECK(check_writable("/dev/full").ok());
  const Folder folder;
  const std::string pipe = folder.file("pipe");
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(check_writable(pipe).ok());  // without waiting for a reader
  const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  CHECK(put(pipe, "text").empty());
  std::string got(8, '\0');
  CHECK(::read(reader, got.data(), got.size()) == 4);
  ::close(reader);
  CHECK(fs::is_fifo(pipe));
}

TEST_CASE("output file: what cannot be written is told before the work, and leaves nothing") {
  const Folder folder;
  CHECK(check_writable(folder.file("a.json")).ok());
  CHECK(folder.files() == 0);
  const auto refusal = [](const std::string& path) {
    const Status status = check_writable(path);
    return status.ok() ? "" : status.error().message;
  };
  CHECK(refusal("/no/such/folder/a") ==
        "cannot write '/no/such/folder/a': No such file or directory");
  CHECK(refusal(folder.path.string()) ==
        "cannot write '" + folder.path.string() + "': Is a directory");
  CHECK(refusal("/proc/a.json").find("cannot write '/proc/a.json': ") == 0);
  CHECK(refusal(folder.file("new/")).find("No such file or directory") != std::string::npos);
  std::ofstream(folder.file("file")) << "x";
  CHECK(refusal(folder.file("file/a")).find("Not a directory") != std::string::npos);
  if (::geteuid() == 0) {
    MESSAGE(
        "SKIPPED: root may write everywhere, so folders and files that forbid it are not tried");
    return;
  }
  fs::permissions(folder.file("file"), static_cast<fs::perms>(0400));
  CHECK(refusal(folder.file("file")).find("Permission denied") != std::string::npos);
  CHECK(refusal("/etc/a.json").find("Permission denied") != std::string::npos);
}

TEST_CASE("output file: random digits differ") {
  CHECK(random_digits(8).size() == 16);
  CHECK(random_digits(8) != random_digits(8));
}

}  // namespace
}  // namespace foretrace::trace
