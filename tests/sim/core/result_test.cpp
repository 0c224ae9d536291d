#include "sim/core/result.h"

#include <memory>
#include <stdexcept>

#include <doctest/doctest.h>

using foretrace::Error;
using foretrace::ErrorCode;
using foretrace::Result;

namespace {
Result<int> half(int value) {
  if (value % 2 != 0) return Error{ErrorCode::bad_usage, "got an odd number"};
  return value / 2;
}
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

TEST_CASE("result: a broken invariant throws and names the condition") {
  CHECK_THROWS_AS(FORETRACE_CHECK(1 + 1 == 3), std::logic_error);
  CHECK_NOTHROW(FORETRACE_CHECK(1 + 1 == 2));
}

TEST_CASE("result: every error code has its own name") {
  CHECK(to_string(ErrorCode::missing_cost) == "missing-cost");
  CHECK(to_string(ErrorCode::no_match) == "no-match");
}
