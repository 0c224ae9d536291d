// Bytes to a random graph and a pipeline of random edits: whatever commit() accepts is a valid
// graph that can be simulated.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>

#include "sim/edit/selection.h"
#include "sim/engine/pull/pull.h"
#include "sim/graph/links.h"
#include "sim/graph/validate.h"
#include "tests/sim/graph/random_change.h"

namespace {

using namespace foretrace;

/// Every task starts at 0 or later and no earlier than its lane allows, and lasts its duration.
void check_times(const TaskGraph& graph, const Timeline& timeline) {
  for (std::size_t t = 0; t < graph.size(); ++t) {
    const auto task = make_id<TaskId>(t);
    if (timeline.start_ns(task) < 0) std::abort();
    if (timeline.end_ns(task) - timeline.start_ns(task) != graph.duration_ns(task)) std::abort();
    const Point before = graph.topology().sources[t][lane_slot];
    if (before == no_point) continue;
    const std::int64_t free_ns = timeline.end_ns(task_of(before)) + graph.segment_ns(task);
    if (timeline.start_ns(task) < free_ns) std::abort();
  }
}

void check(const TaskGraph& graph) {
  if (!validate(graph).ok()) std::abort();
  check_times(graph, simulate(graph));
  for (std::size_t t = 0; t < graph.size(); ++t) {
    for (const Link& link : sources(graph, make_id<TaskId>(t))) {
      const Dependents back = dependents(graph, task_of(link.source));
      if (std::none_of(back.begin(), back.end(),
                       [&](const Link& d) { return d.task == link.task; })) {
        std::abort();
      }
    }
  }
}

/// A rebuild that changes nothing gives the same times.
void check_rebuild(const TaskGraph& graph) {
  if (graph.context().lanes.empty()) return;
  Change same;
  same.queues.push_back({LaneId{0}, graph.context().lanes[0].queue_depth});
  auto committed = commit(graph, same);
  if (!committed.ok() || committed->graph.size() != graph.size()) std::abort();
  if (simulate(committed->graph).points != simulate(graph).points) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 0 && data[0] == 's') {
    const auto* text = reinterpret_cast<const char*>(data + 1);  // NOLINT: bytes are text
    (void)Selection::parse({text, size - 1});
  }
  test::Choices choices(std::span(data, size));
  // Small graphs leave bytes for the edits.
  TaskGraph graph = test::random_graph(choices, {.operations = choices.below(40)});
  check(graph);
  for (int edit = 0; edit < 6 && !choices.used_up(); ++edit) {
    auto change = test::random_change(choices, graph);
    if (!change) continue;
    auto committed = commit(graph, *change);
    if (!committed) continue;
    check(committed->graph);
    graph = committed->graph;
    if (graph.size() > 5000) break;
  }
  check_rebuild(graph);
  return 0;
}
