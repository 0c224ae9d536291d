#include "models/jobs/program/graphs/operator_graph.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/jobs/program/graphs/model_layers.h"
#include "models/jobs/program/graphs/rank_nodes.h"
#include "models/jobs/program/graphs/rank_tensors.h"
#include "models/jobs/program/graphs/recorded_works.h"
#include "models/jobs/program/stages.h"
#include "sim/core/whole.h"
#include "sim/graph/graph_builder.h"

namespace foretrace {
namespace {

std::string_view type_name(Precision precision) {
  switch (precision) {
    case Precision::fp16: return "c10::Half";
    case Precision::bf16: return "c10::BFloat16";
    case Precision::fp8: return "c10::Float8_e4m3fn";
    case Precision::fp64: return "double";
    default: return "float";
  }
}

/// As NCCL calls its kernels; it has no all-to-all of its own.
std::string_view nccl_name(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::all_reduce: return "ncclDevKernel_AllReduce_Sum";
    case CollectiveKind::all_gather: return "ncclDevKernel_AllGather";
    case CollectiveKind::reduce_scatter: return "ncclDevKernel_ReduceScatter_Sum";
    case CollectiveKind::broadcast: return "ncclDevKernel_Broadcast";
    case CollectiveKind::reduce: return "ncclDevKernel_Reduce_Sum";
    default: return "ncclDevKernel_SendRecv";
  }
}

/// A node's tasks on the device, the first and the last one.
struct NodeTasks {
  TaskId first = none<TaskId>;
  TaskId last = none<TaskId>;
};

/// Tasks of one stage.
class StageEmitter {
 public:
  StageEmitter(GraphBuilder& builder, ModelLayers& layers, const Job& job,
               const RankProgram& program, std::uint32_t stage, std::vector<RankNode> nodes)
      : builder_(builder),
        layers_(layers),
        job_(job),
        program_(program),
        stage_(stage),
        nodes_(std::move(nodes)),
        tensors_(builder, job, program, stage),
        host_ns_(job.framework->host_kernel_ns.typical) {}

  void begin();
  /// The node that comes next; null: all are there.
  [[nodiscard]] const RankNode* next() const {
    return tasks_.size() < nodes_.size() ? &nodes_[tasks_.size()] : nullptr;
  }
  void add_next();
  void end();

  [[nodiscard]] const std::vector<RankNode>& nodes() const { return nodes_; }
  /// Per node that was added.
  [[nodiscard]] const std::vector<NodeTasks>& tasks() const { return tasks_; }

 private:
  [[nodiscard]] std::int32_t rank() const { return static_cast<std::int32_t>(stage_); }
  [[nodiscard]] const Operator* operator_of(const RankNode& node) const;
  [[nodiscard]] LaneId lane(LaneKind kind, std::string_view name);
  [[nodiscard]] LaneId lane_of(const RankNode& node);
  [[nodiscard]] TaskSpec spec_of(LaneId lane, const Work& work, double ns);
  TaskId host(TaskKind kind, std::string_view name, TaskPart part = TaskPart::whole);
  TaskId launch(const RankNode& node, const Work& work, double device_ns, double host_ns);
  [[nodiscard]] Work kernel_work(std::string_view name) const;
  [[nodiscard]] Work named(const RecordedWork& recorded, Precision precision);
  [[nodiscard]] Precision precision_of(const Operator& op) const;
  [[nodiscard]] std::uint32_t communicator_of(const RankNode& node);
  void kernels(const RankNode& node);
  void other_kernel(const RankNode& node);
  void update(const RankNode& node);
  void communicate(const RankNode& node);
  void add(const RankNode& node);
  /// With a stream, or with all of them.
  void synchronize(LaneId stream = none<LaneId>);

