#include <doctest/doctest.h>

#include "tests/trace/formats/read_helpers.h"

namespace foretrace::trace {
namespace {

TEST_CASE("kernel_csv: every line is a kernel on its stream") {
  auto loaded = read_trace(FORETRACE_SOURCE_DIR "/tests/fixtures/kernel_csv/two_kernels.csv", {});
  REQUIRE_MESSAGE(loaded.ok(), loaded.error().message);
  CHECK(loaded->events.info.format == "kernel_csv");
  REQUIRE(loaded->events.size() == 2);
  CHECK(loaded->events.kind[1] == EventKind::kernel);
  CHECK(loaded->events.duration_ns[1] == 5000);
}

}  // namespace
}  // namespace foretrace::trace
