#include "tests/validation/maps/table_map.h"

#include <algorithm>
#include <set>
#include <string>

#include <doctest/doctest.h>

#include "sim/core/config_text.h"
#include "tests/validation/tables/tables.h"

namespace foretrace::validation {
namespace {

TEST_CASE("maps: every one of the source tree is read, and none of their tables has two") {
  const auto maps = read_table_maps(FORETRACE_SOURCE_DIR "/tests/validation/maps");
  REQUIRE_MESSAGE(maps.ok(), maps.error().message);
  CHECK(maps->size() >= 31);
  std::set<std::string> tables;
  for (const TableMap& map : *maps) {
    for (const auto& table : map.tables) {
      const std::string& id = table.first;
      CAPTURE(id);
      CHECK(tables.insert(id).second);
      CHECK(reader_of(id) == nullptr);
    }
  }
}

TEST_CASE("maps: a mistake is told with its place") {
  const auto told = [](const std::string& members) {
    const auto map = parse_table_map(
        R"({"schema": "foretrace.table_map/1", "tables": ["t"], "unit": "s", )" + members + "}",
        "t.json");
    REQUIRE_FALSE(map.ok());
    return map.error().message;
  };
  const std::string points = R"("run": {}, "points": [{"column": "a", "is": "time"}])";
  CHECK(parse_table_map(R"({"schema": "foretrace.table_map/1", "tables": ["t"], "unit": "s",
                            "columns": {"a": "measured"}, )" +
                            points + "}",
                        "t.json")
            .ok());
  CHECK(told(R"("columns": {"b": "measured"}, )" + points) == "points: a is no column of the map");
  CHECK(told(R"("columns": {"a": "guessed"}, )" + points) ==
        "a: got 'guessed', expected ignored, text or measured");
  CHECK(told(R"("columns": {"a": {"most": 1}}, )" + points) == "a: unknown key most");
  CHECK(told(R"("columns": {"a": "measured"}, "run": {}, "points": [])") ==
        "points: expected at least one");
  CHECK(told(R"("columns": {"a": "measured"}, "run": {},
               "points": [{"column": "a", "is": "guess"}])") ==
        "points: is: got guess, expected one of time, rate, memory, forward, layer, layer_forward, "
        "layer_backward, operators, states, activations, prompt, token, total, served_token, "
        "served_first_token, served_latency, collective, exchange, exchange_rate, beside");
}

TEST_CASE("maps: members of objects are merged, everything else replaces") {
  ConfigValue into = parse_config(R"({"a": {"b": 1, "c": [1, 2]}, "d": "x"})").value();
  merge_members(into, parse_config(R"({"a": {"c": [3], "e": 4}, "d": {"f": 5}})").value());
  CHECK(into.find("a")->find("b")->text == "1");
  CHECK(into.find("a")->find("c")->items.size() == 1);
  CHECK(into.find("a")->find("e")->text == "4");
  CHECK(into.find("d")->find("f")->text == "5");
}

}  // namespace
}  // namespace foretrace::validation