  GraphBuilder& builder_;
  ModelLayers& layers_;
  const Job& job_;
  const RankProgram& program_;
  std::uint32_t stage_;
  std::vector<RankNode> nodes_;
  std::vector<NodeTasks> tasks_;
  RankTensors tensors_;
  double host_ns_;
  bool updates_ = false;
  LaneId thread_{};
  LaneId compute_{};
  TaskId begin_{};
  NodeTasks made_;  // by the node that is added
  std::map<std::string, LaneId, std::less<>> lanes_;
  std::map<std::pair<GridAxis, bool>, std::uint32_t> communicators_;
};

const Operator* StageEmitter::operator_of(const RankNode& node) const {
  if (node.action == nullptr || node.action->operator_index == Action::no_operator) return nullptr;
  return &(*program_.divided)[node.place.block].operators[node.action->operator_index];
}

LaneId StageEmitter::lane(LaneKind kind, std::string_view name) {
  const auto [known, is_new] = lanes_.try_emplace(std::string(name));
  if (!is_new) return known->second;
  Lane made;
  made.kind = kind;
  made.rank = rank();
  made.device = kind == LaneKind::host_thread ? no_device : 0;
  made.number = static_cast<std::int64_t>(lanes_.size());
  made.name = name;
  return known->second = builder_.add_lane(std::move(made));
}

LaneId StageEmitter::lane_of(const RankNode& node) {
  switch (node.type) {
    case RankNodeType::compute: return compute_;
    case RankNodeType::send:
    case RankNodeType::receive: return lane(LaneKind::stream, node.name);
    case RankNodeType::collective: break;
  }
  return lane(LaneKind::stream, builder_.context().communicators[communicator_of(node)].name);
}

TaskSpec StageEmitter::spec_of(LaneId lane, const Work& work, double ns) {
  TaskSpec spec;
  spec.lane = lane;
  spec.work = builder_.add_work(work);
  spec.kind = work.kind;
  spec.duration_ns = to_whole(ns);
  spec.step = rank();
  spec.provenance = Provenance::table;
  return spec;
}

TaskId StageEmitter::host(TaskKind kind, std::string_view name, TaskPart part) {
  Work work;
  work.name = builder_.add_name(name);
  work.kind = kind;
  work.part = part;
  return builder_.add_task(spec_of(thread_, work, 0));
}

// The call comes right before what it enqueues.
TaskId StageEmitter::launch(const RankNode& node, const Work& work, double device_ns,
                            double host_ns) {
  Work call;
  call.name = builder_.add_name("cudaLaunchKernel");
  call.kind = TaskKind::launch;
  TaskSpec from = spec_of(thread_, call, host_ns);
  TaskSpec spec = spec_of(lane_of(node), work, device_ns);
  spec.provenance = node.provenance;
  spec.phase = from.phase = node.place.phase;
  spec.layer = from.layer = layers_.of(node.place, node.action);
  const TaskId caller = builder_.add_task(from);
  const TaskId task = builder_.add_task(spec);
  builder_.add_dependency({.source = end_of(caller), .task = task, .kind = DependencyKind::launch});
  if (made_.first == none<TaskId>) made_.first = task;
  made_.last = task;
  return caller;
}

Work StageEmitter::kernel_work(std::string_view name) const {
  Work work;
  work.kind = TaskKind::kernel;
  work.name = builder_.add_name(name);
  return work;
}

Work StageEmitter::named(const RecordedWork& recorded, Precision precision) {
  Work work = kernel_work(recorded.kernel);
  work.precision = precision;
  work.operator_name = builder_.add_name(recorded.operator_name);
  work.shapes = builder_.add_name(recorded.shapes);
  std::vector<std::string> types;
  for (const char input : recorded.inputs) {
    const std::string_view type = input == 'n' ? type_name(precision) : "long int";
    types.push_back(input == '-' ? "\"\"" : fmt::format("\"{}\"", type));
  }
  work.types = builder_.add_name(fmt::format("[{}]", fmt::join(types, ", ")));
  return work;
}

Precision StageEmitter::precision_of(const Operator& op) const {
  const bool in_8_bit =
      job_.precisions.layers_in_8_bit && !op.keeps_precision && op.type == OperatorType::product;
  return in_8_bit ? Precision::fp8 : job_.precisions.activations;
}

void StageEmitter::kernels(const RankNode& node) {
  const Operator& op = *operator_of(node);
  const Action& action = *node.action;
  const std::vector<RecordedWork> works =
      recorded_works(op, action.part, action.kernels, job_.framework->kernels.attention);
  const auto count = static_cast<double>(works.size());
  const double host_ns = host_ns_ * node.launches / count;
  TaskId first = none<TaskId>;
  TaskId last = none<TaskId>;
  for (const RecordedWork& recorded : works) {
    last = launch(node, named(recorded, precision_of(op)), node.ns / count, host_ns);
    if (first == none<TaskId>) first = last;
  }
  tensors_.run(node, first, last, layers_.of(node.place, &action));
}

// Of no operator: gradients and pieces that are added up, pieces put in order, the start of a
// machine, what computation loses beside communication.
void StageEmitter::other_kernel(const RankNode& node) {
  const bool adds = node.action != nullptr && node.action->part == KernelPart::accumulation;
  const bool moves = node.action != nullptr && node.action->source == CostSource::memory;
  Work work = kernel_work(moves ? "at::native::vectorized_elementwise_kernel" : node.name);
  if (moves) {
    work.operator_name = builder_.add_name(adds ? "aten::add_" : node.name);
    work.precision = adds ? Precision::fp32 : job_.precisions.activations;
  }
  static_cast<void>(launch(node, work, node.ns, host_ns_ * node.launches + node.host_ns));
}

// The parameters of each operator by themselves, each with its share of the update.
void StageEmitter::update(const RankNode& node) {
  const double calls =
      program_.step.stages[stage_].tensors * job_.framework->update_kernels * host_ns_;
  double all = 0;
  for (const OwnParameters& one : tensors_.parameters()) all += one.updated;
  for (const OwnParameters& one : tensors_.parameters()) {
    if (!(one.updated > 0)) continue;
    const double share = one.updated / all;
    RankNode own = node;
    own.place.block = one.place.block;
    own.place.order = one.place.order;
    const std::vector<RecordedWork> works = update_works(one.updated, *job_.framework);
    const double part = share / static_cast<double>(works.size());
    for (const RecordedWork& work : works) {
      static_cast<void>(launch(own, named(work, Precision::fp32), node.ns * part, calls * part));
    }
  }
}

std::uint32_t StageEmitter::communicator_of(const RankNode& node) {
  const auto [known, is_new] = communicators_.try_emplace({node.group, node.travels}, 0);
  if (!is_new) return known->second;
  Communicator made;
  made.name = fmt::format(
      "{} of {} ranks{}", node.travels ? "parameters and gradients" : "group", node.group.size,
      node.group.stride > 1 ? fmt::format(", {} apart", node.group.stride) : "");
  made.size = node.group.size;
  made.ranks = {rank()};
  return known->second = builder_.add_communicator(std::move(made));
}

void StageEmitter::communicate(const RankNode& node) {
  Work work;
  work.kind = TaskKind::collective;
  work.bytes = to_whole(node.bytes);
  work.precision = job_.precisions.activations;
  switch (node.type) {
    case RankNodeType::send: work.collective = CollectiveKind::send; break;
    case RankNodeType::receive: work.collective = CollectiveKind::receive; break;
    default: work.collective = node.collective; work.communicator = communicator_of(node);
  }
  work.name = builder_.add_name(nccl_name(work.collective));
  work.operator_name = builder_.add_name(node.name);
  // What comes takes its time on the stage that sends it.
  const double ns = node.type == RankNodeType::receive ? 0 : node.ns;
  static_cast<void>(launch(node, work, ns, host_ns_ * node.launches));
}

void StageEmitter::add(const RankNode& node) {
  if (node.type != RankNodeType::compute) return communicate(node);
  if (operator_of(node) != nullptr) return kernels(node);
  if (node.place.phase == Phase::update && node.action == nullptr &&
      !tensors_.parameters().empty() && node.name == "optimizer") {
    return update(node);
  }
  other_kernel(node);
}

void StageEmitter::begin() {
  thread_ = lane(LaneKind::host_thread, "training loop");
  compute_ = lane(LaneKind::stream, "computation");
  DeviceInfo device;
  const Accelerator& accelerator = job_.cluster->accelerator;
  device.rank = rank();
  device.name = accelerator.product;
  device.memory_bytes = static_cast<std::int64_t>(accelerator.memory_bytes);
  device.multiprocessors = static_cast<std::int32_t>(accelerator.multiprocessors);
  builder_.add_device(std::move(device));
  builder_.add_rank_class(
      {static_cast<std::int32_t>(first_rank(job_, stage_)), stage_ranks(job_, stage_)});
  tensors_.hold(compute_, [&](const OwnParameters& one) {
    Action action;
    action.operator_index = static_cast<std::uint16_t>(one.operator_index);
    return layers_.of(one.place, &action);
  });
  begin_ = host(TaskKind::mark, "step");
}

void StageEmitter::synchronize(LaneId stream) {
  const std::string_view call =
      stream == none<LaneId> ? "cudaDeviceSynchronize" : "cudaStreamSynchronize";
  static_cast<void>(host(TaskKind::synchronization, call, TaskPart::begin));
  Wait wait;
  wait.task = host(TaskKind::synchronization, call, TaskPart::finish);
  wait.at = wait.task;
  wait.lane = stream;
  wait.rank = rank();
  wait.device = 0;
  builder_.add_wait(wait);
}

// The loop reads the loss back before it goes on.
void StageEmitter::end() {
  tensors_.end();
  synchronize();
  builder_.add_step({rank(), 0, begin_, host(TaskKind::mark, "step")});
}

void StageEmitter::add_next() {
  const RankNode& node = nodes_[tasks_.size()];
  made_ = {};
  // It reads the norm of the gradients before it updates.
  const bool is_behind = host_ns_ > 0;  // where launches take no time, it may as well be ahead
  if (is_behind && node.place.phase == Phase::update && !std::exchange(updates_, true)) {
    synchronize();
  }
  // And waits for a pass before it sends what that made, or receives what the next one needs.
  const bool is_message = node.type == RankNodeType::send || node.type == RankNodeType::receive;
  if (is_behind && is_message && job_.framework->sends_block) synchronize(compute_);
  add(node);
  tasks_.push_back(made_);
  const LaneId own = lane_of(node);
  for (const std::uint32_t before : node.after) {
    const TaskId source = tasks_[before].last;
    // A stream keeps its own order.
    if (source == none<TaskId> || made_.first == none<TaskId>) continue;
    if (builder_.columns().lane[index(source)] == own) continue;
    builder_.add_dependency(
        {.source = end_of(source), .task = made_.first, .kind = DependencyKind::event_wait});
  }
}

/// The stages beside each other: each goes on until it needs what another one has not added yet, so
/// that every task stands behind all that it waits for.
class Stages {
 public:
  Stages(GraphBuilder& builder, std::vector<StageEmitter> emitters)
      : builder_(builder), emitters_(std::move(emitters)) {}

