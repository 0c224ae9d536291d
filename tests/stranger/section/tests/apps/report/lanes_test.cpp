#include <doctest/doctest.h>

#include "tests/apps/support/program.h"

TEST_CASE("lanes: inspect counts threads and streams") {
  const auto ran = foretrace::test::run_program(
      "inspect " + std::string(foretrace::test::demo_trace) + " --details");
  CHECK(ran.code == 0);
  CHECK(ran.out.find("\nlanes\n") != std::string::npos);
}
