// The table of parameters through commits: uses follow their tasks, or what stands in for them.
#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "sim/edit/editor.h"
#include "sim/graph/change.h"
#include "sim/graph/validate.h"
#include "tests/sim/graph/random_change.h"

using namespace foretrace;
using test::Choices;
using test::random_change;
using test::random_graph;

namespace {

constexpr std::size_t rows = 5;

ParameterTable random_table(Choices& choices, const TaskGraph& graph) {
  ParameterTable table;
  for (std::size_t i = 0; i < rows; ++i)
    table.rows.push_back({.elements = static_cast<double>(100 + i)});
  for (std::size_t t = 0; t < graph.size(); ++t) {
    if (!choices.one_in(3)) continue;
    const bool updates = choices.one_in(3);
    table.uses.push_back({make_id<TaskId>(t),
                          updates ? none<ParameterId> : make_id<ParameterId>(choices.below(rows)),
                          updates ? ParameterRole::update : ParameterRole::read});
  }
  return table;
}

TaskGraph with_table(const TaskGraph& graph, ParameterTable table) {
  Editor editor(graph);
  editor.set_parameters(std::move(table));
  const auto committed = commit(graph, editor.finish());
  REQUIRE_MESSAGE(committed.ok(), committed.error().message);
  CHECK(committed->graph.shared_topology() == graph.shared_topology());
  return committed->graph;
}

/// Where a use has to be after the change; none: nowhere.
TaskId expected(const Change& change, const Committed& committed, TaskId task) {
  if (committed.new_id.empty()) return task;
  for (const StandIn& group : change.stand_ins) {
    const bool member =
        std::find(group.members.begin(), group.members.end(), task) != group.members.end();
    if (member && committed.new_id[index(task)] == none<TaskId>) {
      return committed.new_id[index(group.exit)];
    }
  }
  return committed.new_id[index(task)];
}

}  // namespace

TEST_CASE("law: what reads a parameter is followed through any change") {
  std::size_t followed = 0;
  std::size_t stood_in = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    CAPTURE(seed);
    Choices choices(seed);
    const TaskGraph graph = random_graph(choices, {60, true, true, true});
    const TaskGraph before = with_table(graph, random_table(choices, graph));
    const auto change = random_change(choices, before);
    if (!change.ok()) continue;
    const auto committed = commit(before, *change);
    if (!committed.ok()) continue;
    const auto table = committed->graph.context().parameters;
    REQUIRE(table != nullptr);
    CHECK(table->rows.size() == rows);
    std::set<std::pair<TaskId, ParameterId>> uses;
    for (const ParameterUse& use : table->uses) {
      REQUIRE(index(use.task) < committed->graph.size());
      uses.emplace(use.task, use.parameter);
    }
    for (const ParameterUse& use : before.context().parameters->uses) {
      const TaskId task = expected(*change, *committed, use.task);
      if (task == none<TaskId>) continue;  // a neighbour reads it, nothing updates
      CHECK(uses.contains({task, use.parameter}));
      ++followed;
      const bool moved =
          !committed->new_id.empty() && committed->new_id[index(use.task)] == none<TaskId>;
      stood_in += moved ? 1 : 0;
    }
  }
  CHECK(followed > 1000);
  CHECK(stood_in > 10);
}

TEST_CASE("commit: a repeated task reads what the task reads; bad tables are refused") {
  Choices choices(1);
  const TaskGraph graph = random_graph(choices, {30, true, true, true});
  ParameterTable table;
  table.rows.push_back({.elements = 8});
  table.uses.push_back({TaskId{2}, ParameterId{0}, ParameterRole::read});
  const TaskGraph before = with_table(graph, table);
  Editor editor(before);
  const TaskId again = editor.insert(editor.like(TaskId{2}), TaskId{2});
  editor.repeat(again, TaskId{2});
  const auto committed = commit(before, editor.finish());
  REQUIRE_MESSAGE(committed.ok(), committed.error().message);
  CHECK(committed->graph.context().parameters->uses.size() == 2);

  for (int fault = 0; fault < 3; ++fault) {
    ParameterTable bad = table;
    if (fault == 0) bad.uses.front().task = make_id<TaskId>(graph.size());
    if (fault == 1) bad.uses.front().parameter = ParameterId{1};
    if (fault == 2) bad.rows.front().elements = -1;
    Editor wrong(graph);
    wrong.set_parameters(bad);
    CHECK_FALSE(commit(graph, wrong.finish()).ok());
  }
}
