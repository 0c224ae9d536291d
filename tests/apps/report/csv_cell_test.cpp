#include "apps/report/csv_cell.h"

#include <cstddef>
#include <random>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

namespace foretrace::report {
namespace {

/// What a reader of RFC 4180 makes of one cell.
std::string read_back(std::string_view cell) {
  if (!cell.starts_with('"')) return std::string(cell);
  std::string text;
  for (std::size_t i = 1; i + 1 < cell.size(); ++i) {
    text += cell[i];
    if (cell[i] == '"') ++i;
  }
  return text;
}

TEST_CASE("csv: numbers stay, names that would be formulas become text") {
  for (const char* const text : {"-5", "-1e-9", "0.5", "relu", "", "-", "=", "a=b", "'=x"}) {
    CHECK(csv_name(text) == text);
  }
  CHECK(csv_name("=1+1") == "'=1+1");
  CHECK(csv_name("-2+3") == "'-2+3");
  CHECK(csv_name("+5") == "'+5");
  CHECK(csv_name("@SUM(A1,B1)") == "\"'@SUM(A1,B1)\"");
  CHECK(csv_name("\t=1") == "'\t=1");
  CHECK(csv_name("\r=1") == "\"'\r=1\"");
  CHECK(csv_cell("-2+3") == "-2+3");
}

TEST_CASE("csv: of random names none is a formula, and none is lost") {
  std::mt19937_64 random(15);
  constexpr std::string_view letters = "=+-@\t\r\n,\"'a1.e ";
  for (int run = 0; run < 20'000; ++run) {
    std::string name;
    for (std::size_t i = random() % 6; i > 0; --i) name += letters[random() % letters.size()];
    CAPTURE(name);
    CHECK(read_back(csv_cell(name)) == name);
    const std::string text = read_back(csv_name(name));
    CHECK((text == name || text == "'" + name));
    const bool begins_so = text.find_first_of("=+-@\t\r\n") == 0;
    // What is left to begin so is a number, or one letter alone.
    CHECK((!begins_so || text.size() == 1 || text.find_first_not_of("-.e1") == std::string::npos));
  }
}

}  // namespace
}  // namespace foretrace::report
