// From nodes with explicit dependencies to tasks of a graph that is being built.
#include "trace/nodes/node_emitter.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string>

#include <fmt/format.h>

#include "sim/core/text.h"
#include "trace/annotate/collectives/collectives.h"

namespace foretrace::trace {
namespace {

// Streams of a device where the file knows none.
constexpr std::int64_t computing = 0;
constexpr std::int64_t communicating = 1;
constexpr std::int64_t copying = 2;
constexpr std::int64_t first_meeting = 3;

std::int64_t value_of_attribute(std::string_view text) {
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace

bool on_device(const NodeGraph& nodes, NodeId node) {
  const NodePlace place = nodes.place[index(node)];
  const NodeKind kind = nodes.kind[index(node)];
  return place == NodePlace::device ||
         (place == NodePlace::unknown && kind != NodeKind::metadata && kind != NodeKind::unknown);
}

NodeEmitter::NodeEmitter(const EventTable& events, const NodeGraph& nodes, NodeTimes times,
                         GraphBuilder& builder, std::int32_t rank)
    : events_(events),
      nodes_(nodes),
      times_(std::move(times)),
      builder_(builder),
      rank_(rank),
      first_task_(builder.size()),
      first_step_(static_cast<std::int32_t>(builder.context().steps.size())),
      entry_of_(nodes.size(), none<TaskId>),
      task_of_(nodes.size(), none<TaskId>),
      names_(events.names.size(), none<NameId>) {}

void NodeEmitter::emit(const std::vector<NodeId>& order, std::vector<NodeMeeting>& meetings) {
  builder_.add_rank_class({.first_rank = rank_, .multiplicity = 1});
  find_origin();
  collect_steps();
  set_steps();
  for (const NodeId node : order) {
    const auto at = std::lower_bound(meetings.begin(), meetings.end(), node,
                                     [](const auto& row, NodeId id) { return row.node < id; });
    add(node, at != meetings.end() && at->node == node ? &*at : nullptr);
  }
  for (const NodeId node : order) {
    add_edges(node);
  }
  add_steps();
}

NameId NodeEmitter::name(NameId id) {
  NameId& mapped = names_[index(id)];
  if (mapped == none<NameId>) {
    mapped = builder_.add_name(events_.names[id]);
  }
  return mapped;
}

void NodeEmitter::find_origin() {
  std::int64_t first = -1;
  for (const std::int64_t start : nodes_.start_ns) {
    first = start >= 0 && (first < 0 || start < first) ? start : first;
  }
  origin_ = std::max<std::int64_t>(0, first);
}

std::int64_t NodeEmitter::stream_of(NodeId node, const NodeMeeting* meeting) const {
  const std::int64_t recorded = nodes_.stream[index(node)];
  if (recorded >= 0) return recorded;
  switch (nodes_.kind[index(node)]) {
    case NodeKind::send:
    case NodeKind::receive:
    case NodeKind::collective:
      return meeting == nullptr ? communicating : first_meeting + meeting->lane;
    case NodeKind::memory_load:
    case NodeKind::memory_store: return copying;
    case NodeKind::unknown:
    case NodeKind::metadata:
    case NodeKind::compute: return computing;
  }
  return computing;
}

LaneId NodeEmitter::lane_of(NodeId node, const NodeMeeting* meeting) {
  const bool device = on_device(nodes_, node);
  const std::int64_t number =
      device ? stream_of(node, meeting) : std::max<std::int64_t>(0, nodes_.thread[index(node)]);
  const auto [at, is_new] = lanes_.try_emplace({device, number}, LaneId{});
  if (is_new) {
    at->second = builder_.add_lane({.kind = device ? LaneKind::stream : LaneKind::host_thread,
                                    .rank = rank_,
                                    .device = device ? 0 : no_device,
                                    .number = number,
                                    .name = {}});
  }
  return at->second;
}

TaskKind NodeEmitter::kind_of(NodeId node) const {
  const std::size_t row = index(node);
  const std::string_view name = events_.names[nodes_.name[row]];
  if (nodes_.task_kind[row] >= 0) return static_cast<TaskKind>(nodes_.task_kind[row]);
  if (nodes_.kind[row] == NodeKind::metadata || nodes_.kind[row] == NodeKind::unknown) {
    return TaskKind::mark;
  }
  if (!on_device(nodes_, node)) return TaskKind::host;
  if (is_communication(nodes_.kind[row]) || contains(name, "nccl")) return TaskKind::collective;
  if (name.starts_with("Memset")) return TaskKind::set;
  const bool copies = nodes_.kind[row] == NodeKind::memory_load ||
                      nodes_.kind[row] == NodeKind::memory_store || name.starts_with("Memcpy");
  return copies ? TaskKind::copy : TaskKind::kernel;
}

void NodeEmitter::add(NodeId node, NodeMeeting* meeting) {
  const std::size_t row = index(node);
  const NodeSignature& signature = nodes_.signatures[nodes_.signature[row]];
  TaskSpec task;
  task.lane = lane_of(node, meeting);
  task.kind = kind_of(node);
  Work work;
  work.kind = task.kind;
  work.name = name(nodes_.name[row]);
  work.shapes = name(signature.shapes);
  work.types = name(signature.types);
  work.flops = nodes_.operations[row] >= 0 ? static_cast<double>(nodes_.operations[row]) : -1.0;
  work.bytes = nodes_.bytes[row];
  if (meeting != nullptr) {
    work.collective = meeting->kind;
    work.bytes = meeting->bytes;
    work.communicator = meeting->communicator;
  } else if (task.kind == TaskKind::collective) {
    describe_communication(node, work);
  }
  const NodeId parent = nodes_.parent[row];
  if (is_device(task.kind) && parent != none<NodeId> && !on_device(nodes_, parent)) {
    work.operator_name = name(nodes_.name[index(parent)]);
  }
  task.duration_ns = times_.duration_ns[row];
  task.provenance = times_.provenance[row];
  task.step = step_[row] < 0 ? -1 : first_step_ + step_[row];
  const auto delay = delays_.find(node);
  task.segment_ns = delay == delays_.end() ? 0 : std::max<std::int64_t>(0, delay->second);
  if (meeting != nullptr && meeting->arrives) {
    TaskSpec arrival = task;
    work.part = TaskPart::begin;
    arrival.work = builder_.add_work(work);
    arrival.duration_ns = 0;
    entry_of_[row] = put(arrival);
    work.part = TaskPart::finish;
    task.segment_ns = 0;
  }
  if (meeting != nullptr) {
    task.duration_ns = meeting->duration_ns;
    task.provenance = meeting->provenance;
  }
  task.work = builder_.add_work(work);
  task_of_[row] = put(task);
  if (entry_of_[row] == none<TaskId>) entry_of_[row] = task_of_[row];
  if (meeting == nullptr) return;
  meeting->arrival = entry_of_[row];
  meeting->task = task_of_[row];
}

TaskId NodeEmitter::put(const TaskSpec& task) {
  const TaskId id = builder_.add_task(task);
  previous_.push_back(last_of_lane(task.lane, id));
  return id;
}

// Kind, bytes and group, as far as they are recorded.
void NodeEmitter::describe_communication(NodeId node, Work& work) {
  const NodeCommunication* const at = communication_of(nodes_, node);
  if (at == nullptr) return;
  switch (nodes_.kind[index(node)]) {
    case NodeKind::send: work.collective = CollectiveKind::send; break;
    case NodeKind::receive: work.collective = CollectiveKind::receive; break;
    default: work.collective = collective_kind(events_.names[at->kind]); break;
  }
  if (at->bytes >= 0) {
    // What one rank gives.
    work.bytes = payload_bytes({.kind = work.collective, .in_bytes = at->bytes},
                               static_cast<std::uint32_t>(std::max(0, at->group_size)));
  }
  work.communicator = communicator_of(*at);
}

std::uint32_t NodeEmitter::communicator_of(const NodeCommunication& row) {
  const std::string_view group = events_.names[row.group];
  if (group.empty()) return no_communicator;
  const auto [at, is_new] = communicators_.try_emplace(row.group, no_communicator);
  if (is_new) {
    at->second = builder_.add_communicator(
        {std::string(group), static_cast<std::uint32_t>(std::max(0, row.group_size)), {rank_}});
  }
  return at->second;
}

// The task that was the last of the lane until now.
TaskId NodeEmitter::last_of_lane(LaneId lane, TaskId task) {
  if (last_.size() <= index(lane)) {
    last_.resize(index(lane) + 1, none<TaskId>);
  }
  return std::exchange(last_[index(lane)], task);
}

void NodeEmitter::add_edges(NodeId node) {
  const std::size_t row = index(node);
  const auto by_node = [](const NodeTiming& timing, NodeId id) { return timing.node < id; };
  const auto first = std::lower_bound(nodes_.timings.begin(), nodes_.timings.end(), node, by_node);
  auto last = first;
  for (; last != nodes_.timings.end() && last->node == node; ++last) {
    add_timing(*last);
  }
  const auto add_plain = [&](NodeId source, DependencyKind otherwise) {
    const bool timed = std::any_of(
        first, last, [&](const NodeTiming& t) { return t.source == source && !t.from_start; });
    const std::size_t from = index(source);
    const bool same_lane = builder_.columns().lane[index(task_of_[from])] ==
                           builder_.columns().lane[index(entry_of_[row])];
    // The order of a lane says the same, and our own writer's timings say more.
    if (timed || same_lane || nodes_.task_kind[row] >= 0) return;
    const bool launch = !on_device(nodes_, source) && on_device(nodes_, node);
    builder_.add_dependency({.source = end_of(task_of_[from]),
                             .task = entry_of_[row],
                             .kind = launch ? DependencyKind::launch : otherwise});
  };
  for (std::uint32_t at = nodes_.data_offsets[row]; at < nodes_.data_offsets[row + 1]; ++at) {
    add_plain(nodes_.data[at], DependencyKind::data);
  }
  for (std::uint32_t at = nodes_.control_offsets[row]; at < nodes_.control_offsets[row + 1]; ++at) {
    add_plain(nodes_.control[at], DependencyKind::control);
  }
}

void NodeEmitter::add_timing(const NodeTiming& timing) {
  const TaskId task = entry_of_[index(timing.node)];
  const TaskId source = task_of_[index(timing.source)];
  const auto kind = static_cast<DependencyKind>(timing.kind);
  const bool of_lane =
      kind == DependencyKind::stream_order || kind == DependencyKind::program_order;
  if (of_lane && !timing.from_start && previous_[index(task) - first_task_] == source) {
    builder_.segments()[index(task)] = timing.lag_ns;  // negative where two overlap a little
    return;
  }
  Point late = no_point;
  if (timing.late_after != none<NodeId>) {
    const TaskId after = task_of_[index(timing.late_after)];
    late = timing.late_after_end ? end_of(after) : start_of(after);
  }
  builder_.add_dependency({.source = timing.from_start ? start_of(source) : end_of(source),
                           .task = task,
                           .kind = kind,
                           .lag_ns = timing.lag_ns,
                           .fraction = timing.fraction,
                           .late_after = late});
}

// Steps by number, from the attributes of their marks; delays before first operations.
void NodeEmitter::collect_steps() {
  const NameTable& names = events_.names;
  for (const NodeAttribute& attribute : nodes_.attributes) {
    const std::string_view name = names[attribute.name];
    const bool begin = name == step_begin_attribute;
    if (name == delay_attribute) {
      delays_[attribute.node] = value_of_attribute(names[attribute.value]);
    }
    if (!begin && name != step_end_attribute) continue;
    const std::int64_t number = value_of_attribute(names[attribute.value]);
    const auto at = marks_.try_emplace(number, none<NodeId>, none<NodeId>).first;
    (begin ? at->second.first : at->second.second) = attribute.node;
  }
  for (auto at = marks_.begin(); at != marks_.end();) {
    const auto [begin, end] = at->second;
    at = begin == none<NodeId> || end == none<NodeId> ? marks_.erase(at) : std::next(at);
  }
}

void NodeEmitter::set_steps() {
  step_.assign(nodes_.size(), -1);
  std::map<std::string, std::int32_t, std::less<>> position;
  for (const auto& [number, marks] : marks_) {
    position.emplace(fmt::format("{}", number), static_cast<std::int32_t>(position.size()));
  }
  for (const NodeAttribute& attribute : nodes_.attributes) {
    if (events_.names[attribute.name] == step_attribute) {
      const auto at = position.find(events_.names[attribute.value]);
      step_[index(attribute.node)] = at == position.end() ? -1 : at->second;
    }
  }
}

void NodeEmitter::add_steps() {
  for (const auto& [number, marks] : marks_) {
    builder_.add_step({.rank = rank_,
                       .number = number,
                       .begin = task_of_[index(marks.first)],
                       .end = task_of_[index(marks.second)]});
    const auto start = [&](NodeId node) { return nodes_.start_ns[index(node)] - origin_; };
    measured_.push_back(
        {.number = number, .start_ns = start(marks.first), .end_ns = start(marks.second)});
  }
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (step_[i] >= 0 && nodes_.start_ns[i] >= 0 && on_device(nodes_, make_id<NodeId>(i))) {
      std::int64_t& first = measured_[static_cast<std::size_t>(step_[i])].first_device_start_ns;
      const std::int64_t start = nodes_.start_ns[i] - origin_;
      first = first < 0 ? start : std::min(first, start);
    }
  }
}

}  // namespace foretrace::trace
