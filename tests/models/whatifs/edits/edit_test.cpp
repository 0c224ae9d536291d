// The primitives as a file says them, on streams that wait for each other.
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "models/whatifs/what_if_spec.h"
#include "tests/models/text_run.h"
#include "tests/sim/edit/apply.h"

namespace foretrace {
namespace {

using test::graph;
using test::to_text;

/// The graph after a what-if in JSON; each of its edits acts on what those before it made.
Result<TaskGraph> edited(const TaskGraph& before, const std::string& json) {
  FORETRACE_TRY(const auto specs, parse_what_ifs_json(json, "f.json"));
  FORETRACE_TRY(const auto stack, check_stack(specs));
  TaskGraph now = before;
  for (const WhatIf& what_if : in_order(stack)) {
    const WhatIfInput input{now, nullptr, *test::shipped()};
    FORETRACE_TRY(const Change change, what_if.info->apply(input, what_if.parameters));
    FORETRACE_TRY(Committed committed, commit(now, change, Checks::all));
    now = std::move(committed.graph);
  }
  return now;
}

std::string text_after(const TaskGraph& before, const std::string& json) {
  const auto after = edited(before, json);
  REQUIRE_MESSAGE(after.ok(), after.error().message);
  return to_text(*after);
}

std::string message_of(const TaskGraph& before, const std::string& json) {
  const auto after = edited(before, json);
  REQUIRE_FALSE(after.ok());
  return after.error().message;
}

// s2 waits for a, the host for everything; c stands behind a wait.
const char* const run =
    "h:la(1) s:a(10)<la h:lb(1) s:b(20)<lb h:lm(1) s2:m(5)<lm<a h:lc(1) s:c(4)<lc<m";

}  // namespace

TEST_CASE("edit: scale multiplies durations, or the time before tasks") {
  CHECK(text_after(graph("s:a(10,4) s:b(20)"), R"({"select": "name=a", "scale": 0.5})") ==
        "s:a(5,4) s:b(20)");
  CHECK(text_after(graph("h:a(10,4) h:b(20)"),
                   R"({"select": "name=a", "scale": 0.5, "of": "both"})") == "h:a(5,2) h:b(20)");
  CHECK(text_after(graph("h:a(10,4) h:b(20)"),
                   R"({"select": "name=a", "scale": 3, "of": "segment"})") == "h:a(10,12) h:b(20)");
}

TEST_CASE("edit: edits of a file follow each other, each on what those before it made") {
  CHECK(text_after(graph("s:a(10) s:b(20)"),
                   R"({"name": "twice", "edits": [{"select": "name=a", "scale": 0.5},
                                                  {"select": "name~.", "scale": 0.2}]})") ==
        "s:a(1) s:b(4)");
}

TEST_CASE("edit: an inserted kernel has a call as its neighbour has, and holds up all streams") {
  CHECK(text_after(graph(run), R"({"select": "name=a", "insert": "x", "duration": "7 ns"})") ==
        "h:la(1) s:a(10)<la h:la(1) s:x(7)<la h:lb(1) s:b(20)<lb h:lm(1) s2:m(5)<lm<a<x h:lc(1) "
        "s:c(4)<lc<m");
  CHECK(text_after(graph("h:l(1) s:a(10)<l"),
                   R"({"select": "name=a", "insert": "x", "duration": "7 ns", "place": "before",
                       "call": "3 ns", "gap": "2 ns"})") == "h:l(3) s:x(7,2)<l h:l(1) s:a(10)<l");
  CHECK(
      text_after(graph("h:a(10)"), R"({"select": "name=a", "insert": "x", "duration": "7 ns"})") ==
      "h:a(10) h:x(7)");
}

TEST_CASE("edit: what waited for a removed kernel waits for what that came after") {
  CHECK(text_after(graph("h:lx(1) s3:x(9)<lx h:lm(1) s2:m(5)<lm<x h:lc(1) s:c(4)<lc<m"),
                   R"({"select": "name=m", "remove": true})") ==
        "h:lx(1) s3:x(9)<lx h:lc(1) s:c(4)<lc<x");
}

