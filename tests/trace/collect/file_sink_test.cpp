// The collector's file in a program that closes it, replaces it, or has a place for it ready.
#include "trace/collect/file_sink.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/small_disk.h"

namespace foretrace::trace::collector {
namespace {

namespace fs = std::filesystem;

struct Folder {
  fs::path path = fs::temp_directory_path() / ("foretrace_sink_" + std::to_string(::getpid()));
  Folder() {
    fs::remove_all(path);
    fs::create_directories(path);
  }
  ~Folder() { fs::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] std::string file(const char* name) const { return (path / name).string(); }
};

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// The highest open descriptor, which is the sink's.
int highest() {
  int highest = -1;
  for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
    highest = std::max(highest, std::stoi(entry.path().filename().string()));
  }
  return highest;
}

TEST_CASE("file sink: its descriptor is out of the way, and closed in programs that are started") {
  const Folder folder;
  const FileSink sink(folder.file("a.ftr"));
  CHECK(sink.error() == 0);
  CHECK(highest() > 100);
  CHECK((::fcntl(highest(), F_GETFD) & FD_CLOEXEC) != 0);
  CHECK(static_cast<unsigned>(fs::status(folder.file("a.ftr")).permissions()) == 0600U);
}

TEST_CASE("file sink: a name that is taken, also by a link, is not used") {
  const Folder folder;
  std::ofstream(folder.file("taken.ftr")) << "old";
  fs::create_symlink(folder.file("elsewhere"), folder.file("link.ftr"));
  CHECK(FileSink(folder.file("taken.ftr")).error() == EEXIST);
  CHECK(FileSink(folder.file("link.ftr")).error() == EEXIST);
  CHECK(FileSink("/no/such/folder/x.ftr").error() == ENOENT);
  CHECK(FileSink("/no/such/folder/x.ftr").write("x") == ENOENT);
  CHECK(text_of(folder.file("taken.ftr")) == "old");
  CHECK_FALSE(fs::exists(folder.file("elsewhere")));
}

TEST_CASE("file sink: closed by the program it opens its file again and goes on at its end") {
  const Folder folder;
  FileSink sink(folder.file("a.ftr"));
  CHECK(sink.write("one ") == 0);
  ::close(highest());
  CHECK(sink.write("two") == 0);
  CHECK(text_of(folder.file("a.ftr")) == "one two");
}

TEST_CASE("file sink: what the program opened under its number is neither written nor closed") {
  const Folder folder;
  const std::string own = folder.file("own.txt");
  {
    FileSink sink(folder.file("a.ftr"));
    CHECK(sink.write("one ") == 0);
    const int number = highest();
    const int file = ::open(own.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
    CHECK(::dup2(file, number) == number);
    CHECK(sink.write("two") == 0);
    CHECK(::write(number, "mine", 4) == 4);
    ::close(number);
    ::close(file);
  }
  CHECK(text_of(own) == "mine");
  CHECK(text_of(folder.file("a.ftr")) == "one two");
}

TEST_CASE("file sink: a file that was moved away or replaced is given up, the new one untouched") {
  const Folder folder;
  FileSink sink(folder.file("a.ftr"));
  CHECK(sink.write("one") == 0);
  ::close(highest());
  fs::rename(folder.file("a.ftr"), folder.file("moved.ftr"));
  std::ofstream(folder.file("a.ftr")) << "new";
  CHECK(sink.write("two") == EBADF);
  CHECK(sink.write("two") == EBADF);
  sink.remove();
  CHECK(text_of(folder.file("a.ftr")) == "new");
  CHECK(text_of(folder.file("moved.ftr")) == "one");
}

TEST_CASE("file sink: what does not fit leaves nothing of it, and what fits later is kept") {
  const Folder folder;
  FileSink sink(folder.file("a.ftr"));
  CHECK(sink.write(std::string(900, 'a')) == 0);
  struct rlimit before {};
  ::getrlimit(RLIMIT_FSIZE, &before);
  static_cast<void>(std::signal(SIGXFSZ, SIG_IGN));
  const struct rlimit small { 1000, before.rlim_max };
  ::setrlimit(RLIMIT_FSIZE, &small);
  const int problem = sink.write(std::string(200, 'b'));
  const int fits = sink.write(std::string(100, 'c'));
  ::setrlimit(RLIMIT_FSIZE, &before);
  static_cast<void>(std::signal(SIGXFSZ, SIG_DFL));
  CHECK(problem == EFBIG);
  CHECK(fits == 0);
  CHECK(text_of(folder.file("a.ftr")) == std::string(900, 'a') + std::string(100, 'c'));
  sink.remove();
  CHECK_FALSE(fs::exists(folder.file("a.ftr")));
}

TEST_CASE("file sink: what others write cannot take the room that is kept for the end") {
  const Folder folder;
  const std::string disk = folder.file("disk");
  const test::SmallDisk small(disk, "128k");
  if (!small.is_there()) {
    MESSAGE("SKIPPED: no small disk can be mounted here (it needs root)");
    return;
  }
  constexpr std::size_t page = 4096;  // whole pages, so that none has room by chance
  FileSink sink(disk + "/a.ftr");
  CHECK(sink.write(std::string(2 * page, 'a'), page) == 0);
  const auto fill = [&](const char* name) {
    std::ofstream(disk + name, std::ios::binary) << std::string(200'000, 'x') << std::flush;
  };
  fill("/other");
  CHECK(sink.write(std::string(2 * page, 'b'), page) == ENOSPC);
  CHECK(sink.write("b", page) == ENOSPC);
  fill("/another");
  CHECK(sink.write(std::string(page / 2, 'c')) == 0);
  CHECK(sink.write(std::string(page / 2, 'd')) == 0);
  CHECK(sink.write("e") == ENOSPC);
  CHECK(text_of(disk + "/a.ftr") ==
        std::string(2 * page, 'a') + std::string(page / 2, 'c') + std::string(page / 2, 'd'));
}

TEST_CASE("file sink: room that was kept and is not needed goes back") {
  const Folder folder;
  FileSink sink(folder.file("a.ftr"));
  const auto blocks = [&] {
    struct stat status {};
    ::stat(folder.file("a.ftr").c_str(), &status);
    return status.st_blocks * 512;
  };
  CHECK(sink.write("one", std::size_t{1} << 20U) == 0);
  CHECK(sink.write("two", std::size_t{1} << 20U) == 0);
  CHECK(fs::file_size(folder.file("a.ftr")) == 6);
  CHECK(sink.write("") == 0);
  CHECK(blocks() < 100'000);
  CHECK(sink.write(" three", 100) == 0);
  CHECK(text_of(folder.file("a.ftr")) == "onetwo three");
}

}  // namespace
}  // namespace foretrace::trace::collector
