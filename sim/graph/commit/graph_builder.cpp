// Collects tasks and dependencies; build() checks, orders and assembles them.
#include "sim/graph/graph_builder.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>
#include <utility>

#include "sim/graph/commit/assemble.h"
#include "sim/graph/commit/draft.h"

namespace foretrace {

namespace {

std::uint64_t hash_of(const Work& work) {
  std::uint64_t hash = 0;
  const auto mix = [&hash](std::uint64_t value) {
    // Multiply-xorshift with the 64-bit golden ratio.
    hash = (hash ^ value) * 0x9E3779B97F4A7C15ULL;
    hash ^= hash >> 32U;
  };
  mix(index(work.name));
  mix(index(work.operator_name));
  mix(index(work.shapes));
  mix(index(work.types));
  mix(static_cast<std::uint64_t>(work.kind) << 16U | static_cast<std::uint64_t>(work.part) << 8U |
      static_cast<std::uint64_t>(work.precision));
  mix(std::hash<double>{}(work.flops));
  mix(static_cast<std::uint64_t>(work.bytes));
  for (const std::int32_t extent : work.grid) mix(static_cast<std::uint32_t>(extent));
  for (const std::int32_t extent : work.block) mix(static_cast<std::uint32_t>(extent));
  mix(static_cast<std::uint32_t>(work.registers_per_thread));
  mix(static_cast<std::uint32_t>(work.shared_memory_bytes));
  mix(static_cast<std::uint64_t>(work.collective) << 32U | work.communicator);
  return hash;
}

template <typename Row, typename Less>
void sort_rows(std::vector<Row>& rows, const Less& less) {
  if (!std::is_sorted(rows.begin(), rows.end(), less)) {
    std::stable_sort(rows.begin(), rows.end(), less);
  }
}

/// Steps by rank and begin; the tasks' step indices follow.
void sort_steps(std::vector<Step>& steps, std::vector<std::int32_t>& step_of) {
  const auto less = [](const Step& a, const Step& b) {
    return std::pair{a.rank, a.begin} < std::pair{b.rank, b.begin};
  };
  if (std::is_sorted(steps.begin(), steps.end(), less)) return;
  std::vector<std::size_t> order(steps.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return less(steps[a], steps[b]); });
  std::vector<std::int32_t> new_index(steps.size());
  std::vector<Step> sorted;
  for (const std::size_t old : order) {
    new_index[old] = static_cast<std::int32_t>(sorted.size());
    sorted.push_back(steps[old]);
  }
  steps = std::move(sorted);
  for (std::int32_t& step : step_of) {
    if (step >= 0) step = new_index[static_cast<std::size_t>(step)];
  }
}

/// Side tables in the order that their readers expect.
void sort_context(GraphContext& context) {
  sort_rows(context.waits, [](const Wait& a, const Wait& b) { return a.at < b.at; });
  sort_rows(context.segment_parts,
            [](const SegmentPart& a, const SegmentPart& b) { return a.task < b.task; });
  sort_rows(context.demands, [](const Demand& a, const Demand& b) { return a.task < b.task; });
  sort_rows(context.priorities,
            [](const TaskPriority& a, const TaskPriority& b) { return a.task < b.task; });
  sort_rows(context.stalls, [](const Stall& a, const Stall& b) { return a.task < b.task; });
}

}  // namespace

GraphBuilder::GraphBuilder() { context_.layers.push_back({}); }

LaneId GraphBuilder::add_lane(Lane lane) {
  context_.lanes.push_back(std::move(lane));
  return make_id<LaneId>(context_.lanes.size() - 1);
}

WorkId GraphBuilder::add_work(const Work& work) {
  const std::uint64_t hash = hash_of(work);
  const auto [begin, end] = work_index_.equal_range(hash);
  for (auto at = begin; at != end; ++at) {
    if (context_.works[index(at->second)] == work) return at->second;
  }
  context_.works.push_back(work);
  const auto id = make_id<WorkId>(context_.works.size() - 1);
  work_index_.emplace(hash, id);
  return id;
}