TEST_CASE("edit: replace puts one task for each, or for neighbours") {
  CHECK(text_after(graph("h:la(1) s:a(10)<la h:lb(1) s:b(20)<lb"),
                   R"({"select": "kind=kernel", "replace": "x", "duration": "12 ns"})") ==
        "h:la(1) s:x(12)<la h:lb(1) s:x(12)<lb");
  CHECK(text_after(graph("h:la(1) s:a(10)<la h:lb(1) s:b(20)<lb"),
                   R"({"select": "kind=kernel", "replace": "x", "duration": "12 ns",
                       "group": "neighbours", "call": "2 ns"})") == "h:la(2) s:x(12)<la");
}

TEST_CASE("edit: split and merge are each other's reverse") {
  const std::string parts = text_after(graph(run), R"({"select": "name=b", "split": 2})");
  CHECK(parts ==
        "h:la(1) s:a(10)<la h:lb(1) s:b(10)<lb s:b(10)<lb h:lm(1) s2:m(5)<lm<a h:lc(1) "
        "s:c(4)<lc<m");
  CHECK(text_after(graph(run), R"([{"select": "name=b", "split": 2},
                                   {"select": "name=b", "merge": true}])") == to_text(graph(run)));
  CHECK(text_after(graph("s:a(10) s:b(20) s:c(1)"),
                   R"({"select": "name!=c", "merge": true, "duration": "12 ns"})") ==
        "s:b(12) s:c(1)");
}

TEST_CASE(
    "edit: merge leaves tasks that do not follow each other, unless all of a step are meant") {
  CHECK(message_of(graph("s:a(1) s:x(2) s:a2(3)"), R"({"select": "name~a", "merge": true})") ==
        "no two selected tasks can become one: they stand alone, or a wait lies between them "
        "(group=step also merges tasks that are apart)");
  CHECK(text_after(graph("s:a(1) s:x(2) s:a2(3)"),
                   R"({"select": "name~a", "merge": true, "group": "step"})") == "s:a(4) s:x(2)");
}

TEST_CASE("edit: move takes tasks to another stream, or to a new one") {
  const TaskGraph g = graph("s:a(10) s:k(20) s:b(5) s2:c(7)");
  const auto number = std::to_string(g.lane(test::task(g, "c")).number);
  CHECK(text_after(g, R"({"select": "name=k", "move": ")" + number + "\"}") ==
        "s:a(10) s2:k(20) s:b(5) s2:c(7)");
  const auto moved = edited(g, R"({"select": "name=k", "move": "new"})");
  REQUIRE(moved.ok());
  CHECK(moved->context().lanes.size() == g.context().lanes.size() + 1);
  CHECK(simulate(*moved).span_ns == 20);
  CHECK(message_of(g, R"({"select": "name=k", "move": "99"})")
            .find("'move': got '99', expected new "
                  "or one of ") == 0);
}

TEST_CASE("edit: replicate says how often a task is there afterwards") {
  CHECK(text_after(graph("h:l(1) s:a(10)<l s:b(2)"), R"({"select": "name=a", "replicate": 3})") ==
        "h:l(1) s:a(10)<l s:a(10)<l s:a(10)<l s:b(2)");
  CHECK(text_after(graph("s:a(10)"), R"({"select": "name=a", "replicate": 1})") == "s:a(10)");
}

TEST_CASE("edit: reorder puts tasks behind or before others, or all in a listed order") {
  const TaskGraph g = graph("s:a(1) s:b(2) s:c(3) s:d(4)");
  CHECK(text_after(g, R"({"select": "name=a", "reorder": "name=c"})") ==
        "s:b(2) s:c(3) s:a(1) s:d(4)");
  CHECK(text_after(g, R"({"select": "name=d", "reorder": "name=b", "place": "before"})") ==
        "s:a(1) s:d(4) s:b(2) s:c(3)");
  CHECK(text_after(g, R"({"select": "name~.", "reorder": ["name=d", "name=b"]})") ==
        "s:d(4) s:b(2) s:a(1) s:c(3)");
  CHECK(text_after(g, R"({"select": "name~.", "reorder": ["kind=kernel", "name=x"]})") ==
        to_text(g));
}

