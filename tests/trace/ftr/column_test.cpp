// Columns of integers: what goes in comes out, in few bits, and damage is found.
#include "trace/ftr/column.h"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "trace/ftr/bytes.h"

namespace foretrace::trace::ftr {
namespace {

using Values = std::vector<std::int64_t>;

std::string packed(const Values& values) {
  std::string out;
  put_column(out, values);
  return out;
}

// Columns are read with slack behind them.
bool unpack_into(const std::string& bytes, Values& out) {
  const std::string padded = bytes + std::string(read_slack, '\x5a');
  return take_column(std::string_view(padded).substr(0, bytes.size()), std::span(out));
}

void check_round_trip(const Values& values) {
  Values back(values.size(), -7);
  REQUIRE(unpack_into(packed(values), back));
  CHECK(back == values);
}

std::uint64_t next_random(std::uint64_t& state) {
  state = state * 6364136223846793005ULL + 1442695040888963407ULL;
  return state >> 11U;
}

TEST_CASE("column: any length and any width comes back") {
  std::uint64_t state = 1;
  for (const std::size_t length : {0U, 1U, 2U, 127U, 128U, 129U, 255U, 256U, 1000U}) {
    for (unsigned width = 0; width <= 64; ++width) {
      Values values;
      for (std::size_t i = 0; i < length; ++i) {
        const std::uint64_t bits = next_random(state) << 11U ^ next_random(state);
        values.push_back(width == 0 ? 42 : static_cast<std::int64_t>(bits >> (64 - width)));
      }
      check_round_trip(values);
      for (std::int64_t& value : values) {
        value = -value / 2;
      }
      check_round_trip(values);
    }
  }
}

TEST_CASE("column: the extremes of 64 bits come back") {
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  check_round_trip({least, most, 0, -1, 1, least, most});
  check_round_trip(Values(300, most));
}

TEST_CASE("column: times that grow evenly need two or three bytes per block") {
  Values values;
  for (std::int64_t i = 0; i < 1280; ++i) {
    values.push_back(1'000'000 + 700 * i);
  }
  // Ten blocks: a width and a step of 700 (zigzag 1400: two bytes) each. The first value steps by
  // 1,000,000 instead, so that the first block needs 20 bits for each of its 128 values.
  CHECK(packed(values).size() <= 1 + 128 * 20 / 8 + 10 * 4);
  check_round_trip(values);
}

TEST_CASE("column: many zeros cost a bit each") {
  Values values(1280);
  for (std::size_t i = 0; i < values.size(); i += 40) {
    values[i] = 500'000'000 + static_cast<std::int64_t>(i);
  }
  // 160 bytes of bits; 32 values that grow by 40 in one block. As offsets of 29 bits: 4,640 bytes.
  CHECK(packed(values).size() < 300);
  check_round_trip(values);
}

TEST_CASE("column: narrow columns take the low bits") {
  const std::string bytes =
      packed({1, 255, 256, 4'294'967'295, 4'294'967'296}) + std::string(read_slack, '\0');
  const std::string_view column = std::string_view(bytes).substr(0, bytes.size() - read_slack);
  std::vector<std::uint8_t> small(5);
  REQUIRE(take_column(column, std::span(small)));
  CHECK(small == std::vector<std::uint8_t>{1, 255, 0, 255, 0});
  std::vector<std::uint32_t> middle(5);
  REQUIRE(take_column(column, std::span(middle)));
  CHECK(middle == std::vector<std::uint32_t>{1, 255, 256, 4'294'967'295U, 0});
}

TEST_CASE("column: a cut column, one with bytes behind it and one of another length are refused") {
  Values values;
  for (std::int64_t i = 0; i < 300; ++i) {
    values.push_back(i * i % 97);
  }
  const std::string bytes = packed(values);
  Values out(values.size());
  for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
    CHECK_FALSE(unpack_into(bytes.substr(0, cut), out));
  }
  CHECK_FALSE(unpack_into(bytes + "x", out));
  Values longer(values.size() + 1);
  CHECK_FALSE(unpack_into(bytes, longer));
  CHECK_FALSE(unpack_into(std::string("\x07") + bytes.substr(1), out));
}

TEST_CASE("column: no byte of a column can make reading go astray") {
  Values values(200);
  for (std::size_t i = 0; i < values.size(); i += 3) {
    values[i] = static_cast<std::int64_t>(i * 1'000'003);
  }
  const std::string bytes = packed(values);
  Values out(values.size());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    for (const int flip : {1, 0x80, 0xff}) {
      std::string broken = bytes;
      broken[i] = static_cast<char>(broken[i] ^ flip);
      static_cast<void>(unpack_into(broken, out));  // sanitizers watch
    }
  }
}

}  // namespace
}  // namespace foretrace::trace::ftr
