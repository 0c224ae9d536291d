// Laws of edits as they are written in JSON, over random graphs with several streams, ranks and
// waits: they are those of the editor, and what means "as it was" leaves every time.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "models/whatifs/what_if_spec.h"
#include "sim/edit/editor.h"
#include "sim/edit/selection.h"
#include "sim/engine/pull/pull.h"
#include "sim/graph/validate.h"
#include "tests/configs.h"
#include "tests/sim/graph/random_change.h"

using namespace foretrace;
using test::Choices;
using test::random_graph;
using test::RandomGraphTraits;

namespace {

constexpr std::uint64_t graphs = 200;
/// As in edit_laws_test.cpp: no condition on times, and all work has a call.
constexpr RandomGraphTraits monotone{120, false, true, false};

Result<TaskGraph> committed(const TaskGraph& graph, const Change& change) {
  FORETRACE_TRY(Committed after, commit(graph, change, Checks::all));
  FORETRACE_TRY(validate(after.graph));
  return std::move(after.graph);
}

/// By the text of a file; each edit acts on what those before it made.
Result<TaskGraph> by_json(const TaskGraph& graph, const std::string& json) {
  FORETRACE_TRY(const auto specs, parse_what_ifs_json(json, "law"));
  FORETRACE_TRY(const auto stack, check_stack(specs));
  TaskGraph now = graph;
  for (const WhatIf& what_if : in_order(stack)) {
    FORETRACE_TRY(const Change change,
                  what_if.info->apply({now, nullptr, *test::shipped()}, what_if.parameters));
    FORETRACE_TRY(now, committed(now, change));
  }
  return now;
}

std::vector<TaskId> selected(const TaskGraph& graph, std::string_view selection) {
  auto tasks = select(graph, selection);
  REQUIRE(tasks.ok());
  return *std::move(tasks);
}

/// Who waits for whom, on which lane, and for how long.
void check_same(const TaskGraph& a, const TaskGraph& b) {
  REQUIRE(a.size() == b.size());
  CHECK(a.topology().sources == b.topology().sources);
  CHECK(a.topology().kinds == b.topology().kinds);
  CHECK(a.columns().lane == b.columns().lane);
  CHECK(a.columns().provenance == b.columns().provenance);
  CHECK(*a.weights().duration_ns == *b.weights().duration_ns);
  CHECK(*a.weights().segment_ns == *b.weights().segment_ns);
  CHECK(*a.weights().lag_ns == *b.weights().lag_ns);
  for (std::size_t t = 0; t < a.size(); ++t) {
    CHECK(a.name(make_id<TaskId>(t)) == b.name(make_id<TaskId>(t)));
  }
}

/// Declining is an answer, in one line that says why.
bool is_declined(const Result<TaskGraph>& after) {
  if (after.ok()) return false;
  CHECK(after.error().message.size() > 10);
  CHECK(after.error().message.find('\n') == std::string::npos);
  return true;
}

const std::vector<std::string> selections = {
    "kind=kernel", "kind=kernel&name=gemm", "resource=device&rank=0",
    "name~norm",   "kind=copy&!step=0",     "kind=collective",
    "stream=7",    "resource=host",         "kind=synchronization",
    "name~more",   "phase=backward",        "kind=transfer"};

const std::vector<std::string> primitives = {
    R"("scale": 0.5)",
    R"("scale": 2, "of": "both")",
    R"("scale": 0, "of": "segment")",
    R"("insert": "x", "duration": "10 ns")",
    R"("insert": "x", "duration": "10 ns", "place": "before", "call": "4 ns", "gap": "2 ns")",
    R"("insert": "x", "duration": "10 ns", "kind": "copy")",
    R"("remove": true)",
    R"("replace": "x", "duration": "10 ns")",
    R"("replace": "x", "duration": "10 ns", "group": "step", "kind": "set")",
    R"("replace": "x", "duration": "10 ns", "group": "neighbours")",
    R"("split": 1)",
    R"("split": 2, "gap": "2 ns")",
    R"("split": 3, "call": "2 ns")",
    R"("merge": true)",
    R"("merge": true, "group": "step", "duration": "30 ns")",
    R"("move": 8)",
    R"("move": "new")",
    R"("replicate": 3)",
    R"("replicate": 2, "onto": "new_lanes")",
    R"("replicate": 2, "onto": "new_ranks")",
    R"("reorder": "name=gemm")",
    R"("reorder": "kind=copy", "place": "before")",
    R"("reorder": ["name=norm", "name=gemm"])",
    R"("prioritize": -3)"};

}  // namespace

TEST_CASE("law: every primitive on every selection makes a valid graph that runs, or declines") {
  std::vector<std::size_t> applied(primitives.size(), 0);
  for (std::uint64_t seed = 0; seed < graphs; ++seed) {
    Choices choices(seed);
    const TaskGraph graph = random_graph(choices);
    for (std::size_t i = 0; i < primitives.size(); ++i) {
      const std::string& selection = selections[(seed + i) % selections.size()];
      const std::string json = fmt::format(R"({{"select": "{}", {}}})", selection, primitives[i]);
      CAPTURE(seed);
      CAPTURE(json);
      const auto after = by_json(graph, json);
      if (is_declined(after)) continue;
      ++applied[i];
      CHECK(simulate(*after).span_ns >= 0);
    }
  }
  for (std::size_t i = 0; i < primitives.size(); ++i) {
    CAPTURE(primitives[i]);
    CHECK(applied[i] > 5);
  }
}