TEST_CASE("edit: the smallest priority of the ready tasks goes first") {
  const auto after = edited(graph("s:a(1) s:b(2)"), R"({"select": "name=b", "prioritize": -1})");
  REQUIRE(after.ok());
  CHECK(after->context().lanes[0].policy == LanePolicy::priority);
  REQUIRE(after->context().priorities.size() == 1);
  CHECK(after->context().priorities[0].priority == -1);
}

TEST_CASE("edit: given durations count as assumed, multiplied ones as scaled") {
  const TaskGraph g = graph("s:a(10) s:b(20) s:c(1)");
  const auto after = edited(g, R"([{"select": "name=a", "scale": 0.5},
                                   {"select": "name=b", "replace": "x", "duration": "9 ns"},
                                   {"select": "name=c", "insert": "y", "duration": "9 ns"}])");
  REQUIRE_MESSAGE(after.ok(), after.error().message);
  CHECK(after->provenance(test::task(*after, "a")) == Provenance::scaled);
  CHECK(after->provenance(test::task(*after, "x")) == Provenance::assumed);
  CHECK(after->provenance(test::task(*after, "y")) == Provenance::assumed);
  CHECK(after->provenance(test::task(*after, "c")) == g.provenance(test::task(g, "c")));
}

TEST_CASE("edit: declines a selection that means nothing") {
  CHECK(message_of(graph("s:a(1)"), R"({"select": "name=x", "scale": 2})") ==
        "no task matches 'name=x'");
}

TEST_CASE("edit: every mistake in a file has its place, what was expected and the nearest name") {
  const auto message = [](const char* text) {
    return parse_what_ifs_json(text, "f.json").error().message;
  };
  const std::string primitives =
      "scale, insert, remove, replace, split, merge, move, replicate, reorder, prioritize";
  CHECK(message(R"({"edits": [{"select": "name=a", "scal": 0.5}]})")
            .find("f.json: /edits/0/scal: unknown key (did you mean 'scale'?), expected one of "
                  "select, scale, insert") == 0);
  CHECK(message(R"({"edits": [{"select": "name=a"}]})") ==
        "f.json: /edits/0: edit: got no primitive, expected one of " + primitives);
  CHECK(message(R"({"edits": [{"select": "name=a", "scale": 1, "merge": true}]})") ==
        "f.json: /edits/0: edit: got scale, merge, expected one of " + primitives);
  CHECK(message(R"([{"edits": [{"scale": 1}]}])")
            .find("f.json: /0/edits/0: edit: parameter 'select': missing, expected ") == 0);
  CHECK(message(R"({"edits": [{"select": "nmae=a", "scale": 1}]})")
            .find("f.json: /edits/0: edit: 'select': selection 'nmae=a', character 1: unknown key "
                  "'nmae' (did you mean 'name'?)") == 0);
  CHECK(message(R"({"edits": [{"select": "name=a", "scale": "fast"}]})")
            .find("f.json: /edits/0: edit: parameter 'scale': ") == 0);
  CHECK(message(R"({"edits": [{"select": "name=a", "insert": "x"}]})") ==
        "f.json: /edits/0: edit: 'insert' needs 'duration', expected a time such as '5 us' (units "
        "ns, us, ms, s, min, h)");
  CHECK(message(R"({"edits": [{"select": "name=a", "insert": {"duration": "1 us"}}]})") ==
        "f.json: /edits/0/insert: got an object, expected text, a number or true/false; what it "
        "needs to know stands beside it");
  CHECK(message(R"({"edits": [{"select": "name=a", "scale": 1, "place": "before"}]})") ==
        "f.json: /edits/0: edit: 'place' does not use 'scale', expected it with one of insert, "
        "reorder");
  CHECK(message(R"({"edits": [{"select": "name=a", "remove": false}]})") ==
        "f.json: /edits/0: edit: 'remove' is false, expected true or another primitive");
  CHECK(message(R"({"edits": []})") == "f.json: /edits: got an empty list, expected an edit");
  CHECK(message(R"({"edit": []})").find("unknown key (did you mean 'edits'?)") !=
        std::string::npos);
}

}  // namespace foretrace
