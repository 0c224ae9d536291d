#include "trace/formats/json/number.h"

#include <cstdint>
#include <string>

#include <doctest/doctest.h>

#include "trace/formats/json/scan.h"

namespace foretrace::trace::formats {
namespace {

std::int64_t ns(std::string_view token) {
  const Nanoseconds result = nanoseconds_from_microseconds(token);
  REQUIRE_MESSAGE(result.state == NumberState::ok, std::string(token));
  return result.value;
}

NumberState state(std::string_view token) { return nanoseconds_from_microseconds(token).state; }

}  // namespace

TEST_CASE("number: microseconds become nanoseconds digit by digit") {
  CHECK(ns("0") == 0);
  CHECK(ns("1") == 1000);
  CHECK(ns("1.5") == 1500);
  CHECK(ns("1623143089861123.457") == 1623143089861123457);  // a double would say ...500
  CHECK(ns("-0.001") == -1);
  CHECK(ns("007.25") == 7250);
  CHECK(ns("+3") == 3000);
  CHECK(ns(".5") == 500);
  CHECK(ns("5.") == 5000);
}

TEST_CASE("number: finer than a nanosecond is rounded to the nearest") {
  CHECK(ns("0.0004") == 0);
  CHECK(ns("0.0005") == 1);
  CHECK(ns("0.00149") == 1);
  CHECK(ns("-0.0006") == -1);
  CHECK(ns("0.00000000000000000000000000000001") == 0);
  CHECK(ns("1.00000000000000000000000000000001") == 1000);
}

TEST_CASE("number: exponents and quotes are understood") {
  CHECK(ns("1.5e3") == 1'500'000);
  CHECK(ns("15E-1") == 1500);
  CHECK(ns("1e+2") == 100'000);
  CHECK(ns("0e999999999999") == 0);
  CHECK(ns("1e-99999999") == 0);
  CHECK(ns("\"12.5\"") == 12'500);
}

TEST_CASE("number: what is no number is told from what is too large") {
  for (const char* token : {"", "-", ".", "e5", "1e", "1e+", "1.2.3", "12a", "NaN", "inf", "null",
                            "0x10", "1 2", "\"", "\"\"", "--1", "{}"}) {
    CHECK_MESSAGE(state(token) == NumberState::not_a_number, token);
  }
  // 2^62 ns = 4611686018427387.904 us; 2^61 ns = 2305843009213693.952 us
  CHECK(ns("4611686018427387.903") == 4611686018427387903);
  CHECK(state("4611686018427387.904") == NumberState::out_of_range);
  CHECK(ns("-2305843009213693.951") == -2305843009213693951);
  CHECK(state("-2305843009213693.952") == NumberState::out_of_range);
  CHECK(state("1e300") == NumberState::out_of_range);
  CHECK(state("99999999999999999999999999") == NumberState::out_of_range);
}

TEST_CASE("number: integers in their spellings") {
  CHECK(integer_from("42") == 42);
  CHECK(integer_from("-1") == -1);
  CHECK(integer_from("\"4093687616\"") == 4093687616);
  CHECK(integer_from("3.0") == 3);
  CHECK(integer_from("1e3") == 1000);
  CHECK(integer_from("9223372036854775807") == 9223372036854775807);
  CHECK(!integer_from("9223372036854775808"));
  CHECK(!integer_from("3.5"));
  CHECK(!integer_from("1e-1"));
  CHECK(!integer_from("stream 7"));
  CHECK(!integer_from(""));
  CHECK(!integer_from("null"));
}

TEST_CASE("number: the quick scan gives what the careful one gives, or leaves it to it") {
  std::uint64_t random = 99;
  const auto next = [&random](std::uint64_t bound) {
    random = random * 6364136223846793005ULL + 1442695040888963407ULL;
    return (random >> 33U) % bound;
  };
  std::size_t plain = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string token = next(8) == 0 ? "-" : "";
    for (std::uint64_t i = 0, count = next(20); i < count; ++i) {
      token += static_cast<char>('0' + next(10));
    }
    if (next(2) == 0) {
      token += '.';
      for (std::uint64_t i = 0, count = next(6); i < count; ++i) {
        token += static_cast<char>('0' + next(10));
      }
    }
    if (next(10) == 0) {
      token += "e1";
    }
    const std::string text = token + (next(2) == 0 ? ", " : "}") + std::string(64, '\0');
    Number number;
    const char* const behind = scan_plain_number(text.data(), number);
    if (behind == nullptr) {
      continue;
    }
    ++plain;
    CHECK(number.token() == token);
    CHECK(behind == text.data() + token.size());
    const Nanoseconds quick = nanoseconds_from_microseconds(number);
    const Nanoseconds careful = nanoseconds_from_microseconds(token);
    CHECK_MESSAGE(quick.state == careful.state, token);
    CHECK_MESSAGE(quick.value == careful.value, token);
    CHECK_MESSAGE(integer_from(number) == integer_from(token), token);
  }
  CHECK(plain > 10'000);
}

}  // namespace foretrace::trace::formats
