#include "models/whatifs/what_if_spec.h"

#include <doctest/doctest.h>

namespace foretrace {
namespace {

using Parameters = std::vector<std::pair<std::string, std::string>>;

TEST_CASE("a what-if is a name with parameters") {
  const Result<WhatIfSpec> bare = parse_what_if("mixed_precision");
  REQUIRE(bare.ok());
  CHECK(bare->name == "mixed_precision");
  CHECK(bare->parameters.empty());

  const Result<WhatIfSpec> two = parse_what_if("data_loader_workers:workers=4,queue_get=0.5 ms");
  REQUIRE(two.ok());
  CHECK(two->parameters == Parameters{{"workers", "4"}, {"queue_get", "0.5 ms"}});
}

TEST_CASE("quotes keep commas, equal signs, ampersands and doubled quotes") {
  const Result<WhatIfSpec> spec =
      parse_what_if("scale:select='kind=kernel&name~ge,mm&name!=''x''',factor=0.5");
  REQUIRE(spec.ok());
  CHECK(spec->parameters ==
        Parameters{{"select", "kind=kernel&name~ge,mm&name!='x'"}, {"factor", "0.5"}});
}

TEST_CASE("an empty value is a value") {
  CHECK(parse_what_if("a:b=")->parameters == Parameters{{"b", ""}});
  CHECK(parse_what_if("a:b=''")->parameters == Parameters{{"b", ""}});
}

TEST_CASE("what is wrong is said with its place") {
  const auto message = [](const char* text) { return parse_what_if(text).error().message; };
  CHECK(message("") == "what-if '': a name is missing at position 1");
  CHECK(message("a b") ==
        "what-if 'a b': ':' and parameters is expected after the name at position 2");
  CHECK(message("a:") == "what-if 'a:': the name of a parameter is missing at position 3");
  CHECK(message("a:b") == "what-if 'a:b': '=' and a value for 'b' is expected at position 4");
  CHECK(message("a:b='c") == "what-if 'a:b='c': the quote is never closed, it opens at position 5");
  CHECK(message("a:b='c'd") == "what-if 'a:b='c'd': ',' is expected at position 8");
  CHECK(message("a:b=1,b=2") == "what-if 'a:b=1,b=2': parameter 'b' is given twice");
}

TEST_CASE("a bare selection is answered with the quoted one") {
  CHECK(parse_what_if("scale:select=kind=kernel,factor=2").error().message ==
        "what-if 'scale:select=kind=kernel,factor=2': a value that contains '=' needs quotes that "
        "reach the program: \"...select='kind=kernel'...\"");
}

TEST_CASE("a JSON file holds one what-if, a list, or an object with a list") {
  const auto one = parse_what_ifs_json(
      R"({"schema": "foretrace.what_if/1", "optimization": "scale", // a comment
          "parameters": {"factor": 0.5, "select": "kind=kernel&name~a,b", "strict": true}})",
      "f.json");
  REQUIRE(one.ok());
  REQUIRE(one->size() == 1);
  CHECK((*one)[0].name == "scale");
  CHECK((*one)[0].parameters ==
        Parameters{{"factor", "0.5"}, {"select", "kind=kernel&name~a,b"}, {"strict", "true"}});
  const auto list = parse_what_ifs_json(R"({"apply": [{"optimization": "a"}, "b:c=1"]})", "f.json");
  REQUIRE(list.ok());
  REQUIRE(list->size() == 2);
  CHECK((*list)[1].name == "b");
  CHECK((*list)[1].parameters == Parameters{{"c", "1"}});
}

TEST_CASE("errors in a JSON file have its name and the JSON pointer") {
  const auto message = [](const char* text) {
    return parse_what_ifs_json(text, "f.json").error().message;
  };
  CHECK(message("7") ==
        "f.json: /: got the number 7, expected a what-if: its text, or an object with "
        "\"optimization\" and \"parameters\" or with \"edits\"");
  CHECK(message(R"({"optimisation": "a"})") ==
        "f.json: '/optimisation': unknown key (did you mean 'optimization'?), expected one of "
        "schema, optimization, how_to, edits, parameters");
  CHECK(message(R"([{"parameters": {"a": []}, "optimization": "x"}])") ==
        "f.json: /0/parameters/a: got a list, expected text, a number or true/false");
  CHECK(message(R"({"apply": [{}]})") ==
        "f.json: /apply/0/optimization: missing key, expected a text");
  CHECK(message(R"({"schema": "foretrace.what_if/9"})") ==
        "f.json: /schema: got 'foretrace.what_if/9', expected \"foretrace.what_if/1\"");
  // Printed, it would be as deep.
  const std::string deep = R"({"schema": )" + std::string(200'000, '[') + std::string(200'000, ']');
  CHECK(message((deep + "}").c_str()) == "f.json: more than 64 levels of nesting");
  CHECK(message("{").rfind("f.json: ", 0) == 0);
  CHECK(message("{").find("line 1") != std::string::npos);
}

TEST_CASE("a stack mixes texts and files, and says which file cannot be read") {
  CHECK(parse_stack({"a", "b:c=1"})->size() == 2);
  CHECK(parse_stack({"@no/such/file.json"}).error().message ==
        "cannot read 'no/such/file.json': No such file or directory");
  CHECK(parse_stack({"@."}).error().message.rfind("cannot read '.': ", 0) == 0);
}

}  // namespace
}  // namespace foretrace
