#include "trace/formats/json/json_check.h"

#include <string>

#include <doctest/doctest.h>
#include <simdjson.h>

namespace foretrace::trace::formats {

TEST_CASE("json check: says what a full parser says") {
  simdjson::dom::parser parser;
  const std::string deep = std::string(60, '[') + std::string(60, ']');
  for (const std::string text : {"1",
                                 "-1.5e+3",
                                 "0",
                                 "\"\"",
                                 "\"a\\n\\u00fc\"",
                                 "[]",
                                 "[1, 2]",
                                 "[[], [1]]",
                                 "{}",
                                 "{\"a\": 1, \"b\": [true, false, null]}",
                                 " [ 1 , 2 ] ",
                                 deep.c_str(),
                                 "",
                                 "01",
                                 "-",
                                 "1.",
                                 "1e",
                                 ".5",
                                 "+1",
                                 "nan",
                                 "inf",
                                 "tru",
                                 "[1,]",
                                 "[,1]",
                                 "[1 2]",
                                 "{\"a\"}",
                                 "{\"a\":}",
                                 "{a: 1}",
                                 "{\"a\": 1,}",
                                 "\"",
                                 "\"\\x\"",
                                 "\"\\u12g4\"",
                                 "\"a\nb\"",
                                 "[1}",
                                 "[",
                                 "]",
                                 "1 2",
                                 "\"\xC3\xBC\"",
                                 "\"\xFF\"",
                                 "[1]]",
                                 "{\"a\": 1}}"}) {
    CHECK_MESSAGE(is_valid_json(text) == (parser.parse(text).error() == simdjson::SUCCESS), text);
  }
}

TEST_CASE("json check: nesting is bounded") {
  CHECK(is_valid_json(std::string(64, '[') + std::string(64, ']')));
  CHECK(!is_valid_json(std::string(66, '[') + std::string(66, ']')));
  CHECK(!is_valid_json(std::string(1'000'000, '[')));
}

TEST_CASE("json check: blanks are made plain outside strings only") {
  CHECK(with_plain_blanks("[[1,2],[ ]]") == "[[1, 2], []]");
  CHECK(with_plain_blanks("{ \"a , b\" :\n\t1 }") == "{\"a , b\": 1}");
  CHECK(with_plain_blanks(R"(["a\" , b","c\\",1])") == R"(["a\" , b", "c\\", 1])");
}

}  // namespace foretrace::trace::formats
