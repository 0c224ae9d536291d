// One page of sections, written in every format.
#include "apps/report/writers.h"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

namespace foretrace::report {
namespace {

/// A page with everything that a section can hold.
Page sample() {
  Section answer{.key = "answer", .path = "run", .headline = "step 2.000 ms", .remark = "noise"};
  answer.fact("step_ns", "step", Value::time(2'000'000));
  answer.datum("seed", Value::plain(7));
  answer.line("rests on", "a guess");
  answer.line("more", "for those who ask", Show::details);
  answer.facts.push_back({"", "flag", Value::words("shared device"), Show::always, true});
  Section table{.key = "kernels", .path = "run", .scale_ns = 2'000'000};
  table.tables.push_back({.key = "kernels",
                          .title = "by kernel",
                          .columns = {{"name"},
                                      {"time_ns", "time", Show::always, true},
                                      {"", "share"},
                                      {"memory", "", Show::never}},
                          .longest = 2});
  for (const std::int64_t ns : {1'500'000, 400'000, 60'000, 40'000}) {
    table.tables[0].add({Value::words("k|" + std::to_string(ns / 1000)), Value::time(ns),
                         Value::share(static_cast<double>(ns) / 2e6),
                         Value::object({{"bytes", Value::bytes(1024)}})});
  }
  table.note("time: of the device");
  Section parts{.key = "parts", .path = "run/parts"};
  parts.tables.push_back(
      {.key = ".", .title = "parts", .columns = {{"", ""}, {"ns", "time"}}, .is_object = true});
  parts.tables[0].rows = {
      {.cells = {Value::words("the host"), Value::time(5)}, .key = "host_ns"},
      {.cells = {Value::words("nothing"), Value::time(0)}, .key = "idle_ns", .show = Show::never}};
  return {.schema = "foretrace.sample/1",
          .document_keys = {"first", "run", "absent"},
          .sections = {std::move(answer), std::move(table), std::move(parts)},
          .main_table = "kernels"};
}

TEST_CASE("web page: figures have signs, names keep their hyphens") {
  CHECK(with_signs("117 x 435.3 us -> 126 x 439.6 us (-1.5 %)") ==
        "117 \u00d7 435.3 \u00b5s \u2192 126 \u00d7 439.6 \u00b5s (\u22121.5 %)");
  CHECK(with_signs("-2 ms, +0.1 +-3.0 us") == "\u22122 ms, +0.1 \u00b13.0 \u00b5s");
  CHECK(with_signs("A100-SXM4-80GB of us, 1-2, x86 -x 3 use") ==
        "A100-SXM4-80GB of us, 1-2, x86 -x 3 use");
  CHECK(with_signs("a x b -> c x d") == "a \u00d7 b \u2192 c \u00d7 d");
  CHECK(with_signs("").empty());
}

TEST_CASE("text: the answer first, then facts in rows and tables in columns") {
  CHECK(text_of(sample()) ==
        "step 2.000 ms\n"
        "noise\n"
        "\n"
        "  step      2.000 ms\n"
        "  rests on  a guess\n"
        "  flag      shared device\n"
        "\n"
        "by kernel         time   share\n"
        "  k|1500      1.500 ms  75.0 %\n"
        "  k|400       0.400 ms  20.0 %\n"
        "  ... 2 more  0.100 ms\n"
        "  time: of the device\n"
        "\n"
        "parts       time\n"
        "  the host  5 ns\n");
}

TEST_CASE(
    "text: an option stands behind its fact; pages that take none and documents leave it out") {
  Page page = sample();
  page.sections[0].line("host", "with overhead", Show::always, "; see --option");
  CHECK(text_of(page).find("  host      with overhead; see --option\n") != std::string::npos);
  for (const std::string& other : {markdown_of(page), html_of(page), json_of(page)}) {
    CHECK(other.find("--option") == std::string::npos);
  }
  CHECK(html_of(page).find("with overhead") != std::string::npos);
}

TEST_CASE("html: what is said stands first, each remark in a line of its own below it") {
  Page page = sample();
  page.sections[0].headline = "step 2.000 ms\nof three\n";
  page.sections[0].remark = "  low confidence: a\n  low confidence: b\n";
  CHECK(html_of(page).find("<p><b>step 2.000 ms</b></p>\n<p><b>of three</b></p>\n"
                           "<p>low confidence: a</p>\n<p>low confidence: b</p>\n") !=
        std::string::npos);
}

TEST_CASE("text: details are printed for those who ask, and names are cut to the width") {
  CHECK(text_of(sample()).find("for those who ask") == std::string::npos);
  CHECK(text_of(sample(), {.details = true}).find("  more      for those who ask\n") !=
        std::string::npos);
  Page page = sample();
  page.sections[1].tables[0].rows[0].cells[0] = Value::words(std::string(300, 'x'));
  std::string text = text_of(page, {.width = 70});
  while (!text.empty()) {
    CHECK(text.find('\n') <= 70);
    text.erase(0, text.find('\n') + 1);
  }
}

TEST_CASE("text: bold and colour do not move columns, control characters never get through") {
  Page page = sample();
  page.sections[0].facts[2].value = Value::words("a\x1b[2Jb");
  const std::string text = text_of(page, {.colour = true});
  CHECK(text.find("\033[1mstep 2.000 ms\033[0m\n") == 0);
  CHECK(text.find("\033[1mby kernel\033[0m         \033[1mtime\033[0m") != std::string::npos);
  CHECK(text.find("\033[33mshared device\033[0m") != std::string::npos);
  CHECK(text.find("a?[2Jb") != std::string::npos);
}

TEST_CASE("quiet: the headline alone, of every part") {
  CHECK(headlines_of(sample()) == "step 2.000 ms\n");
  Page both{.parts_key = "parts", .parts = {sample(), sample()}};
  CHECK(headlines_of(both) == "step 2.000 ms\nstep 2.000 ms\n");
}

TEST_CASE("JSON: integers where figures stood, all rows, keys in the order of the document") {
  const auto document = nlohmann::ordered_json::parse(json_of(sample()));
  CHECK(document == nlohmann::ordered_json::parse(R"({"schema": "foretrace.sample/1", "run": {
          "step_ns": 2000000, "seed": 7, "kernels": [
          {"name": "k|1500", "time_ns": 1500000, "memory": {"bytes": 1024}},
          {"name": "k|400", "time_ns": 400000, "memory": {"bytes": 1024}},
          {"name": "k|60", "time_ns": 60000, "memory": {"bytes": 1024}},
          {"name": "k|40", "time_ns": 40000, "memory": {"bytes": 1024}}],
          "parts": {"host_ns": 5, "idle_ns": 0}}})"));
  CHECK(json_of(sample()).back() == '\n');
}

TEST_CASE("JSON: rows below rows, objects of rows, parts, and what is not known") {
  Section tree{.key = "tree"};
  tree.tables.push_back(
      {.key = "tree", .columns = {{"name"}, {"ns"}, {"", "shown"}}, .below_key = "below"});
  Row leaf{.cells = {Value::words("leaf"), Value::none()}};
  Row more{.cells = {Value::words("... 3 more")}, .is_for_pages = true};
  tree.tables[0].rows = {{.cells = {Value::words("top"), Value::time(1)}, .below = {leaf, more}}};
  Section devices{.key = "devices"};
  devices.tables.push_back({.key = "devices", .columns = {{"low"}, {"high"}}, .is_object = true});
  devices.tables[0].rows = {{.cells = {Value::bytes(1), Value::bytes(2)}, .key = "0/0"}};
  Section unknown{.key = "unknown"};
  unknown.datum("step", Value::none());
  const Page part{.document_keys = {"step"}, .sections = {tree, devices, unknown}};
  const Page page{.parts_key = "traces", .parts = {part}};
  CHECK(nlohmann::json::parse(json_of(page)) == nlohmann::json::parse(R"({"traces": [{"step": null,
      "tree": [{"name": "top", "ns": 1, "below": [{"name": "leaf", "ns": null, "below": []}]}],
      "devices": {"0/0": {"low": 1, "high": 2}}}]})"));
}

