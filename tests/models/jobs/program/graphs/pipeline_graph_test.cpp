#include "models/jobs/program/graphs/pipeline_graph.h"

#include <algorithm>
#include <random>

#include <doctest/doctest.h>

#include "sim/engine/event/event_driven.h"
#include "sim/engine/pull/pull.h"
#include "sim/graph/validate.h"

using foretrace::check_shape;
using foretrace::execute;
using foretrace::orders_of;
using foretrace::pipeline_graph;
using foretrace::pipeline_topology;
using foretrace::RankProgram;
using foretrace::ScheduleInfo;
using foretrace::ScheduleShape;
using foretrace::sequence_of;
using foretrace::simulate;
using foretrace::simulate_event_driven;
using foretrace::Timeline;
using foretrace::schedules::all;

namespace {

class Draw {
 public:
  std::int64_t operator()(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }

 private:
  std::mt19937 random_{11};
};

RankProgram::Step random_step(const ScheduleInfo& schedule, const ScheduleShape& shape, bool equal,
                              bool sends, Draw& draw) {
  RankProgram::Step step;
  const std::size_t positions = std::size_t{shape.stages} * shape.chunks;
  step.times.shape = shape;
  const auto fill = [&](std::vector<std::int64_t>& list, std::size_t count, std::int64_t most) {
    const std::int64_t one = draw(0, most);
    for (std::size_t i = 0; i < count; ++i) list.push_back(equal ? one : draw(0, most));
  };
  fill(step.times.forward, positions, 1000);
  fill(step.times.backward, positions, 2000);
  if (schedule.splits_backward) fill(step.times.weights, positions, 1000);
  fill(step.times.send_forward, positions - 1, sends ? 1500 : 0);
  fill(step.times.send_backward, positions - 1, sends ? 1500 : 0);
  std::vector<std::int64_t> gradients;
  std::vector<std::int64_t> update;
  std::vector<std::int64_t> parameters;
  fill(gradients, shape.stages, 500);
  fill(update, shape.stages, 500);
  fill(parameters, shape.stages, 500);
  for (std::size_t i = 0; i < shape.stages; ++i) {
    RankProgram::Stage& stage = step.stages.emplace_back();
    stage.gradients = gradients[i];
    stage.update = update[i];
    stage.parameters = parameters[i];
  }
  return step;
}

// Gradients when a stage is done, all meet, then updates.
std::int64_t step_of(const RankProgram::Step& step, const std::vector<std::int64_t>& stage_end) {
  std::int64_t met = 0;
  std::int64_t last = 0;
  for (std::size_t i = 0; i < stage_end.size(); ++i) {
    met = std::max(met, stage_end[i] + step.stages[i].gradients);
    last = std::max(last, step.stages[i].update + step.stages[i].parameters);
  }
  return met + last;
}

}  // namespace

TEST_CASE("pipeline graph: 10,000 random programs take as long as their schedule, to the ns") {
  Draw draw;
  std::size_t compared = 0;
  for (int shape_number = 0; shape_number < 250; ++shape_number) {
    const ScheduleInfo& schedule =
        *all()[static_cast<std::size_t>(draw(0, static_cast<std::int64_t>(all().size()) - 1))];
    const auto stages = static_cast<std::uint32_t>(draw(1, 5));
    const auto chunks = static_cast<std::uint32_t>(
        draw(schedule.least_chunks, std::min(schedule.most_chunks, schedule.least_chunks + 2)));
    const ScheduleShape shape{stages, stages * static_cast<std::uint32_t>(draw(1, 4)), chunks};
    if (!check_shape(schedule, shape).ok()) continue;
    const bool sends = draw(0, 1) == 1;
    const auto topology = pipeline_topology(schedule, shape, sends, false);
    REQUIRE_MESSAGE(topology.ok(), topology.error().message);
    REQUIRE(foretrace::validate(topology->graph).ok());
    const auto sequence = sequence_of(schedule, shape, orders_of(schedule, shape));
    for (int i = 0; i < 50; ++i) {
      const RankProgram::Step step = random_step(schedule, shape, i % 2 == 0, sends, draw);
      const auto graph = pipeline_graph(*topology, step);
      const auto executed = execute(schedule, step.times, *sequence);
      const std::int64_t expected = step_of(step, executed.stage_end_ns);
      CAPTURE(schedule.name);
      CAPTURE(stages);
      CAPTURE(shape.micro_batches);
      Timeline timeline;
      simulate_event_driven(graph.topology(), graph.weights(), timeline);
      CHECK(timeline.span_ns == expected);
      CHECK(simulate(graph).span_ns == expected);
      ++compared;
    }
  }
  CHECK(compared >= 9000);
}

TEST_CASE("pipeline graph: sends beside computation delay what waits for them, and share a lane") {
  Draw draw;
  for (int i = 0; i < 50; ++i) {
    const ScheduleInfo& schedule =
        *all()[static_cast<std::size_t>(draw(0, static_cast<std::int64_t>(all().size()) - 1))];
    const ScheduleShape shape{3, 6, schedule.least_chunks};
    if (!check_shape(schedule, shape).ok()) continue;
    const auto beside = pipeline_topology(schedule, shape, true, false);
    const auto without = pipeline_topology(schedule, shape, false, false);
    REQUIRE((beside.ok() && without.ok()));
    const RankProgram::Step step = random_step(schedule, shape, true, true, draw);
    const std::int64_t with_sends = simulate(pipeline_graph(*beside, step)).span_ns;
    CHECK(with_sends >= simulate(pipeline_graph(*without, step)).span_ns);
    CHECK(beside->graph.size() > without->graph.size());
  }
}
