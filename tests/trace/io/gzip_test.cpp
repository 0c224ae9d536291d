#include "trace/io/gzip.h"

#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <zlib.h>

namespace foretrace::trace {
namespace {

std::string gzipped(std::string_view text, int level = 6) {
  z_stream stream{};
  REQUIRE(deflateInit2(&stream, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string out(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

// Not compressible, so that the compressed stream is long.
std::string noise(std::size_t size) {
  std::string text(size, '\0');
  std::uint32_t state = 12345;
  for (char& c : text) {
    state = state * 1664525U + 1013904223U;
    c = static_cast<char>(state >> 24U);
  }
  return text;
}

class RawSource final : public ByteSource {
 public:
  explicit RawSource(std::string bytes) : bytes_(std::move(bytes)) {}
  [[nodiscard]] Result<std::size_t> read(std::span<char> buffer) override {
    const std::size_t count = bytes_.copy(buffer.data(), buffer.size(), taken_);
    taken_ += count;
    return count;
  }
  [[nodiscard]] std::uint64_t consumed() const override { return taken_; }
  [[nodiscard]] std::uint64_t file_size() const override { return bytes_.size(); }
  [[nodiscard]] std::string_view trouble() const override { return {}; }
  [[nodiscard]] std::string_view path() const override { return "raw"; }

 private:
  std::string bytes_;
  std::size_t taken_ = 0;
};

struct Inflated {
  std::string text;
  std::string trouble;
};

Inflated inflated(const std::string& bytes, Inflater inflater, std::size_t piece = 4096) {
  const auto source = inflate(std::make_unique<RawSource>(bytes), inflater);
  Inflated result;
  std::string buffer(piece, '\0');
  while (true) {
    const auto got = source->read(buffer);
    REQUIRE(got.ok());
    result.text.append(buffer, 0, *got);
    if (*got == 0) {
      break;
    }
  }
  result.trouble = std::string(source->trouble());
  return result;
}

// Both libraries must behave alike; without ISA-L in the build both runs are zlib.
constexpr Inflater inflaters[] = {Inflater::fastest, Inflater::zlib};

}  // namespace

TEST_CASE("gzip: what was compressed comes back, at every level and size of read") {
  const std::string text = noise(300'000) + std::string(300'000, 'a');
  for (const Inflater inflater : inflaters) {
    for (const int level : {0, 1, 6, 9}) {
      const Inflated result = inflated(gzipped(text, level), inflater);
      CHECK(result.text == text);
      CHECK(result.trouble.empty());
    }
    CHECK(inflated(gzipped(text), inflater, 1).text == text);
    CHECK(inflated(gzipped(""), inflater).text.empty());
  }
}

TEST_CASE("gzip: members follow each other, and zeros behind them are padding") {
  const std::string padding(1000, '\0');
  for (const Inflater inflater : inflaters) {
    const Inflated two = inflated(gzipped("first ") + gzipped("second"), inflater);
    CHECK(two.text == "first second");
    CHECK(two.trouble.empty());
    const Inflated padded = inflated(gzipped("first") + padding, inflater);
    CHECK(padded.text == "first");
    CHECK(padded.trouble.empty());
  }
}

TEST_CASE("gzip: other bytes behind the data are left out and told") {
  for (const Inflater inflater : inflaters) {
    const std::string bytes = gzipped("all of it");
    const Inflated result = inflated(bytes + "junk", inflater);
    CHECK(result.text == "all of it");
    CHECK(result.trouble == "bytes after the gzip data at byte " + std::to_string(bytes.size()) +
                                " are not gzip and were left out");
  }
}

TEST_CASE("gzip: a cut file gives what was readable and says that it ends early") {
  const std::string text = noise(100'000);
  const std::string bytes = gzipped(text);
  for (const Inflater inflater : inflaters) {
    const Inflated half = inflated(bytes.substr(0, bytes.size() / 2), inflater);
    // Noise does not compress: half of the bytes is about half of the text.
    CHECK(half.text.size() > 40'000);
    CHECK(text.starts_with(half.text));
    CHECK(half.trouble ==
          "gzip data ends early after " + std::to_string(bytes.size() / 2) + " compressed bytes");
    // Only the checksum is missing.
    const Inflated last = inflated(bytes.substr(0, bytes.size() - 1), inflater);
    CHECK(last.text == text);
    CHECK(last.trouble.starts_with("gzip data ends early"));
    for (const std::size_t size : {2U, 5U, 9U, 12U}) {
      CHECK(!inflated(bytes.substr(0, size), inflater).trouble.empty());
    }
  }
}

TEST_CASE("gzip: flipped bits are noticed, at the latest by the checksum") {
  const std::string text = noise(50'000);
  const std::string bytes = gzipped(text);
  for (const Inflater inflater : inflaters) {
    for (const std::size_t at : {std::size_t{3000}, bytes.size() / 2, bytes.size() - 6}) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ 0x20);
      const Inflated result = inflated(damaged, inflater);
      CHECK(result.trouble.starts_with("gzip data is corrupt near compressed byte"));
    }
  }
}

}  // namespace foretrace::trace
