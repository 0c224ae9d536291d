#include "sim/core/hidden_text.h"

#include <doctest/doctest.h>

using foretrace::hidden_length;
using foretrace::with_hidden_escaped;

TEST_CASE("hidden text: what commands a terminal, turns text or takes no room is found") {
  CHECK(hidden_length("\x7F") == 1);              // DEL
  CHECK(hidden_length("\xC2\x9B") == 2);          // begins an escape sequence
  CHECK(hidden_length("\xC2\xAD") == 2);          // soft hyphen
  CHECK(hidden_length("\xE2\x80\xAE") == 3);      // right to left
  CHECK(hidden_length("\xE2\x80\x8B") == 3);      // zero-width space
  CHECK(hidden_length("\xEF\xBB\xBF") == 3);      // byte order mark
  CHECK(hidden_length("\xF3\xA0\x81\x81") == 4);  // tag
}

TEST_CASE("hidden text: letters, signs, spaces and what is no UTF-8 are seen") {
  for (const char* text : {"a", " ", "~", "\n", "", "\xC2\xA0", "\xC3\xA9", "\xE2\x80\x94",
                           "\xE2\x80\x8A", "\xE2\x82\xAC", "\xF0\x9F\x98\x80", "\xC2", "\x9B"}) {
    CHECK(hidden_length(text) == 0);
  }
}

TEST_CASE("hidden text: an escaped document says the same without the characters") {
  CHECK(with_hidden_escaped("{\"a\": \"x\x7F\xC2\x9B\xE2\x80\xAE\xC3\xA9\"}") ==
        "{\"a\": \"x\\u007f\\u009b\\u202e\xC3\xA9\"}");
  CHECK(with_hidden_escaped("\xF3\xA0\x81\x81") == "\\udb40\\udc41");
  CHECK(with_hidden_escaped("plain") == "plain");
}
