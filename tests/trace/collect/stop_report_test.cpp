// What a recording says that stopped early.
#include "trace/collect/stop_report.h"

#include <string>

#include <doctest/doctest.h>

namespace foretrace::trace::collector {
namespace {

TEST_CASE("stop report: when and why, on one line, and nothing of a whole recording") {
  CHECK(stop_warning({}).empty());
  CHECK(stop_warning({{"stopped", "No space left on device"}, {"recorded until", "1700000000"}}) ==
        "recorded until 2023-11-14 22:13:20 UTC only, the program continued: No space left on "
        "device");
  CHECK(stop_warning({{"stopped", "x\ny"}, {"recorded until", "0"}}) ==
        "recorded until its first call only, the program continued: x y");
}

TEST_CASE("stop report: a number that is no date stays a number") {
  CHECK(utc_text(0) == "1970-01-01 00:00:00 UTC");
  CHECK(utc_text(-5) == "-5");
  CHECK(utc_text(std::int64_t{1} << 60) == std::to_string(std::int64_t{1} << 60));
}

}  // namespace
}  // namespace foretrace::trace::collector
