#include "sim/core/utf8.h"

#include <doctest/doctest.h>

namespace foretrace {
namespace {

TEST_CASE("utf8: the first character and its bytes, of one to four") {
  const auto is = [](std::string_view text, std::uint32_t code, std::size_t bytes) {
    const CodePoint first = first_code_point(text);
    return first.code == code && first.bytes == bytes;
  };
  CHECK(is("ab", 'a', 1));
  CHECK(is("\xC3\xA4x", 0xE4, 2));
  CHECK(is("\xE2\x82\xAC", 0x20AC, 3));
  CHECK(is("\xF0\x9F\x98\x80", 0x1F600, 4));
  CHECK(is("\xF4\x8F\xBF\xBF", 0x10FFFF, 4));  // the last one
  CHECK(is("", 0, 0));
}

TEST_CASE("utf8: what is cut off, overlong, a surrogate or too high is no character") {
  for (const std::string_view wrong :
       {"\x80", "\xC3", "\xC3x", "\xC0\xAF", "\xE0\x80\xAF", "\xE2\x82", "\xED\xA0\x80",
        "\xF0\x80\x80\xAF", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF"}) {
    CHECK(first_code_point(wrong).bytes == 0);
  }
  // Each byte by itself is replaced, what follows stays.
  CHECK(with_valid_utf8("a\xC0\xAF\xC3\xA4") == "a\xEF\xBF\xBD\xEF\xBF\xBD\xC3\xA4");
}

TEST_CASE("utf8: characters are counted, not bytes") {
  CHECK(utf8_characters("") == 0);
  CHECK(utf8_characters("a\xC3\xA4\xE2\x82\xAC") == 3);
}

TEST_CASE("utf8: JSON escapes quotes, control and hidden characters") {
  CHECK(json_escaped("a\"b\\c\n") == R"(a\"b\\c\u000a)");
  CHECK(json_escaped("\xE2\x80\xAE") == R"(\u202e)");  // turns the direction
  CHECK(json_string("\xC3\xA4") == "\"\xC3\xA4\"");
  CHECK(json_string("\xFFx\xC3") == "\"\xEF\xBF\xBDx\xEF\xBF\xBD\"");
}

}  // namespace
}  // namespace foretrace
