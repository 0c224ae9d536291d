#include "apps/report/value.h"

#include <initializer_list>
#include <limits>
#include <stdexcept>

#include <doctest/doctest.h>

#include "sim/core/whole.h"

using foretrace::most_whole;
using foretrace::report::Value;

TEST_CASE("value: figures that nothing can be are a mistake of ours") {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  constexpr double no_number = std::numeric_limits<double>::quiet_NaN();
  const auto is_refused = [](const auto& make) {
    try {
      static_cast<void>(make());
      return false;
    } catch (const std::logic_error&) {  // which ends the program with 3, however it was built
      return true;
    }
  };
  for (const double number : {infinite, -infinite, no_number}) {
    CHECK(is_refused([&] { return Value::plain(number); }));
    CHECK(is_refused([&] { return Value::factor(number); }));
    CHECK(is_refused([&] { return Value::change(number); }));
    CHECK(is_refused([&] { return Value::share(number); }));
    CHECK(is_refused([&] { return Value::part(number); }));
  }
  CHECK(is_refused([] { return Value::bandwidth(infinite); }));
  // What no whole number holds became the largest.
  CHECK(is_refused([&] { return Value::time(foretrace::to_whole(infinite)); }));
  CHECK(is_refused([&] { return Value::bytes(foretrace::to_whole(-1e300)); }));
  CHECK(is_refused([] { return Value::part(1.01); }));
  CHECK(is_refused([] { return Value::part(-0.01); }));
  // Differences may be below 0, errors above 1.
  CHECK(Value::time(-5).is_known());
  CHECK(Value::time(most_whole - 1).is_known());
  CHECK(Value::share(2).is_known());
  CHECK(Value::change(-0.5).is_known());
  CHECK(Value::part(0).is_known());
  CHECK(Value::part(1).is_known());
}
