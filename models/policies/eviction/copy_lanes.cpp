// Lanes and works cannot come while a graph runs: a policy that copies finds them there.
#include "models/policies/eviction/copy_lanes.h"

#include <memory>
#include <string_view>
#include <utility>

#include "models/policies/eviction/policy.h"

namespace foretrace {
namespace {

constexpr std::string_view out_name = "swap to host";
constexpr std::string_view in_name = "swap to device";
constexpr std::string_view call_name = "cudaMemcpyAsync (swap)";
// No recorded stream has such a number.
constexpr std::int64_t out_stream = 9003;
constexpr std::int64_t in_stream = 9004;

Lane copy_lane(const MemoryBudget& budget, bool out) {
  Lane lane;
  lane.kind = LaneKind::stream;
  lane.rank = budget.rank;
  lane.device = budget.device;
  lane.number = out ? out_stream : in_stream;
  lane.name = out ? out_name : in_name;
  return lane;
}

}  // namespace

TaskGraph with_copy_lanes(const TaskGraph& graph, std::span<const MemoryBudget> budgets) {
  auto context = std::make_shared<GraphContext>(graph.context());
  for (const MemoryBudget& budget : budgets) {
    context->lanes.push_back(copy_lane(budget, true));
    context->lanes.push_back(copy_lane(budget, false));
  }
  for (const auto& [name, kind] : {std::pair{out_name, TaskKind::copy},
                                   {in_name, TaskKind::copy},
                                   {call_name, TaskKind::launch}}) {
    Work work;
    work.name = context->names.intern(name);
    work.kind = kind;
    context->works.push_back(work);
  }
  return {graph.shared_topology(), graph.shared_columns(), std::move(context), graph.weights()};
}

namespace editing {

CopyPlaces copy_places(const TaskGraph& graph,
                       std::pair<std::int32_t, std::int32_t> rank_and_device) {
  CopyPlaces places;
  int found = 0;
  const auto& lanes = graph.context().lanes;
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    const Lane& lane = lanes[i];
    if (lane.kind != LaneKind::stream || std::pair(lane.rank, lane.device) != rank_and_device ||
        (lane.number != out_stream && lane.number != in_stream)) {
      continue;
    }
    (lane.number == out_stream ? places.out : places.in) = make_id<LaneId>(i);
    ++found;
  }
  FORETRACE_CHECK(found >= 2);
  const auto& works = graph.context().works;
  for (std::size_t i = 0; i < works.size(); ++i) {
    const std::string_view name = graph.names()[works[i].name];
    if (name == call_name) places.call = make_id<WorkId>(i);
    if (name == out_name) places.out_work = make_id<WorkId>(i);
    if (name == in_name) places.in_work = make_id<WorkId>(i);
  }
  return places;
}

}  // namespace editing
}  // namespace foretrace
