#include "trace/io/tar.h"

#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "tests/trace/tar_text.h"

namespace foretrace::trace {
namespace {

using test::tar_file;
using test::tar_header;

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
  const std::string archive = tar_file("a/rank0.json", "first") +
                              tar_file("b", std::string(600, 'x')) + tar_file("c", "third") + end;
  CHECK(is_tar(archive));
  CHECK(listing(archive) == "a/rank0.json=first;b=" + std::string(600, 'x') + ";c=third;");
  CHECK(listing(archive, 2) == "a/rank0.json=fi;b=xx;c=th;");
}

TEST_CASE("tar: folders, AppleDouble copies and empty files are left out") {
  CHECK(listing(tar_header("dir/", 0, '5') + tar_file("dir/._x.json", "junk") +
                tar_file("dir/x.json", "{}") + tar_header("none", 0) + end) == "dir/x.json={};");
}

TEST_CASE("tar: long names come from the member before") {
  const std::string name(150, 'n');
  CHECK(listing(tar_file("././@LongLink", name + std::string(1, '\0'), 'L') + tar_file("cut", "1") +
                end) == name + "=1;");
  CHECK(listing(tar_file("pax", "19 path=long/name\n", 'x') + tar_file("cut", "1") + end) ==
        "long/name=1;");
}

TEST_CASE("tar: damage is told and never followed") {
  CHECK(listing(tar_file("a", "1") + std::string(100, 'j'))
            .find("error: a.tar: tar archive, at byte "
                  "1024: ends inside a header") != std::string::npos);
  CHECK(listing(tar_file("a", "1") + std::string(512, 'j')).find("not a header") !=
        std::string::npos);
  // A size far beyond the file: the member ends with the archive, and says so.
  const std::string cut = tar_header("a", std::size_t{1} << 32U) + "abc";
  CHECK(listing(cut).find("a=abc;the archive ends inside this file") == 0);
  // A name of 4 GiB is not allocated.
  CHECK(listing(tar_header("x", std::size_t{1} << 32U, 'L')).find("a name is") !=
        std::string::npos);
  CHECK_FALSE(is_tar("not an archive"));
}

}  // namespace foretrace::trace
