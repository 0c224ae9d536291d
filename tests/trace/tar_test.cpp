#include "trace/tar.h"

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace foretrace::trace {
namespace {

/// One header block with a valid checksum, as tar writes it.
std::string header(std::string name, std::size_t size, char type = '0') {
  std::string block(512, '\0');
  block.replace(0, name.size(), name);
  char digits[13] = {};
  std::snprintf(digits, sizeof digits, "%011zo", size);
  block.replace(124, 11, digits);
  block.replace(148, 8, "        ");
  block[156] = type;
  block.replace(257, 8, std::string("ustar\00000", 8));
  unsigned sum = 0;
  for (const char c : block) {
    sum += static_cast<unsigned char>(c);
  }
  char checksum[8] = {};
  std::snprintf(checksum, sizeof checksum, "%06o", sum);
  block.replace(148, 7, std::string(checksum, 7));
  return block;
}

std::string file(const std::string& name, const std::string& bytes, char type = '0') {
  std::string padded = bytes;
  padded.resize((bytes.size() + 511) / 512 * 512, '\0');
  return header(name, bytes.size(), type) + padded;
}

/// "name=bytes;" of every member, then the error if there is one.
std::string listing(const std::string& archive, std::size_t most = 1000) {
  const auto source = open_memory(archive, "a.tar");
  TarReader tar(*source);
  std::string text;
  while (true) {
    auto member = tar.next();
    if (!member.ok()) {
      return text + "error: " + member.error().message;
    }
    if (!member->has_value()) {
      return text;
    }
    std::string bytes(most, '\0');
    const auto got = (*member)->bytes->read(bytes);
    REQUIRE(got.ok());
    bytes.resize(*got);
    text += (*member)->name + "=" + bytes + ";";
    text += std::string((*member)->bytes->trouble());
  }
}

const std::string end(1024, '\0');

}  // namespace

TEST_CASE("tar: members come one after the other, whatever was read of them") {
  const std::string archive =
      file("a/rank0.json", "first") + file("b", std::string(600, 'x')) + file("c", "third") + end;
  CHECK(is_tar(archive));
  CHECK(listing(archive) == "a/rank0.json=first;b=" + std::string(600, 'x') + ";c=third;");
  CHECK(listing(archive, 2) == "a/rank0.json=fi;b=xx;c=th;");
}

TEST_CASE("tar: folders, AppleDouble copies and empty files are left out") {
  CHECK(listing(header("dir/", 0, '5') + file("dir/._x.json", "junk") + file("dir/x.json", "{}") +
                header("none", 0) + end) == "dir/x.json={};");
}

TEST_CASE("tar: long names come from the member before") {
  const std::string name(150, 'n');
  CHECK(listing(file("././@LongLink", name + std::string(1, '\0'), 'L') + file("cut", "1") + end) ==
        name + "=1;");
  CHECK(listing(file("pax", "19 path=long/name\n", 'x') + file("cut", "1") + end) ==
        "long/name=1;");
}

TEST_CASE("tar: damage is told and never followed") {
  CHECK(listing(file("a", "1") + std::string(100, 'j'))
            .find("error: a.tar: tar archive, at byte "
                  "1024: ends inside a header") != std::string::npos);
  CHECK(listing(file("a", "1") + std::string(512, 'j')).find("not a header") != std::string::npos);
  // A size far beyond the file: the member ends with the archive, and says so.
  const std::string cut = header("a", std::size_t{1} << 32U) + "abc";
  CHECK(listing(cut).find("a=abc;the archive ends inside this file") == 0);
  // A name of 4 GiB is not allocated.
  CHECK(listing(header("x", std::size_t{1} << 32U, 'L')).find("a name is") != std::string::npos);
  CHECK_FALSE(is_tar("not an archive"));
}

}  // namespace foretrace::trace
