#include "models/jobs/recordings/stage_writer.h"

#include <algorithm>

#include <fmt/format.h>

#include "models/editing/kernels/kernel_work.h"
#include "models/jobs/program/stages.h"
#include "models/jobs/recordings/network_name.h"
#include "sim/core/whole.h"

namespace foretrace {

StageWriter::StageWriter(const SpreadParts& parts, SpreadDraft& draft, std::uint32_t stage,
                         const HeldShares& shares, std::set<std::uint32_t> layers)
    : parts_(parts),
      program_(parts.recorded.program()),
      draft_(draft),
      builder_(draft.builder),
      stage_(stage),
      lanes_(draft.builder, stage),
      tensors_(draft.builder, lanes_, parts.recorded, shares, std::move(layers)) {
  compute_ = lanes_.of(parts.compute);
  tensors_.hold(stage == 0);
}

void StageWriter::begin(StageWork work) {
  end_pass();
  work_ = std::move(work);
  is_updated_ = false;
  tensors_.begin_pass(work_.pass, last_call_);
  ends_.clear();
  group_ = {PartRole::other, no_batch};
  if (stage_ == 0 && work_.pass == 0) visits({PartRole::other}, no_batch);
}

// An update of nothing is no node, but it is recorded.
void StageWriter::end_pass() {
  if (!is_updated_) update(work_.nodes.back());
  if (!ends_.empty()) carried_ = ends_.back();
  is_updated_ = true;
}

const RankNode* StageWriter::next() const {
  return ends_.size() < work_.nodes.size() ? &work_.nodes[ends_.size()] : nullptr;
}

void StageWriter::add_next(TaskId sent) {
  const RankNode& node = *next();
  if (node.type == RankNodeType::receive) {
    ends_.push_back({sent});
  } else if (node.type == RankNodeType::compute && node.action != nullptr) {
    compute(node);
  } else if (node.type == RankNodeType::compute && node.place.phase == Phase::update &&
             !is_updated_) {
    update(node);
  } else if (node.type == RankNodeType::compute || node.joins_stages) {
    // What computation loses beside communication, the graph tells; whether the run looks at the
    // norm of its gradients, the recording does.
    ends_.push_back(ends_before(node));
  } else {
    network(node);
  }
}

std::vector<TaskId> StageWriter::ends_before(const RankNode& node) const {
  std::vector<TaskId> ends;
  for (const std::uint32_t before : node.after) {
    ends.insert(ends.end(), ends_[before].begin(), ends_[before].end());
  }
  std::sort(ends.begin(), ends.end());
  ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
  return ends;
}

void StageWriter::wait_for(TaskId task, LaneId lane, std::span<const TaskId> sources) {
  for (const TaskId source : sources) {
    if (builder_.columns().lane[index(source)] == lane) continue;  // a stream keeps its own order
    builder_.add_dependency(
        {.source = end_of(source), .task = task, .kind = DependencyKind::event_wait});
  }
}

// Recorded kernels had the device without those of another micro-batch.
void StageWriter::enter(const Group& group, const RankNode* node) {
  if (group != group_) {
    if (last_call_ != none<TaskId>) tensors_.end_group(last_call_);
    group_ = group;
    group_begin_ = none<TaskId>;
    begins_ = leads_ = true;
    gates_.clear();
    gated_.clear();
    for (const auto& [lane, task] : last_on_) gates_.push_back(task);
    gates_.insert(gates_.end(), carried_.begin(), carried_.end());
    carried_.clear();
  }
  if (node == nullptr) return;
  for (const std::uint32_t before : node->after) {
    const RankNode& other = work_.nodes[before];
    // Of layers the recording says what waits for them.
    if (other.type == RankNodeType::compute && other.action != nullptr) continue;
    gates_.insert(gates_.end(), ends_[before].begin(), ends_[before].end());
  }
}

void StageWriter::compute(const RankNode& node) {
  const bool forward = node.place.phase == Phase::forward;
  const PartRole role = forward ? PartRole::forward : PartRole::backward;
  enter({role, node.place.micro_batch}, &node);
  // Collected parameters are copied out where they are used (torch/distributed/fsdp, FSDP2).
  for (const std::uint32_t before : node.after) {
    const RankNode& other = work_.nodes[before];
    if (!other.travels || other.collective != CollectiveKind::all_gather) continue;
    gates_.push_back(move("copy parameters of a layer out", other.bytes));
  }
  if (forward && node.place.order == 0 && node.place.micro_batch == 0) {
    first_visits();
  } else {
    visits({role, work_.pass, node.place.order}, node.place.micro_batch);
  }
  std::vector<TaskId>& ends = ends_.emplace_back();
  for (const auto& [lane, task] : last_on_) ends.push_back(task);
}

// What is loaded stands where it was recorded, once.
void StageWriter::first_visits() {
  const RecordedPart layer{PartRole::forward, work_.pass, 0};
  std::vector<std::uint32_t> numbers;
  for (const RecordedPart& part : {RecordedPart{PartRole::input, work_.pass, 0}, layer}) {
    const auto own = parts_.recorded.visits_of(part);
    numbers.insert(numbers.end(), own.begin(), own.end());
  }
  std::sort(numbers.begin(), numbers.end());
  for (const std::uint32_t number : numbers) {
    visit(number, program_.visits[number].part == layer ? 0 : no_batch);
  }
}

void StageWriter::update(const RankNode& node) {
  is_updated_ = true;
  enter({PartRole::update, no_batch}, &node);
  std::vector<TaskId> ends = ends_before(node);
  visits({PartRole::update, work_.pass}, no_batch);
  for (const auto& [lane, task] : last_on_) ends.push_back(task);
  ends_.push_back(std::move(ends));
}

void StageWriter::network(const RankNode& node) {
  const NetworkName name = network_name(node, parts_.options.plan.sharding);
  CollectiveCall call{node.collective, node.bytes, {}};
  if (node.type == RankNodeType::send) {
    call.kind = CollectiveKind::send;
    call.group = pair_placement(*work_.job, stage_, node.stage);
  } else {
    call.group = place(*parts_.options.cluster, node.group);
  }
  const std::uint32_t members =
      node.type == RankNodeType::send ? parts_.options.plan.pipeline : node.group.size;
  std::vector<TaskId> sources = ends_before(node);
  // Gradients are copied in before they leave; one reduction is on its way.
  if (node.travels && call.kind == CollectiveKind::reduce_scatter) {
    std::erase_if(sources, [this](TaskId source) {
      const WorkId work = builder_.columns().work[index(source)];
      return builder_.context().works[index(work)].collective == CollectiveKind::all_gather;
    });
    gates_.insert(gates_.end(), sources.begin(), sources.end());
    sources.push_back(move("copy gradients of a layer in", node.bytes));
  }
  const TaskId task = communicate(name.work, std::string(name.stream), call, members);
  wait_for(task, builder_.columns().lane[index(task)], sources);
  ends_.push_back({task});
}

TaskId StageWriter::communicate(std::string_view name, const std::string& stream,
                                const CollectiveCall& call, std::uint32_t members) {
  const SpreadTime time = parts_.options.time_of(call);
  transferred_ns_ += time.ns;
  const LaneId lane = lanes_.network(stream, compute_);
  const auto [known, is_new] = communicators_.try_emplace(stream, 0);
  if (is_new) {
    known->second = builder_.add_communicator(
        {.name = stream, .size = members, .ranks = {builder_.context().lanes[index(lane)].rank}});
  }
  Work work;
  work.name = builder_.add_name(name);
  work.kind = TaskKind::collective;
  work.collective = call.kind;
  work.bytes = to_whole(call.bytes);
  work.communicator = known->second;
  TaskSpec device;
  device.lane = lane;
  device.work = builder_.add_work(work);
  device.kind = TaskKind::collective;
  device.phase = Phase::communication;
  device.duration_ns = time.ns;
  device.step = last_call_ == none<TaskId> ? -1 : builder_.columns().step[index(last_call_)];
  device.provenance = time.trust.provenance;
  return launched(device, name, parts_.options.call_host_ns, time.trust);
}

/// Device work that no recording shows, with its call by the thread that goes on.
TaskId StageWriter::launched(const TaskSpec& device, std::string_view name, std::int64_t host_ns,
                             const Trust& trust) {
  TaskId caller = none<TaskId>;
  if (thread_ != none<LaneId>) {
    Work calls;
    calls.name = builder_.add_name(fmt::format("launch of {}", name));
    calls.kind = TaskKind::launch;
    TaskSpec launch = device;
    launch.lane = thread_;
    launch.work = builder_.add_work(calls);
    launch.kind = TaskKind::launch;
    launch.duration_ns = parts_.options.launch.call_ns;
    launch.segment_ns = host_ns;
    launch.provenance = Provenance::assumed;
    caller = last_call_ = draft_.add(launch, 1, 1);
  }
  const TaskId task = draft_.add(device, trust.low, trust.high);
  if (caller != none<TaskId>) {
    builder_.add_dependency({.source = end_of(caller),
                             .task = task,
                             .kind = DependencyKind::launch,
                             .lag_ns = parts_.options.launch.latency_ns});
  }
  return task;
}

/// A kernel on the stage's stream that reads and writes so many bytes.
TaskId StageWriter::move(std::string_view name, double bytes) {
  const Cost cost = parts_.editor.moving_cost(2 * bytes, KernelClass::elementwise).value();
  const editing::KernelWork what = editing::moving_work(bytes / 4, bytes / 4, Precision::fp32);
  Work work;
  work.name = builder_.add_name(name);
  work.operator_name = builder_.add_name(what.operator_name);
  work.shapes = builder_.add_name(what.shapes);
  work.types = builder_.add_name(what.types);
  work.kind = TaskKind::kernel;
  work.precision = what.precision;
  TaskSpec device;
  device.lane = compute_;
  device.work = builder_.add_work(work);
  device.kind = TaskKind::kernel;
  device.phase = group_.first == PartRole::forward ? Phase::forward : Phase::backward;
  device.duration_ns = cost.duration_ns;
  device.step = last_call_ == none<TaskId> ? -1 : builder_.columns().step[index(last_call_)];
  device.provenance = cost.provenance;
  const TaskId task =
      launched(device, name, parts_.options.copy_host_ns, {cost.provenance, cost.low, cost.high});
  put_on(compute_, task);
  return task;
}

void StageWriter::end() {
  end_pass();
  if (last_call_ != none<TaskId>) tensors_.end_group(last_call_);
  if (stage_ > 0) return;
  enter({PartRole::other, no_batch}, nullptr);
  for (std::uint32_t v = 0; v < program_.visits.size(); ++v) {
    const PartRole role = program_.visits[v].part.role;
    const bool is_layer = role == PartRole::forward || role == PartRole::backward;
    if (!is_layer && !latest_.contains(v)) visit(v, no_batch);
  }
}

void StageWriter::add_steps() {
  const auto at = [this](TaskId op, const auto& copies) {
    const std::uint32_t v = parts_.recorded.visit_of(op);
    const auto found = copies.find(v);
    if (found == copies.end()) return none<TaskId>;
    return make_id<TaskId>(index(found->second) + index(op) - program_.visits[v].first_op);
  };
  for (Step step : program_.context.steps) {
    step.begin = at(step.begin, first_);
    step.end = at(step.end, latest_);
    // Of a mark that lies on another stage only its own thread's end is left.
    if (step.begin == none<TaskId>) step.begin = TaskId{0};
    if (step.end == none<TaskId>) step.end = last_call_;
    builder_.add_step(step);
  }
}

}  // namespace foretrace