LayerId GraphBuilder::add_layer(std::string_view name, LayerId parent) {
  context_.layers.push_back({context_.names.intern(name), parent});
  return make_id<LayerId>(context_.layers.size() - 1);
}

TaskId GraphBuilder::add_task(const TaskSpec& task) {
  columns_.lane.push_back(task.lane);
  columns_.work.push_back(task.work);
  columns_.kind.push_back(task.kind);
  columns_.phase.push_back(task.phase);
  columns_.layer.push_back(task.layer);
  columns_.step.push_back(task.step);
  columns_.provenance.push_back(task.provenance);
  duration_ns_.push_back(task.duration_ns);
  segment_ns_.push_back(task.segment_ns);
  return make_id<TaskId>(columns_.lane.size() - 1);
}

std::uint32_t GraphBuilder::add_capacity(Capacity capacity) {
  context_.capacities.push_back(std::move(capacity));
  return static_cast<std::uint32_t>(context_.capacities.size() - 1);
}

std::uint32_t GraphBuilder::add_communicator(Communicator communicator) {
  context_.communicators.push_back(std::move(communicator));
  return static_cast<std::uint32_t>(context_.communicators.size() - 1);
}

void GraphBuilder::assign(GraphContext context, TaskColumns columns,
                          std::vector<std::int64_t> duration_ns,
                          std::vector<std::int64_t> segment_ns,
                          std::vector<Dependency> dependencies) {
  context_ = std::move(context);
  columns_ = std::move(columns);
  duration_ns_ = std::move(duration_ns);
  segment_ns_ = std::move(segment_ns);
  dependencies_ = std::move(dependencies);
  work_index_.clear();
  // Equal works stay shared with those that are added from here on.
  for (std::size_t i = 0; i < context_.works.size(); ++i) {
    work_index_.emplace(hash_of(context_.works[i]), make_id<WorkId>(i));
  }
}

Result<TaskGraph> GraphBuilder::build() && {
  std::vector<TaskId> new_id;
  return std::move(*this).build(new_id);
}

Result<TaskGraph> GraphBuilder::build(std::vector<TaskId>& new_id) && {
  committing::Draft draft{std::move(context_),    std::move(columns_), std::move(duration_ns_),
                          std::move(segment_ns_), committing::Slots{}, std::move(dependencies_),
                          std::move(task_name_)};
  *this = GraphBuilder();
  const committing::Parts parts{draft.context, draft.columns, draft.duration_ns, draft.segment_ns,
                                draft.dependencies};
  FORETRACE_TRY(committing::check(parts));
  const auto name = [&draft](TaskId task) {
    return committing::describe(draft.context, draft.columns, task);
  };
  for (const Dependency& d : draft.dependencies) {
    if (d.kind == DependencyKind::queue) return committing::stated_queue(name(d.task));
  }
  for (const Wait& w : draft.context.waits) {
    if (w.kind == DependencyKind::queue) return committing::stated_queue(name(w.task));
  }
  const std::size_t tasks = draft.size();
  auto graph = committing::order_and_assemble(std::move(draft), new_id);
  if (graph && new_id.empty()) {
    new_id.resize(tasks);
    for (std::size_t t = 0; t < tasks; ++t) new_id[t] = make_id<TaskId>(t);
  }
  return graph;
}

namespace committing {

Result<TaskGraph> order_and_assemble(Draft draft, std::vector<TaskId>& new_id) {
  FORETRACE_TRY(new_id, topological_ids(draft));
  if (!new_id.empty()) renumber(draft, new_id);
  if (draft.context.rank_classes.empty()) {
    std::set<std::int32_t> ranks;
    for (const Lane& lane : draft.context.lanes) ranks.insert(lane.rank);
    for (const std::int32_t rank : ranks) draft.context.rank_classes.push_back({rank, 1});
  }
  sort_steps(draft.context.steps, draft.columns.step);
  sort_context(draft.context);
  return assemble(std::move(draft));
}

}  // namespace committing

}  // namespace foretrace
