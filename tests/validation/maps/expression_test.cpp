#include "tests/validation/maps/expression.h"

#include <string>

#include <doctest/doctest.h>

namespace foretrace::validation {
namespace {

const Variables row = {{"tp", 8}, {"gpus", 64}, {"seq_len", 2048}};

TEST_CASE("expressions: arithmetic binds as usual, and names are columns") {
  CHECK(calculate("2 + 3 * 4 - 6 / 2", row).value() == 11);
  CHECK(calculate("(2 + 3) * 4", row).value() == 20);
  CHECK(calculate("gpus / (tp * 2)", row).value() == 4);
  CHECK(calculate("96 - 16 - 16", row).value() == 64);
  CHECK(calculate("min(8, gpus) + max(1, tp) + ceil(gpus / 60) + floor(2.9)", row).value() == 20);
  CHECK(calculate("if(seq_len <= 128, 65536, 32768) / 8", row).value() == 4096);
  CHECK(calculate("(gpus > 1) * (tp == 8)", row).value() == 1);
  CHECK(calculate("tp >= 9", row).value() == 0);
}

TEST_CASE("expressions: what is none is said, and nothing that is not finite comes out") {
  for (const char* const wrong : {"", "tp +", "tp tp", "(tp", "pp", "max(tp)", "gpus / 0", "tp)",
                                  "if(tp, 1)", "sqrt(4)", "1e300 * 1e300", "nan", "$"}) {
    CAPTURE(wrong);
    CHECK_FALSE(calculate(wrong, row).ok());
  }
  CHECK(calculate("gpus / pp", row).error().message ==
        "'gpus / pp': got the name pp, which is no number of the row");
  std::string calls;
  for (int i = 0; i < 100'000; ++i) calls += "max(1,";
  for (const std::string& deep : {std::string(100'000, '('), calls}) {
    CHECK_FALSE(calculate(deep, row).ok());
  }
}

}  // namespace
}  // namespace foretrace::validation
