#include "apps/cli/output/as_typed.h"

#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include "trace/formats/common/own_files.h"

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
  CHECK(as_typed(
            "t: node 2 'all': no duration is recorded for 8 bytes; state the network bandwidth") ==
        "t: node 2 'all': no duration is recorded for 8 bytes; add --network-bandwidth RATE");
  CHECK(as_typed("best set: no work and no times, expected an order by memory") ==
        "--search: no work and no times, expected --by memory");
}

TEST_CASE("as typed: behind what a file is stands the command for it; a pipe becomes a file") {
  const auto told = [](const std::string& file, const std::string& kind) {
    return as_typed(file + ": contains a schema, expected a trace (it is " + kind + ")");
  };
  CHECK(told("run.json", "a training run") ==
        "run.json: contains a schema, expected a trace (it is a training run: foretrace simulate "
        "run.json)");
  CHECK(told("standard input", "a training run") ==
        "standard input: contains a schema, expected a trace (it is a training run, which is read "
        "from a file alone: foretrace simulate FILE)");
  CHECK(told("/dev/null", "a scenario") ==
        "/dev/null: contains a schema, expected a trace (it is a scenario, which is read from a "
        "file alone: foretrace simulate FILE)");
  CHECK(told("my.json", "a cluster") ==
        "my.json: contains a schema, expected a trace (it is a cluster: foretrace plan MODEL "
        "--cluster my.json)");
  CHECK(told("standard input", "an accelerator") ==
        "standard input: contains a schema, expected a trace (it is an accelerator, which is read "
        "from a file alone: foretrace whatif TRACE --accelerator FILE)");
  CHECK(as_typed("explain: my.json contains a schema, expected a name (it is a model)") ==
        "explain: my.json contains a schema, expected a name (it is a model: foretrace plan "
        "my.json --cluster NAME)");
  CHECK(as_typed("a.json: /schema: got 'x', expected y; it is a what-if") ==
        "a.json: /schema: got 'x', expected y; it is a what-if: foretrace whatif TRACE --apply "
        "@a.json");
  CHECK(told("run.json", "a surprise").ends_with("(it is a surprise)"));
}

TEST_CASE("as typed: a command takes each kind of file that users write") {
  for (const std::string name :
       {"scenario", "training", "schedule", "serving", "streams", "mapping", "storage", "federated",
        "sweep", "accelerator", "cluster", "framework", "model", "what_if", "kernel_table",
        "attention"}) {
    const std::string_view kind = trace::formats::kind_of_own("foretrace." + name + "/1");
    CHECK_MESSAGE(!kind.empty(), name);
    CHECK(as_typed("f: contains it, expected a trace (it is " + std::string(kind) + ")")
              .find(std::string(kind) + ": foretrace ") != std::string::npos);
  }
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
