#include <cstdint>
#include <utility>

#include <doctest/doctest.h>

#include "sim/edit/editor.h"
#include "sim/graph/change.h"
#include "sim/graph/graph_builder.h"

using namespace foretrace;

TEST_CASE("commit: a new lane of a rank that stands for many makes no class of its own") {
  GraphBuilder builder;
  const NameId name = builder.add_name("work");
  for (const std::int32_t stage : {0, 1}) {
    builder.add_rank_class({16 * stage, 16});
    Lane lane;
    lane.rank = stage;
    TaskSpec spec;
    spec.lane = builder.add_lane(std::move(lane));
    spec.work = builder.add_work({.name = name});
    static_cast<void>(builder.add_task(spec));
  }
  const auto built = std::move(builder).build();
  REQUIRE_MESSAGE(built.ok(), built.error().message);
  Editor editor(*built);
  for (const TaskId beside : {TaskId{0}, TaskId{1}}) {
    TaskSpec copy = editor.like(beside);
    copy.lane = editor.add_lane(built->lane(beside));
    static_cast<void>(editor.insert(copy, beside));
  }
  const auto c = commit(*built, editor.change());
  REQUIRE_MESSAGE(c.ok(), c.error().message);
  CHECK(c->graph.context().lanes.size() == 4);
  std::uint32_t ranks = 0;
  for (const RankClass& one : c->graph.context().rank_classes) ranks += one.multiplicity;
  CHECK(ranks == 32);
}
