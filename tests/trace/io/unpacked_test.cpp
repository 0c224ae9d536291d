#include "trace/io/unpacked.h"

#include <memory>
#include <string>

#include <doctest/doctest.h>
#include <zlib.h>

#include "trace/formats/reader.h"
#include "trace/ftr/container.h"
#include "trace/ftr/deflate.h"

namespace foretrace::trace {
namespace {

std::string packed(const std::string& plain) {
  z_stream stream{};
  REQUIRE(deflateInit2(&stream, 9, Z_DEFLATED, 16 + 15, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string out(deflateBound(&stream, plain.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(plain.data()));
  stream.avail_in = static_cast<uInt>(plain.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

/// What reading these bytes says against them.
std::string refusal_of(const std::string& bytes) {
  const auto loaded = read_source(open_memory(bytes, "bomb"), {});
  return loaded.ok() ? "" : loaded.error().message;
}

TEST_CASE("unpacked: files that grow a thousand times are refused where all is kept in memory") {
  const std::string zeros(static_cast<std::size_t>(always_unpacked) + (std::size_t{1} << 22U),
                          '\0');
  const std::string ftr = packed(ftr::head() + zeros);
  CHECK(ftr.size() < zeros.size() / 900);
  CHECK(refusal_of(ftr).find("expected at most 100 for each") != std::string::npos);
  // A pickle, whose first key says what it is.
  const std::string pickle = "\x80\x04}(\x8c\x08segments](";
  CHECK(refusal_of(packed(pickle + zeros)).find("expected at most 100 for each") !=
        std::string::npos);
  std::string database = std::string("SQLite format 3\0\x10\0", 18) + std::string(82, '\x01');
  CHECK(refusal_of(packed(database + zeros)).find("expected at most 100 for each") !=
        std::string::npos);
}

TEST_CASE("unpacked: small files may unpack to anything") {
  const std::string ftr = packed(ftr::head() + std::string(std::size_t{1} << 20U, '\0'));
  CHECK(refusal_of(ftr).find("unpack") == std::string::npos);
}

TEST_CASE("unpacked: deflated names grow a hundred times at most") {
  const std::string names(std::size_t{1} << 20U, 'x');
  const std::string packed_names = ftr::deflated(names, 9);
  CHECK(packed_names.size() < names.size() / 900);
  CHECK_FALSE(ftr::inflated(packed_names, names.size()));
  const std::string few(2000, 'x');
  CHECK(ftr::inflated(ftr::deflated(few, 9), few.size()));
}

}  // namespace
}  // namespace foretrace::trace
