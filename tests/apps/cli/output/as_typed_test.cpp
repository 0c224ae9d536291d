#include "apps/cli/output/as_typed.h"

#include <doctest/doctest.h>

namespace foretrace::app {
namespace {

TEST_CASE("as typed: what an error is about becomes the option that asked for it") {
  CHECK(as_typed("memory budget: got '0', expected from 1 B to 100 PB") ==
        "--memory-budget: got '0', expected from 1 B to 100 PB");
  CHECK(as_typed("order by memory: the trace records no tensors") ==
        "--by memory: the trace records no tensors");
  CHECK(as_typed("step: got '3x', expected median, all or a step number") ==
        "--step: got '3x', expected median, all or a step number");
  CHECK(as_typed("step -7: the trace has no steps") == "--step -7: the trace has no steps");
}

TEST_CASE("as typed: advice names the option, wherever it stands") {
  CHECK(as_typed("t: node 2 'all': no duration is recorded for 8 bytes; give the rate of the "
                 "network") ==
        "t: node 2 'all': no duration is recorded for 8 bytes; give the rate with "
        "--network-bandwidth");
  CHECK(as_typed("rank all: no work and no times, expected an order by memory") ==
        "--rank-all: no work and no times, expected --by memory");
}

TEST_CASE("as typed: files that are called like a question, and other texts, stay") {
  for (const char* const text :
       {"", "step", "step: no such file or directory", "step 5.json: no such file or directory",
        "step_9: not JSON", "memory budget", "memory budgets: a folder", "best set of 3",
        "run.json: memory budget: as it was", "--step 9: the trace has no steps"}) {
    CHECK(as_typed(text) == text);
  }
}

}  // namespace
}  // namespace foretrace::app
