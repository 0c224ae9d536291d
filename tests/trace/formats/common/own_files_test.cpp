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

TEST_CASE("own files: each says what it is; what users do not write is nothing") {
  CHECK(kind_of_own("foretrace.training/1") == "a training run");
  CHECK(kind_of_own("foretrace.cluster/1") == "a cluster");
  CHECK(kind_of_own("foretrace.result/2").empty());
  CHECK(kind_of_own("").empty());
}

}  // namespace
}  // namespace foretrace::trace::formats