  void add_all();
  void connect() const;

 private:
  /// Collectives of several stages by their name.
  struct Meeting {
    std::size_t members = 0;
    std::set<std::size_t> arrived;
  };
  [[nodiscard]] bool may_go_on(std::size_t stage);
  void add_next(std::size_t stage);
  void connect_messages() const;

  GraphBuilder& builder_;
  std::vector<StageEmitter> emitters_;
  std::map<std::uint32_t, TaskId> sent_;  // by message
  std::map<std::uint32_t, TaskId> received_;
  std::map<std::string, Meeting> meetings_;
};

bool Stages::may_go_on(std::size_t stage) {
  const RankNode* const node = emitters_[stage].next();
  if (node == nullptr) return false;
  if (node->type == RankNodeType::receive) return sent_.contains(node->message);
  if (!node->joins_stages) return true;
  Meeting& meeting = meetings_[node->name];
  meeting.arrived.insert(stage);
  return meeting.arrived.size() == meeting.members;
}

void Stages::add_next(std::size_t stage) {
  StageEmitter& emitter = emitters_[stage];
  const RankNode& node = *emitter.next();
  emitter.add_next();
  if (node.type == RankNodeType::send) sent_[node.message] = emitter.tasks().back().last;
  if (node.type == RankNodeType::receive) received_[node.message] = emitter.tasks().back().first;
}

void Stages::add_all() {
  for (StageEmitter& emitter : emitters_) {
    emitter.begin();
    for (const RankNode& node : emitter.nodes()) {
      if (node.joins_stages) ++meetings_[node.name].members;
    }
  }
  for (bool goes_on = true; goes_on;) {
    goes_on = false;
    for (std::size_t stage = 0; stage < emitters_.size(); ++stage) {
      while (may_go_on(stage)) {
        add_next(stage);
        goes_on = true;
      }
    }
  }
  for (StageEmitter& emitter : emitters_) {
    FORETRACE_CHECK(emitter.next() == nullptr);  // schedules are checked for deadlocks
    emitter.end();
  }
}

void Stages::connect_messages() const {
  for (const auto& [message, task] : received_) {
    builder_.add_dependency(
        {.source = end_of(sent_.at(message)), .task = task, .kind = DependencyKind::data});
  }
}

void Stages::connect() const {
  connect_messages();
  struct Member {
    std::size_t stage = 0;
    TaskId task = none<TaskId>;
    std::vector<TaskId> after;
  };
  std::map<std::string_view, std::vector<Member>> groups;
  for (std::size_t stage = 0; stage < emitters_.size(); ++stage) {
    const std::vector<RankNode>& nodes = emitters_[stage].nodes();
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (!nodes[i].joins_stages) continue;
      Member member{stage, emitters_[stage].tasks()[i].first, {}};
      for (const std::uint32_t before : nodes[i].after) {
        member.after.push_back(emitters_[stage].tasks()[before].last);
      }
      groups[nodes[i].name].push_back(std::move(member));
    }
  }
  for (const auto& [name, members] : groups) {
    for (const Member& member : members) {
      for (const Member& other : members) {
        if (other.stage == member.stage) continue;
        for (const TaskId before : other.after) {
          builder_.add_dependency(
              {.source = end_of(before), .task = member.task, .kind = DependencyKind::rendezvous});
        }
      }
    }
  }
}

}  // namespace

Result<TaskGraph> operator_graph(const Job& job, const RankProgram& program,
                                 std::string_view model) {
  GraphBuilder builder;
  ModelLayers layers(builder, program, model);
  std::vector<StageEmitter> emitters;
  emitters.reserve(job.plan.pipeline);
  for (std::uint32_t stage = 0; stage < job.plan.pipeline; ++stage) {
    FORETRACE_TRY(auto nodes, rank_nodes(job, program, stage, NodeGrain::operators));
    emitters.emplace_back(builder, layers, job, program, stage, std::move(nodes));
  }
  Stages stages(builder, std::move(emitters));
  stages.add_all();
  stages.connect();
  return std::move(builder).build();
}

}  // namespace foretrace
