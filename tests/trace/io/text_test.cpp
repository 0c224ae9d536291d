#include "trace/io/text.h"

#include <string>

#include <doctest/doctest.h>

namespace foretrace::trace {

TEST_CASE("text: every byte outside valid UTF-8 becomes one replacement character") {
  const std::string replaced = "\xEF\xBF\xBD";
  CHECK(with_valid_utf8("plain") == "plain");
  CHECK(with_valid_utf8("f\xC3\xBCr \xE2\x82\xAC \xF0\x9F\x98\x80") ==
        "f\xC3\xBCr \xE2\x82\xAC \xF0\x9F\x98\x80");
  CHECK(with_valid_utf8("a\xFF") == "a" + replaced);
  CHECK(with_valid_utf8("\xC3") == replaced);                 // cut off
  CHECK(with_valid_utf8("\xC0\x80") == replaced + replaced);  // overlong
  CHECK(with_valid_utf8("\xE0\x80\x80") == replaced + replaced + replaced);
  CHECK(with_valid_utf8("\xED\xA0\x80") == replaced + replaced + replaced);  // surrogate
  CHECK(with_valid_utf8("\xF4\x90\x80\x80").size() == 4 * replaced.size());  // beyond U+10FFFF
  for (int byte = 0; byte < 256; ++byte) {
    for (int second = 0; second < 256; ++second) {
      const std::string two = {static_cast<char>(byte), static_cast<char>(second)};
      CHECK(is_valid_utf8(with_valid_utf8(two)));
      CHECK((with_valid_utf8(two) == two) == is_valid_utf8(two));
    }
  }
}

TEST_CASE("text: escapes are resolved, unknown ones stay") {
  CHECK(unescaped(R"(a\"b\\c\/d\n\t\r\b\f)") == "a\"b\\c/d\n\t\r\b\f");
  CHECK(unescaped(R"(\u0041\u00fc\u20AC)") == "A\xC3\xBC\xE2\x82\xAC");
  CHECK(unescaped(R"(\ud83d\ude00)") == "\xF0\x9F\x98\x80");
  CHECK(unescaped(R"(\ud83dx)") == "\xEF\xBF\xBDx");
  CHECK(unescaped(R"(\ude00)") == "\xEF\xBF\xBD");
  CHECK(unescaped(R"(\q)") == R"(\q)");
  CHECK(unescaped(R"(\u12)") == R"(\u12)");
  CHECK(unescaped("\\") == "\\");
  CHECK(unescaped(R"(C:\Users)") == "C:\\Users");
}

TEST_CASE("text: examples are one line of valid UTF-8 within the limit") {
  CHECK(shortened("a\n\t b\r\n") == "a b ");
  CHECK(shortened(std::string(200, 'x'), 20) == std::string(17, 'x') + "...");
  CHECK(shortened("12345678901234567890", 20) == "12345678901234567890");
  // The cut falls into a character: it goes as a whole.
  std::string wide;
  for (int i = 0; i < 50; ++i) {
    wide += "\xE2\x82\xAC";
  }
  const std::string cut = shortened(wide, 20);
  CHECK(is_valid_utf8(cut));
  CHECK(cut.size() <= 20);
  CHECK(shortened(std::string("a\0b", 3)) == "a b");
  // Lines, directions and escape sequences of more than one byte.
  CHECK(shortened("a\u2028b\u202Ec\u2066d\u009Be\u061Cf") == "a b c d e f");
  CHECK(shortened("a\u2026b\u2056c\u00A0") == "a\u2026b\u2056c\u00A0");
}

}  // namespace foretrace::trace
