#include "trace/io/archive.h"

#include <algorithm>
#include <cstdio>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "tests/trace/packed_text.h"
#include "tests/trace/tar_text.h"

namespace foretrace::trace {
namespace {

using test::tar_file;
using test::tar_header;

/// "name=bytes;" of every member, then the error if there is one.
std::string listing(const std::string& archive, std::size_t most = 1000,
                    const UnpackLimits& limits = {}) {
  const auto source = open_memory(archive, "a.tar");
  ArchiveReader members(*source, limits);
  std::string text;
  while (true) {
    auto member = members.next();
    if (!member.ok()) {
      return text + "error: " + member.error().message;
    }
    if (!member->has_value()) {
      return text;
    }
    std::string bytes(most, '\0');
    const auto got = (*member)->bytes->read(bytes);
    if (!got.ok()) {
      return text + "error: " + got.error().message;
    }
    bytes.resize(*got);
    text += (*member)->name + "=" + bytes + ";";
    text += std::string((*member)->bytes->trouble());
  }
}

const std::string end(1024, '\0');

#ifdef FORETRACE_HAS_LIBARCHIVE
using test::packed_as;
using test::packings;
using test::tar_of;
using test::zip_of;

/// What comes out of bytes that may be packed.
struct Outcome {
  std::string text;
  std::string trouble;
  std::string error;
};

Outcome unpacked(const std::string& bytes, std::size_t piece = 4096) {
  const auto source = open_memory(bytes, "a.packed");
  Outcome result;
  std::string buffer(piece, '\0');
  while (true) {
    const auto got = source->read(buffer);
    if (!got.ok()) {
      result.error = got.error().message;
      return result;
    }
    result.text.append(buffer, 0, *got);
    if (*got < piece) {
      result.trouble = std::string(source->trouble());
      return result;
    }
  }
}

/// Text that packs to about half of it.
std::string noise(std::size_t size) {
  std::mt19937 random(7);
  std::string text(size, '\0');
  for (char& c : text) {
    c = static_cast<char>('a' + random() % 16);
  }
  return text;
}

/// Empty if the part is in the text, else the text, for the message of a check.
std::string lacks(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos
             ? ""
             : text.substr(text.size() - std::min<std::size_t>(300, text.size())) + " lacks " +
                   std::string(part);
}
#endif

}  // namespace

TEST_CASE("archive: tar and zip are known by their first bytes, packed files by theirs") {
  CHECK(is_archive(tar_file("a", "1") + end));
  CHECK(is_archive("PK\x03\x04 and so on"));
  CHECK_FALSE(is_archive("not an archive"));
  CHECK_FALSE(is_archive(std::string(600, 'u')));
  CHECK(is_packed("BZh91AY&SY"));
  CHECK(is_packed("\x28\xB5\x2F\xFD..."));
  CHECK_FALSE(is_packed("BZh9"));
  CHECK_FALSE(is_packed("BZhang's notes"));
  CHECK_FALSE(is_packed("{\"traceEvents\""));
}

#ifdef FORETRACE_HAS_LIBARCHIVE
TEST_CASE("archive: members come one after the other, whatever was read of them") {
  const std::vector<test::PackedFile> files = {
      {"a/rank0.json", "first"}, {"b", std::string(600, 'x')}, {"c", "third"}};
  const std::string by_hand = tar_file("a/rank0.json", "first") +
                              tar_file("b", std::string(600, 'x')) + tar_file("c", "third") + end;
  for (const std::string& archive : {by_hand, tar_of(files), zip_of(files)}) {
    CHECK(is_archive(archive));
    CHECK(listing(archive) == "a/rank0.json=first;b=" + std::string(600, 'x') + ";c=third;");
    CHECK(listing(archive, 2) == "a/rank0.json=fi;b=xx;c=th;");
  }
}

TEST_CASE("archive: folders, AppleDouble copies, links and empty files are left out") {
  CHECK(listing(tar_header("dir/", 0, '5') + tar_file("dir/._x.json", "junk") +
                tar_header("hard", 0, '1') + tar_header("soft", 0, '2') +
                tar_file("dir/x.json", "{}") + tar_header("none", 0) + end) == "dir/x.json={};");
  CHECK(listing(zip_of({{"__MACOSX/._x.json", "junk"}, {"x.json", "{}"}})) == "x.json={};");
}

TEST_CASE("archive: long names come from the member before, names of UTF-8 in any locale") {
  const std::string name(150, 'n');
  CHECK(listing(tar_file("././@LongLink", name + std::string(1, '\0'), 'L') + tar_file("cut", "1") +
                end) == name + "=1;");
  CHECK(listing(tar_file("pax", "18 path=long/name\n", 'x') + tar_file("cut", "1") + end) ==
        "long/name=1;");
  CHECK(listing(tar_file("pax", "13 path=r\xC3\xA9p\n", 'x') + tar_file("cut", "1") + end) ==
        "r\xC3\xA9p=1;");
  CHECK(listing(tar_file("r\xC3\xA9p", "1") + end) == "r\xC3\xA9p=1;");
}

TEST_CASE("archive: names that leave the folder are words, nothing is written") {
  const std::vector<test::PackedFile> files = {{"/etc/passwd", "1"}, {"../../up.json", "2"}};
  for (const std::string& archive :
       {tar_file("/etc/passwd", "1") + tar_file("../../up.json", "2") + end, zip_of(files)}) {
    CHECK(listing(archive) == "/etc/passwd=1;../../up.json=2;");
  }
}

TEST_CASE("archive: damage is told and never followed") {
  CHECK(lacks(listing(tar_file("a", "1") + std::string(100, 'j')),
              "a=1;error: a.tar: archive, at byte 1024: truncated tar archive") == "");
  CHECK(lacks(listing(tar_file("a", "1") + std::string(512, 'j')),
              "a=1;error: a.tar: archive, at byte 1536: damaged tar archive") == "");
  // A size far beyond the file: the member ends with the archive, and says so.
  const std::string cut = tar_header("a", std::size_t{1} << 32U) + "abc";
  CHECK(lacks(listing(cut), "a=abc;truncated tar archive, before byte 515 of the file") == "");
  // A name of 4 GiB is not allocated.
  CHECK(lacks(listing(tar_header("x", std::size_t{1} << 32U, 'L')),
              "error: a.tar: archive, at byte ") == "");
  const std::string zip = zip_of({{"a", noise(5000)}, {"b", "2"}});
  CHECK(lacks(listing(zip.substr(0, 1000)), "error: a.tar: archive, at byte 1000: ") == "");
  std::string flipped = zip;
  flipped[1000] = static_cast<char>(flipped[1000] ^ 0x20);
  CHECK(lacks(listing(flipped, 6000), "ZIP") == "");
}

TEST_CASE(
    "archive: whatever is cut off or changed, the walk ends and only what was there comes out") {
  std::mt19937 random(11);
  const std::string text = noise(3000);
  for (const std::string& archive :
       {tar_of({{"a", text}, {"b", text}}), zip_of({{"a", text}, {"b", text}}),
        tar_file("a", text) + end}) {
    const std::string whole = listing(archive, 4000);
    for (int i = 0; i < 200; ++i) {
      const std::size_t size = random() % archive.size();
      const std::string cut = listing(archive.substr(0, size), 4000);
      CHECK(cut.size() < whole.size() + 200);
      std::string changed = archive;
      changed[random() % changed.size()] = static_cast<char>(random());
      CHECK(listing(changed, 4000).size() < 2 * whole.size() + 400);
    }
  }
}

TEST_CASE("archive: more files than any job has ranks end in an error") {
  std::string many;
  for (int i = 0; i < 11; ++i) {
    many += tar_header("empty", 0);
  }
  CHECK(listing(many + end).empty());
  UnpackLimits few;
  few.most_members = 10;
  CHECK(listing(many + end, 1, few) == "error: a.tar: archive, at byte 5632: more than 10 files");
}

TEST_CASE("archive: a file that is nearly all hole ends in an error, not in zeros without end") {
  // GNU's sparse header: a file of 8 GiB of which one block is there.
  std::string header = tar_header("holes", 513, 'S');
  const auto put = [&](std::size_t at, const std::string& octal) { header.replace(at, 11, octal); };
  header.replace(257, 8, std::string("ustar  \0", 8));
  put(386, "00000000000");
  put(398, "00000001000");
  put(410, "77777776777");
  put(422, "00000000001");
  put(483, "77777777000");
  header.replace(148, 8, "        ");
  unsigned sum = 0;
  for (const char c : header) {
    sum += static_cast<unsigned char>(c);
  }
  char checksum[8] = {};
  std::snprintf(checksum, sizeof checksum, "%06o", sum);
  header.replace(148, 7, std::string(checksum, 7));
  const std::string archive = header + std::string(1024, 'x') + end;
  CHECK(lacks(listing(archive, std::size_t{1} << 27U), "expected at most 1000 for each") == "");
}

TEST_CASE("archive: what was packed comes back, at every size of read") {
  const std::string text = noise(300'000) + std::string(300'000, 'a');
  for (const std::string_view packing : packings) {
    CAPTURE(packing);
    const std::string bytes = packed_as(packing, text);
    for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, std::size_t{1} << 20U}) {
      const Outcome result = unpacked(bytes, piece);
      CHECK(result.text == text);
      CHECK(result.trouble.empty());
    }
    CHECK(unpacked(packed_as(packing, "")).text.empty());
    // Streams follow each other, as parallel packers write them.
    const Outcome two = unpacked(packed_as(packing, "first ") + packed_as(packing, "second"));
    CHECK(two.text == "first second");
    CHECK(two.trouble.empty());
  }
}

