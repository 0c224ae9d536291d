#include "trace/io/byte_source.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace foretrace::trace {
namespace {

namespace fs = std::filesystem;

std::string all_of(ByteSource& source, std::size_t piece) {
  std::string text;
  std::string buffer(piece, '\0');
  while (true) {
    const auto got = source.read(buffer);
    REQUIRE(got.ok());
    text.append(buffer, 0, *got);
    if (*got < buffer.size()) {
      return text;
    }
  }
}

struct TemporaryFile {
  explicit TemporaryFile(const std::string& content)
      : path(fs::temp_directory_path() / ("byte_source_test_" + std::to_string(::getpid()))) {
    std::ofstream(path, std::ios::binary) << content;
  }
  ~TemporaryFile() { fs::remove(path); }
  fs::path path;
};

}  // namespace

TEST_CASE("a plain file comes back byte for byte, whatever the size of the reads") {
  std::string content("ab\0c", 4);
  content.append(100'000, 'x').append("end");
  const TemporaryFile file(content);
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, std::size_t{1} << 20}) {
    auto source = open_file(file.path.string());
    REQUIRE(source.ok());
    CHECK(all_of(**source, piece) == content);
    CHECK((*source)->file_size() == content.size());
    CHECK((*source)->consumed() == content.size());
    CHECK((*source)->trouble().empty());
    CHECK((*source)->path() == file.path.string());
  }
}

TEST_CASE("an empty file is an empty stream, not an error") {
  const TemporaryFile file("");
  auto source = open_file(file.path.string());
  REQUIRE(source.ok());
  CHECK(all_of(**source, 16).empty());
}

TEST_CASE("a file of one byte is not taken for gzip") {
  const TemporaryFile file("\x1f");
  auto source = open_file(file.path.string());
  REQUIRE(source.ok());
  CHECK(all_of(**source, 16) == "\x1f");
}

TEST_CASE("a prefix that was read comes again before the rest") {
  auto rest = open_memory("0123456789", "m");
  std::string prefix(4, '\0');
  REQUIRE(rest->read(prefix).ok());
  const auto whole = with_prefix(prefix, std::move(rest));
  CHECK(all_of(*whole, 3) == "0123456789");
  CHECK(whole->path() == "m");
  CHECK(whole->consumed() == 10);
}

TEST_CASE("what cannot be opened is refused with the reason") {
  const auto missing = open_file("/nowhere/trace.json");
  REQUIRE(!missing.ok());
  CHECK(missing.error().code == ErrorCode::not_found);
  CHECK(missing.error().message == "/nowhere/trace.json: cannot open: no such file");

  const auto directory = open_file(fs::temp_directory_path().string());
  REQUIRE(!directory.ok());
  CHECK(directory.error().message.find("is a directory, expected a trace file") !=
        std::string::npos);
}

TEST_CASE("a pipe can be read: its size is unknown") {
  const fs::path path =
      fs::temp_directory_path() / ("byte_source_pipe_" + std::to_string(::getpid()));
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  const ::pid_t writer = ::fork();
  if (writer == 0) {
    { std::ofstream(path) << "through a pipe"; }
    ::_exit(0);
  }
  auto source = open_file(path.string());
  REQUIRE(source.ok());
  CHECK(all_of(**source, 5) == "through a pipe");
  CHECK((*source)->file_size() == 0);
  fs::remove(path);
}

}  // namespace foretrace::trace