TEST_CASE("JSON: bytes that are no UTF-8 do not break a document") {
  Section section{.key = "a"};
  section.datum("name", Value::words("\xff"));
  CHECK(nlohmann::json::parse(json_of({.sections = {section}}))["name"] == "\xEF\xBF\xBD");
}

TEST_CASE("Markdown: every row, every column with a title, bars inside cells kept apart") {
  const std::string text = markdown_of(sample());
  CHECK(text.find(
            "| by kernel | time | share |\n|---|---|---|\n| k\\|1500 | 1.500 ms | 75.0 % |\n") !=
        std::string::npos);
  CHECK(text.find("k\\|40 ") != std::string::npos);
  CHECK(text.find("- more: for those who ask\n") != std::string::npos);
  CHECK(text.find("1024") == std::string::npos);
}

TEST_CASE("CSV: one table, figures as in documents, quotes where a value needs them") {
  CHECK(*csv_of(sample()) ==
        "name,time_ns,memory.bytes\n"
        "k|1500,1500000,1024\n"
        "k|400,400000,1024\n"
        "k|60,60000,1024\n"
        "k|40,40000,1024\n");
  CHECK(*csv_of(sample(), "parts") == "name,ns\nhost_ns,5\nidle_ns,0\n");
  Page page = sample();
  page.sections[1].tables[0].rows = {{.cells = {Value::words("f<a, \"b\">"),
                                                Value::none(),
                                                {},
                                                Value::texts(std::vector<std::string>{"x", "y"})}}};
  CHECK(*csv_of(page) == "name,time_ns,memory\n\"f<a, \"\"b\"\">\",,x;y\n");
  page = {
      .main_table = "kernels", .parts_key = "traces", .part_title = "trace", .parts = {sample()}};
  page.parts[0].part_name = "a.json";
  CHECK(csv_of(page)->rfind("trace,name,time_ns,memory.bytes\na.json,k|1500,", 0) == 0);
}