TEST_CASE("archive: a packed file that is cut gives what was readable, and says so") {
  const std::string text = noise(2'500'000);
  for (const std::string_view packing : {"zstd", "xz", "bzip2"}) {
    CAPTURE(packing);
    const std::string bytes = packed_as(packing, text);
    for (const std::size_t size : {packed_prefix + 10, bytes.size() / 2, bytes.size() - 1}) {
      const Outcome half = unpacked(bytes.substr(0, size));
      CHECK(text.starts_with(half.text));
      CHECK(half.error.empty());
      CHECK(lacks(half.trouble, "before byte " + std::to_string(size) + " of the file") == "");
    }
    CHECK(unpacked(bytes.substr(0, bytes.size() / 2)).text.size() > 200'000);
    std::mt19937 random(13);
    for (int i = 0; i < 10; ++i) {
      std::string changed = bytes;
      changed[random() % changed.size()] = static_cast<char>(random());
      CHECK(unpacked(changed).text.size() <= 2 * text.size());
    }
  }
}

TEST_CASE("archive: bombs end in one line, alone and in archives") {
  const std::string zeros(static_cast<std::size_t>(always_unpacked) + (std::size_t{1} << 22U),
                          '\0');
  for (const std::string_view packing : {"zstd", "xz", "bzip2"}) {
    CAPTURE(packing);
    const std::string bomb = packed_as(packing, zeros);
    REQUIRE(bomb.size() < zeros.size() / 1000);
    CHECK(lacks(unpacked(bomb, std::size_t{1} << 20U).error, "expected at most 1000 for each") ==
          "");
    // What is packed twice is unpacked once.
    CHECK(unpacked(packed_as(packing, bomb)).text == bomb);
    const std::string inside = tar_file("bomb", bomb) + end;
    CHECK(lacks(listing(packed_as(packing, tar_file("a", zeros) + end), zeros.size()),
                "expected at most 1000 for each") == "");
    CHECK(listing(inside, bomb.size()) == "bomb=" + bomb + ";");
  }
  // Deflate makes a thousand times as much at best: many such files together are one bomb.
  const std::string half(std::size_t{1} << 25U, '\0');
  UnpackLimits limits;
  limits.always = std::size_t{1} << 26U;
  limits.per_byte = 100;
  CHECK(lacks(listing(zip_of({{"a", half}, {"b", half}, {"c", half}}), half.size(), limits),
              "expected at most 100 for each") == "");
}
#else
TEST_CASE("archive: a build without libarchive says so") {
  CHECK(listing(tar_file("a", "1") + end) ==
        "error: a.tar: is an archive, which this build cannot read (it has no libarchive); unpack "
        "it and use its files");
}
#endif

}  // namespace foretrace::trace