TEST_CASE("law: scaling by 1, splitting in 1, replicating to 1, and the own lane change nothing") {
  for (std::uint64_t seed = 0; seed < graphs; ++seed) {
    CAPTURE(seed);
    Choices choices(seed);
    const TaskGraph graph = random_graph(choices);
    for (const std::string& selection : selections) {
      for (const char* primitive :
           {R"("scale": 1)", R"("scale": 1, "of": "both")", R"("replicate": 1)",
            R"("replicate": 1, "onto": "new_ranks")", R"("reorder": ["step~.", "step!~."])"}) {
        CAPTURE(selection);
        CAPTURE(primitive);
        const auto after =
            by_json(graph, fmt::format(R"({{"select": "{}", {}}})", selection, primitive));
        if (is_declined(after)) continue;
        check_same(*after, graph);
      }
    }
    for (const Lane& lane : graph.context().lanes) {
      const std::string own = fmt::format("stream={}&rank={}", lane.number, lane.rank);
      const auto after =
          by_json(graph, fmt::format(R"({{"select": "{}", "move": {}}})", own, lane.number));
      if (!is_declined(after)) check_same(*after, graph);
    }
  }
}

TEST_CASE("law: a kernel in parts that become one again is as it was") {
  std::size_t tried = 0;
  for (std::uint64_t seed = 0; seed < graphs; ++seed) {
    CAPTURE(seed);
    Choices choices(seed);
    const TaskGraph graph = random_graph(choices, monotone);
    for (const char* selection : {"kind=kernel&name=gemm", "kind=copy", "kind=kernel&rank=0"}) {
      const auto cut = by_json(graph, fmt::format(R"({{"select": "{}", "split": 2}})", selection));
      if (is_declined(cut)) continue;
      ++tried;
      CHECK(simulate(*cut).span_ns == simulate(graph).span_ns);
    }
    // One kernel of its own name, so that no neighbour is taken along.
    for (std::size_t t = 0; t < graph.size(); ++t) {
      const auto task = make_id<TaskId>(t);
      if (!is_device(graph.kind(task)) || graph.work(task).part != TaskPart::whole) continue;
      if (graph.duration_ns(task) < 2) continue;
      Editor naming(graph);
      const WorkId alone = naming.add_work("alone", graph.kind(task));
      NewWork work{alone, graph.duration_ns(task)};
      if (!naming.replace(std::vector<TaskId>{task}, {&work, 1}).ok()) continue;
      const auto named = committed(graph, naming.finish());
      if (!named.ok()) continue;
      const auto back = by_json(*named, R"([{"select": "name=alone", "split": 2},
                                            {"select": "name=alone", "merge": true}])");
      REQUIRE_MESSAGE(back.ok(), back.error().message);
      CHECK(back->size() == named->size());
      CHECK(simulate(*back).span_ns == simulate(*named).span_ns);
      break;
    }
  }
  CHECK(tried > graphs / 2);
}

TEST_CASE("law: edits in JSON are those of the editor") {
  for (std::uint64_t seed = 0; seed < graphs; ++seed) {
    CAPTURE(seed);
    Choices choices(seed);
    const TaskGraph graph = random_graph(choices);
    for (const std::string& selection : selections) {
      CAPTURE(selection);
      const std::vector<TaskId> tasks = selected(graph, selection);
      if (tasks.empty()) continue;
      const auto compare = [&](std::string_view primitive, const auto& edit) {
        CAPTURE(std::string(primitive));
        Editor editor(graph);
        const Status said = edit(editor);
        const auto direct =
            said.ok() ? committed(graph, editor.finish()) : Result<TaskGraph>(said.error());
        const auto json =
            by_json(graph, fmt::format(R"({{"select": "{}", {}}})", selection, primitive));
        REQUIRE(json.ok() == direct.ok());
        if (json.ok()) check_same(*json, *direct);
      };
      compare(R"("scale": 0.25)", [&](Editor& editor) { return editor.scale(tasks, 0.25); });
      compare(R"("remove": true)", [&](Editor& editor) {
        editor.remove(tasks);
        return ok_status();
      });
      compare(R"("split": 2)", [&](Editor& editor) -> Status {
        for (const TaskId task : tasks) FORETRACE_TRY(editor.split(task, {.parts = 2}));
        return ok_status();
      });
      compare(R"("replicate": 3, "onto": "new_lanes")", [&](Editor& editor) -> Status {
        FORETRACE_TRY(editor.replicate(tasks, 2, Onto::new_lanes));
        return ok_status();
      });
      compare(R"("prioritize": 4)", [&](Editor& editor) {
        editor.prioritize(tasks, 4);
        for (const TaskId task : tasks) {
          editor.set_policy(graph.lane_id(task), LanePolicy::priority);
        }
        return ok_status();
      });
    }
  }
}

TEST_CASE("law: shorter tasks never make a run longer where no time is a condition") {
  std::size_t tried = 0;
  for (std::uint64_t seed = 0; seed < graphs; ++seed) {
    CAPTURE(seed);
    Choices choices(seed);
    const TaskGraph graph = random_graph(choices, monotone);
    const std::int64_t span_ns = simulate(graph).span_ns;
    for (const std::string& selection : selections) {
      std::int64_t longer = span_ns;
      for (const char* factor : {"1", "0.5", "0.25", "0"}) {
        CAPTURE(selection);
        CAPTURE(factor);
        const auto after =
            by_json(graph, fmt::format(R"({{"select": "{}", "scale": {}}})", selection, factor));
        if (is_declined(after)) break;
        ++tried;
        const std::int64_t now = simulate(*after).span_ns;
        CHECK(now <= longer);
        longer = now;
      }
    }
  }
  CHECK(tried > graphs);
}
