#include "sim/core/text.h"

#include <vector>

#include <doctest/doctest.h>

using namespace foretrace;

TEST_CASE("text: a part is found anywhere, in any case where that is asked for") {
  CHECK(contains("cudaMemcpyAsync", "Memcpy"));
  CHECK_FALSE(contains("cudaMemcpyAsync", "memcpy"));
  CHECK(contains("a:b", ':'));
  CHECK_FALSE(contains("ab", ':'));
  CHECK(contains_ignore_case("cudaMemcpyAsync", "MEMCPY"));
  CHECK_FALSE(contains_ignore_case("cuda", "cudaX"));
  CHECK(contains_ignore_case("", ""));
  CHECK(contains_any("hipMemset", {"Memcpy", "Memset"}));
  CHECK_FALSE(contains_any("hipMemset", {}));
}

TEST_CASE("text: starts are compared as asked") {
  CHECK(starts_with_any("ncclDevKernel", {"rccl", "nccl"}));
  CHECK(equals_ignore_case("Gloo", "gLOO"));
  CHECK_FALSE(equals_ignore_case("Gloo", "gloo2"));
  CHECK(lower_case("ABC \xC3\x84") == "abc \xC3\x84");  // bytes of other letters stay
}

TEST_CASE("text: trimming, joining and the name of a file") {
  CHECK(trimmed(" \ta b\r\n") == "a b");
  CHECK(trimmed(" \n").empty());
  CHECK(join(std::vector<std::string>{"a", "b", "c"}, ", ") == "a, b, c");
  CHECK(join(std::vector<std::string>{"", "b"}, "-") == "-b");
  CHECK(join(std::vector<std::string>{}, ", ").empty());
  CHECK(file_name_of("/a/b.json") == "b.json");
  CHECK(file_name_of("b.json") == "b.json");
  CHECK(file_name_of("/a/").empty());
}
