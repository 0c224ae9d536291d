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

TEST_CASE("text: times have four digits and no exponent") {
  CHECK(four_digit_time(12'344'000) == "12.34 ms");
  CHECK(four_digit_time(-3'200'000) == "-3.2 ms");
  CHECK(four_digit_time(9'999.4e6) == "9999 ms");
  CHECK(four_digit_time(9'999.6e6) == "10.00 s");
  CHECK(four_digit_time(43'430e6) == "43.43 s");
  CHECK(four_digit_time(-434'300e6) == "-434.3 s");
  CHECK(four_digit_time(4.3e16) == "43000000 s");
}

TEST_CASE("text: what is counted once is in the singular") {
  CHECK(with_singulars("1 graphs stay") == "1 graph stay");
  CHECK(with_singulars("1 kernels in 2 passes") == "1 kernel in 2 passes");
  CHECK(with_singulars("3 kernels of 1 passes run") == "3 kernels of 1 pass run");
  CHECK(with_singulars("69 parts; 1 forward kernels (1 copies, 1 batches)") ==
        "69 parts; 1 forward kernel (1 copy, 1 batch)");
}

TEST_CASE("text: other numbers, shares and words that are no plurals stay") {
  for (const char* text : {"21 graphs", "0.1 kernels", "1 of 3 kernels", "1 ms of kernels",
                           "1 pass", "1 bus", "x 1 ", "1", "", "1, kernels", "1 GB/s of copies"}) {
    CHECK(with_singulars(text) == text);
  }
}
