#include "sim/core/result.h"

#include <map>
#include <memory>
#include <stdexcept>
#include <string>

#include <doctest/doctest.h>

using foretrace::Error;
using foretrace::ErrorCode;
using foretrace::ok_status;
using foretrace::Result;
using foretrace::Status;

namespace {
Result<int> half(int value) {
  if (value % 2 != 0) return Error{ErrorCode::bad_usage, "got an odd number"};
  return value / 2;
}

Result<int> quarter(int value) {
  FORETRACE_TRY(const int halved, half(value));
  FORETRACE_TRY(auto quartered, half(halved).with_context("quarter"));
  return quartered;
}

/// A value that cannot be copied, into a member.
struct Box {
  std::unique_ptr<int> content;

  Status fill(int value) {
    FORETRACE_TRY(content, boxed<int, int>(value));
    return ok_status();
  }

  template <typename Value, typename Given>
  static Result<std::unique_ptr<Value>> boxed(Given value) {
    FORETRACE_TRY(Value halved, half(value));
    return std::make_unique<Value>(halved);
  }
};

/// How often it is asked, and what is left to do after a mistake.
struct Counted {
  int asked = 0;
  int went_on = 0;

  Status check(int value) {
    ++asked;
    if (value < 0) return Error{ErrorCode::no_match, "got a negative number"};
    return ok_status();
  }
  Status run(int value, bool twice) {
    if (twice)
      FORETRACE_TRY(check(value));
    else
      ++went_on;
    FORETRACE_TRY(check(value));
    ++went_on;
    return ok_status();
  }
};
}  // namespace

TEST_CASE("result: holds a value or an error, never both") {
  const auto good = half(4);
  REQUIRE(good.ok());
  CHECK(*good == 2);
  const auto bad = half(3);
  REQUIRE_FALSE(bad.ok());
  CHECK(bad.error().code == ErrorCode::bad_usage);
}

TEST_CASE("result: context goes in front of the message and keeps the code") {
  auto bad = half(3);
  const Error error = std::move(bad).error().with_context("file.json: /a");
  CHECK(error.message == "file.json: /a: got an odd number");
  CHECK(error.code == ErrorCode::bad_usage);
}

TEST_CASE("result: a value that only moves can be moved out") {
  Result<std::unique_ptr<int>> result(std::make_unique<int>(7));
  const std::unique_ptr<int> taken = *std::move(result);
  CHECK(*taken == 7);
}

TEST_CASE("result: a context goes in front of an error and leaves a value alone") {
  CHECK(half(3).with_context("--top").error().message == "--top: got an odd number");
  CHECK(*half(4).with_context("--top") == 2);
}

TEST_CASE("try: the value is taken, the first error returned as it is") {
  REQUIRE(quarter(12).ok());
  CHECK(*quarter(12) == 3);
  CHECK(quarter(3).error().message == "got an odd number");
  CHECK(quarter(6).error().message == "quarter: got an odd number");
  CHECK(quarter(6).error().code == ErrorCode::bad_usage);
}

TEST_CASE("try: a value is moved to where it is assigned, and an error leaves that alone") {
  Box box;
  REQUIRE(box.fill(14).ok());
  const int* const first = box.content.get();
  CHECK(*first == 7);
  REQUIRE_FALSE(box.fill(15).ok());
  CHECK(box.content.get() == first);
}

TEST_CASE("try: an expression is evaluated once, and is one statement where nothing is taken") {
  for (const bool twice : {false, true}) {
    Counted counted;
    CHECK(counted.run(1, twice).ok());
    CHECK(counted.asked == (twice ? 2 : 1));
    CHECK(counted.went_on == (twice ? 1 : 2));
    counted = {};
    CHECK(counted.run(-1, twice).error().code == ErrorCode::no_match);
    CHECK(counted.asked == 1);
    CHECK(counted.went_on == (twice ? 0 : 1));
  }
}

TEST_CASE("try: what a variable holds is copied, and stays") {
  const Result<std::map<int, std::string>> names(std::map<int, std::string>{{1, "one"}});
  Result<std::string> word(std::string("word"));
  const auto both = [&]() -> Result<std::string> {
    FORETRACE_TRY(auto copied, names);
    FORETRACE_TRY(const auto& seen, names);
    CHECK(&seen == &*names);
    FORETRACE_TRY(auto text, word);
    return copied[1] + text;
  };
  CHECK(*both() == "oneword");
  CHECK(names->at(1) == "one");
  CHECK(*word == "word");
  word = Error{ErrorCode::io, "gone"};
  CHECK(both().error().message == "gone");
  CHECK(word.error().message == "gone");
}

TEST_CASE("result: a broken invariant throws and names the condition") {
  CHECK_THROWS_AS(FORETRACE_CHECK(1 + 1 == 3), std::logic_error);
  CHECK_NOTHROW(FORETRACE_CHECK(1 + 1 == 2));
}

TEST_CASE("result: every error code has its own name") {
  CHECK(to_string(ErrorCode::missing_cost) == "missing-cost");
  CHECK(to_string(ErrorCode::no_match) == "no-match");
}
