// Bytes through the compressor and back.
#include "trace/io/gzip_sink.h"

#include <cstdint>
#include <string>

#include <doctest/doctest.h>

#include "trace/io/byte_source.h"

namespace foretrace::trace {
namespace {

TEST_CASE("gzip sink: what goes in comes out, also of pieces larger than its buffer") {
  std::string plain;
  for (std::int64_t i = 0; i < 300'000; ++i) {
    plain += static_cast<char>('a' + (i * i / 7) % 26);
  }
  std::string packed;
  GzipSink sink([&packed](std::string_view piece) {
    packed += piece;
    return true;
  });
  CHECK(sink.write(std::string_view(plain).substr(0, 10)));
  CHECK(sink.write(""));
  CHECK(sink.write(std::string_view(plain).substr(10)));
  CHECK(sink.finish());
  CHECK(packed.size() < plain.size());
  const auto source = open_memory(packed, "x");
  std::string back(plain.size() + 1, '\0');
  const auto got = source->read(back);
  REQUIRE(got.ok());
  back.resize(*got);
  CHECK(back == plain);
  CHECK(source->trouble().empty());
}

TEST_CASE("gzip sink: a refusal is told") {
  GzipSink sink([](std::string_view) { return false; });
  CHECK((!sink.write("a") || !sink.finish()));
}

}  // namespace
}  // namespace foretrace::trace
