#include "models/hardware/networks/imports/yaml_lists.h"

#include <string>

#include <doctest/doctest.h>

namespace foretrace::cluster_imports {
namespace {

/// "line key[a,b] ..." or the error.
std::string listing(const std::string& text) {
  const auto lists = yaml_lists(text, "n.yml");
  if (!lists.ok()) return lists.error().message;
  std::string all;
  for (const YamlList& list : *lists) {
    all += std::to_string(list.line) + " " + list.key + "[";
    for (const std::string& value : list.values) all += value + ",";
    all += "] ";
  }
  return all;
}

std::string times(int count, const std::string& text) {
  std::string all;
  for (int i = 0; i < count; ++i) all += text;
  return all;
}

}  // namespace

#ifdef FORETRACE_HAS_YAML
TEST_CASE("yaml lists: flow, block and quoted lists say the same, comments and order are kept") {
  CHECK(listing("# first\nb: [ Ring, 4 ]  # two\na: [1.5]\n") == "2 b[Ring,4,] 3 a[1.5,] ");
  CHECK(listing("b:\n  - Ring\n  - 4\n") == listing("b: [\n Ring,\n '4' ]\n"));
  CHECK(listing("a: 3\nb: {c: 1}\nc: [[1], 2]\n") == "1 a[] 2 b[] 3 c[,2,] ");
}

TEST_CASE("yaml lists: what is no mapping of lists is one line") {
  CHECK(listing("") == "n.yml:1: is no mapping, expected lines such as key: [ 1 ]");
  CHECK(listing("hello") == "n.yml:1: is no mapping, expected lines such as key: [ 1 ]");
  CHECK(listing("a: [1\nb: [2]\n").starts_with("n.yml:2: is no YAML: "));
  CHECK(listing("a: *b") == "n.yml:1: is no YAML: the referenced anchor is not defined");
  CHECK(listing("[a, b]: [1]") == "n.yml:1: the key is no word");
}

TEST_CASE("yaml lists: deep nesting, aliases that multiply and long files end in one line") {
  for (const char* open : {"[", "{", "{a: ", "- ", "? "}) {
    CAPTURE(open);
    CHECK(listing("a: " + times(50'000, open)).starts_with("n.yml:1: "));
    CHECK(listing(times(50'000, open)).starts_with("n.yml:1: is nested hundreds of times"));
  }
  std::string bomb = "a0: &a0 [x,x]\n";
  for (int i = 1; i < 60; ++i) {
    const std::string before = std::to_string(i - 1);
    const std::string name = std::to_string(i);
    bomb += "a" + name + ": &a" + name + " [*a" + before + ",*a" + before + "]\n";
  }
  CHECK(listing(bomb).ends_with("60 a59[,,] "));
  CHECK(listing("a: [" + times(200'000, "1,") + "]") ==
        "n.yml: 400005 bytes of YAML, expected at most 262144");
}
#else
TEST_CASE("yaml lists: a build without yaml-cpp says so") {
  CHECK(listing("a: [1]") == "n.yml: is YAML, which this build cannot read (it has no yaml-cpp)");
}
#endif

}  // namespace foretrace::cluster_imports
