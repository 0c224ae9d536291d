// What a static plan may rely on: which operations are done before which, whatever the timing.
#include <algorithm>
#include <map>
#include <utility>

#include "models/hardware/memories/static_plan.h"
#include "sim/graph/links.h"

namespace foretrace {
namespace {

// More streams than any program has; the tensors of further ones are never reused.
constexpr std::size_t most_streams = 64;

/// Per task and stream: how many operations of the stream are done when the task starts.
class Order {
 public:
  Order(const TaskGraph& graph, const MemoryCurve& curve) : graph_(graph) {
    const auto& lanes = graph.context().lanes;
    for (std::size_t i = 0; i < lanes.size() && streams_.size() < most_streams; ++i) {
      if (lanes[i].kind == LaneKind::stream && lanes[i].rank == curve.rank &&
          lanes[i].device == curve.device && lanes[i].policy == LanePolicy::program_order) {
        streams_.emplace(make_id<LaneId>(i), static_cast<std::uint32_t>(streams_.size()));
      }
    }
    operations_.resize(streams_.size());
    done_.assign(graph.size() * streams_.size(), 0);
    own_.assign(graph.size(), nothing);
    for (std::size_t i = 0; i < graph.size(); ++i) visit(make_id<TaskId>(i));
  }

  [[nodiscard]] std::size_t streams() const { return streams_.size(); }
  /// The number of a stream; that of the first one if it is not among them.
  [[nodiscard]] std::uint32_t number_of(LaneId lane) const {
    const auto found = streams_.find(lane);
    return found == streams_.end() ? 0 : found->second;
  }
  [[nodiscard]] bool knows(LaneId lane) const {
    return lane == none<LaneId> ? !streams_.empty() : streams_.contains(lane);
  }
  /// Operations of a stream that stand before a task in program order.
  [[nodiscard]] std::uint32_t before(std::uint32_t stream, TaskId task) const {
    const auto& list = operations_[stream];
    return static_cast<std::uint32_t>(std::lower_bound(list.begin(), list.end(), task) -
                                      list.begin());
  }
  /// What is done when the first operation of the stream from `task` on starts, or the task itself.
  [[nodiscard]] std::vector<std::uint32_t> done_at(std::uint32_t stream, TaskId task) const {
    const std::uint32_t first = before(stream, task);
    const TaskId at = first < operations_[stream].size() ? operations_[stream][first] : task;
    const std::uint32_t* const row = done_.data() + index(at) * streams();
    return {row, row + streams()};
  }

 private:
  static constexpr std::uint32_t nothing = 0xFFFFFFFFU;

  /// True for what holds in every run. A kernel that filled the device is no order, a negative lag
  /// lets the task start early, and a condition holds only if what it asks for came before anyway.
  [[nodiscard]] bool holds_always(const Dependency& d) const {
    if (d.kind == DependencyKind::capacity || d.lag_ns < 0) return false;
    return d.late_after == no_point ||
           (graph_.lane_id(task_of(d.late_after)) == graph_.lane_id(d.task) &&
            task_of(d.late_after) <= d.task);
  }

  void visit(TaskId task) {
    std::uint32_t* const row = done_.data() + index(task) * streams();
    for (const Link& d : sources(graph_, task)) {
      if (!holds_always(d)) continue;
      const TaskId source = task_of(d.source);
      const std::uint32_t* const from = done_.data() + index(source) * streams();
      for (std::size_t s = 0; s < streams(); ++s) row[s] = std::max(row[s], from[s]);
      const std::uint32_t own = own_[index(source)];
      if (is_end(d.source) && own != nothing) {
        const std::uint32_t stream = number_of(graph_.lane_id(source));
        row[stream] = std::max(row[stream], own + 1);
      }
    }
    const auto stream = streams_.find(graph_.lane_id(task));
    if (stream != streams_.end()) {
      auto& list = operations_[stream->second];
      own_[index(task)] = static_cast<std::uint32_t>(list.size());
      list.push_back(task);
    }
  }

  const TaskGraph& graph_;
  std::map<LaneId, std::uint32_t> streams_;
  std::vector<std::vector<TaskId>> operations_;  // per stream
  std::vector<std::uint32_t> done_;              // per task and stream
  std::vector<std::uint32_t> own_;               // per task: its place on its stream
};

}  // namespace

std::vector<PlanItem> plan_items(const TaskGraph& graph, const MemoryCurve& curve) {
  const Order order(graph, curve);
  const auto& tensors = graph.context().tensors;
  std::vector<PlanItem> items;
  std::map<TensorId, std::size_t> item_of;
  const auto add = [&](TensorId id, std::size_t from) {
    const Tensor& tensor = tensors[index(id)];
    PlanItem item;
    item.bytes = tensor.requested_bytes > 0 ? tensor.requested_bytes : tensor.bytes;
    item.from = from;
    item.to = curve.points.size();
    item.stream = order.number_of(tensor.stream);
    item.needed_until = never_done;
    item.done_before.assign(order.streams(), 0);
    if (tensor.allocated_in != none<TaskId> && order.knows(tensor.stream)) {
      item.done_before = order.done_at(item.stream, tensor.allocated_in);
    }
    if (tensor.freed_in != none<TaskId> && order.knows(tensor.stream)) {
      item.needed_until = order.before(item.stream, tensor.freed_in);
    }
    item_of.emplace(id, items.size());
    items.push_back(std::move(item));
  };
  for (const TensorId id : live_tensors(graph, curve, no_memory_point)) add(id, 0);
  for (std::size_t i = 0; i < curve.points.size(); ++i) {
    const MemoryPoint& point = curve.points[i];
    if (point.allocates) {
      add(point.tensor, i);
    } else if (const auto found = item_of.find(point.tensor); found != item_of.end()) {
      items[found->second].to = i;
    }
  }
  return items;
}

}  // namespace foretrace
