#include "trace/formats/json/json_walk.h"

#include <string>

#include <doctest/doctest.h>

namespace foretrace::trace::formats {
namespace {

/// What a walk that enters everything but lists named "whole" says, one word per happening.
std::string walked(const std::string& text) {
  const auto source = open_memory(text, "t");
  std::string log;
  const ReadOptions options;
  JsonWalk walk(
      *source, options,
      {.enter = [](std::string_view path) { return !path.ends_with("whole"); },
       .leave = [&](std::string_view path) { log += "<" + std::string(path) + "> "; },
       .take = [&](std::string_view path, std::string_view value,
                   std::uint64_t) { log += std::string(path) + "=" + std::string(value) + " "; },
       .damage = [&](std::string_view reason,
                     std::uint64_t) { log += "!" + std::string(reason) + " "; }});
  const Status status = walk.walk();
  CHECK(status.ok());
  return log;
}

TEST_CASE("json walk: values come with their path, containers end with theirs") {
  CHECK(walked(R"({"a": [1, {"b": "x"}], "whole": [1, 2]})") ==
        R"(a/[]=1 a/[]/b="x" <a/[]> <a> whole=[1, 2] <> )");
  CHECK(walked("[]") == "<> ");
  CHECK(walked("{}") == "<> ");
  CHECK(walked("7") == "=7 ");
  CHECK(walked(R"({"a\u0041": 1})") == "aA=1 <> ");
}

TEST_CASE("json walk: damage ends the walk, once, and containers still end") {
  CHECK(walked("") == "!text ends early ");
  CHECK(walked(R"({"a": [1, )") == "a/[]=1 !text ends early <a> <> ");
  CHECK(walked(R"({"a" 1})") == "!no valid JSON from here on <> ");
  CHECK(walked(R"([1 2])") == "[]=1 !no valid JSON from here on <> ");
  CHECK(walked(R"({1: 2})") == "!no valid JSON from here on <> ");
}

TEST_CASE("json walk: nesting without end does not end the program") {
  // Everything is entered, so that only depth itself can stop it.
  const std::string open(200000, '[');
  CHECK(walked(open).find("!text ends early") != std::string::npos);
  CHECK(walked(open + std::string(200000, ']')).find("!value nested too deeply") !=
        std::string::npos);
}

}  // namespace
}  // namespace foretrace::trace::formats