TEST_CASE(
    "CSV: names that a spreadsheet would run are text, wherever they stand; figures are figures") {
  const std::string name = "=cmd|'/c x'!A1";
  Page part = sample();
  part.part_name = name;
  part.sections[1].tables[0].rows = {
      {.cells =
           {Value::words(name), Value::time(-5), {}, Value::object({{"a", Value::words(name)}})}},
      {.cells = {Value::texts(std::vector{name, name}), Value::change(-0.5), {}, {}}}};
  const Page page{
      .main_table = "kernels", .parts_key = "traces", .part_title = "trace", .parts = {part}};
  CHECK(*csv_of(page) ==
        "trace,name,time_ns,memory.a\n"
        "'=cmd|'/c x'!A1,'=cmd|'/c x'!A1,-5,'=cmd|'/c x'!A1\n"
        "'=cmd|'/c x'!A1,'=cmd|'/c x'!A1;=cmd|'/c x'!A1,-0.5,\n");
  Page object = sample();
  object.sections[2].tables[0].rows = {{.cells = {{}, Value::time(5)}, .key = name}};
  CHECK(*csv_of(object, "parts") == "name,ns\n'=cmd|'/c x'!A1,5\n");
}

TEST_CASE("CSV: a table that is not there is answered with those that are") {
  const auto table = csv_of(sample(), "kernel");
  REQUIRE_FALSE(table.ok());
  CHECK(
      table.error().message ==
      "named table: no table 'kernel' in this answer, expected one of kernels, parts (did you mean "
      "'kernels'?)");
  CHECK(csv_of(Page{}).error().code == ErrorCode::no_match);
  Page other = sample();
  other.main_table = "absent";
  CHECK(csv_of(other)->rfind("name,time_ns", 0) == 0);  // the first that the page shows
}

}  // namespace
}  // namespace foretrace::report
