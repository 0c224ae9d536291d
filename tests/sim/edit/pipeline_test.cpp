#include "sim/edit/pipeline.h"

#include <doctest/doctest.h>

#include "sim/edit/editor.h"
#include "sim/edit/selection.h"
#include "tests/sim/edit/apply.h"

using namespace foretrace;
using test::graph;
using test::tasks;

namespace {

EditStage scale_by(const char* name, double factor, Trust trust = {}) {
  return {name, [=](const TaskGraph& g) -> Result<Change> {
            Editor editor(g);
            auto selected = select(g, "kind=kernel");
            if (!selected) return std::move(selected).error();
            const Status status = editor.scale(*selected, factor, ScaleOf::duration, trust);
            if (!status) return status.error();
            editor.note("factor");
            return editor.finish();
          }};
}

EditStage remove_named(const char* name) {
  return {"remove", [=](const TaskGraph& g) -> Result<Change> {
            Editor editor(g);
            editor.remove(tasks(g, {name}));
            return editor.finish();
          }};
}

}  // namespace

TEST_CASE("pipeline: stages apply in their order, each to what the one before left") {
  const TaskGraph g = graph("h:l1(5) s:a(10)<l1 h:l2(5) s:b(20)<l2");
  const std::vector<EditStage> stages = {scale_by("half", 0.5, {Provenance::scaled, 0.5F, 2.0F}),
                                         remove_named("a"),
                                         scale_by("tenth", 0.1, {Provenance::scaled, 0.8F, 1.5F})};
  auto stacked = stack(g, stages);
  REQUIRE_MESSAGE(stacked.ok(), stacked.error().message);
  CHECK(test::to_text(stacked->graph) == "h:l2(5) s:b(1)<l2");
  CHECK(stacked->new_id == std::vector<TaskId>{none<TaskId>, none<TaskId>, TaskId{0}, TaskId{1}});
  CHECK(stacked->low[1] == doctest::Approx(0.4));  // 0.5 of the first times 0.8 of the last
  CHECK(stacked->high[1] == doctest::Approx(3.0));
  CHECK(stacked->low[0] == 1.0F);
  REQUIRE(stacked->stages.size() == 3);
  CHECK(stacked->stages[0].tasks_changed == 2);
  CHECK_FALSE(stacked->stages[0].topology_changed);
  CHECK(stacked->stages[1].topology_changed);
  CHECK(stacked->stages[1].tasks_after == 2);
  CHECK(stacked->stages[2].notes == std::vector<std::string>{"factor"});
}

TEST_CASE("pipeline: a stage that edits what an earlier one edited is told") {
  const TaskGraph g = graph("h:l1(5) s:a(10)<l1 h:l2(5) s:b(20)<l2");
  const std::vector<EditStage> stages = {scale_by("half", 0.5), remove_named("a"),
                                         scale_by("tenth", 0.1)};
  auto stacked = stack(g, stages);
  REQUIRE(stacked.ok());
  CHECK(stacked->stages[0].overlaps.empty());
  REQUIRE(stacked->stages[1].overlaps.size() == 1);  // a was scaled; its launch was not
  CHECK(stacked->stages[1].overlaps[0].tasks == 1);
  REQUIRE(stacked->stages[2].overlaps.size() == 1);  // b
  CHECK(stacked->stages[2].overlaps[0].earlier == 0);
  CHECK(stacked->stages[2].overlaps[0].tasks == 1);
}

TEST_CASE("pipeline: a measured or modelled duration forgets earlier bounds") {
  const TaskGraph g = graph("s:a(10)");
  const std::vector<EditStage> stages = {
      scale_by("half", 0.5, {Provenance::scaled, 0.5F, 2.0F}),
      scale_by("model", 0.5, {Provenance::roofline, 0.9F, 1.1F})};
  auto stacked = stack(g, stages);
  REQUIRE(stacked.ok());
  CHECK(stacked->low[0] == 0.9F);
}

TEST_CASE("pipeline: an error names the stage") {
  const TaskGraph g = graph("s:a(10)");
  const std::vector<EditStage> stages = {scale_by("half", 0.5),
                                         {"broken", [](const TaskGraph&) -> Result<Change> {
                                            Change change;
                                            change.durations.push_back({TaskId{9}, 1});
                                            return change;
                                          }}};
  CHECK(stack(g, stages).error().message ==
        "stage 'broken' (2 of 2): duration edit: task 9 does not exist, got 1 tasks and 0 inserted "
        "ones");
  CHECK(stack(g, {})->graph.size() == 1);
}
