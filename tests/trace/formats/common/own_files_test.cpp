#include "trace/formats/common/own_files.h"

#include <doctest/doctest.h>

namespace foretrace::trace::formats {
namespace {

TEST_CASE("own files: the schema of the outermost object counts, a quoted one does not") {
  CHECK(own_schema(R"({"schema": "foretrace.cluster/1"})") == "foretrace.cluster/1");
  CHECK(own_schema(R"({"a": {"b": 1}, "schema": "foretrace.model/1", "c": 2})") ==
        "foretrace.model/1");
  CHECK(
      own_schema(R"({"metadata": {"schema": "foretrace.cluster/1"}, "traceEvents": []})").empty());
  CHECK(own_schema(R"({"schema": "1-0-2", "nodes": []})").empty());
  CHECK(own_schema("").empty());
}

TEST_CASE("own files: each says which command takes it, a pipe is told to become a file") {
  CHECK(taker_of("foretrace.training/1", "run.json") == "simulate takes it");
  CHECK(taker_of("foretrace.training/1", "standard input") == "simulate takes it as a file");
  CHECK(taker_of("foretrace.cluster/1", "my.json") == "plan MODEL --cluster my.json takes it");
  CHECK(taker_of("foretrace.accelerator/1", "standard input") ==
        "whatif TRACE --accelerator FILE takes it");
  CHECK(taker_of("foretrace.result/2", "out.json").empty());
}

}  // namespace
}  // namespace foretrace::trace::formats
