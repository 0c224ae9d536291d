#include "models/program/block_program.h"

#include <algorithm>
#include <utility>

#include "models/program/two_lanes.h"

namespace foretrace {
namespace {

class Lowering {
 public:
  Lowering(const Block& block, const LoweringOptions& options)
      : operators_(block.operators), options_(options) {}

  void forward(bool again, bool core_only);
  void backward();
  void accumulate(double weights);
  [[nodiscard]] std::vector<Action> take() { return std::exchange(actions_, {}); }
  [[nodiscard]] std::vector<Action> take_weight_gradients() {
    return std::exchange(weight_gradients_, {});
  }

 private:
  void compute(const Operator& op, const KernelTime& time, std::uint32_t kernels);
  void exchange(const Exchange& exchange, ActionType type, std::string_view name);
  void wait() { actions_.push_back(made(ActionType::wait, {})); }
  void product_backward(std::size_t i);
  void around(const Operator& op, const Exchange& exchange, const KernelTime& time,
              std::uint32_t kernels);
  [[nodiscard]] Action made(ActionType type, std::string_view name) const;
  [[nodiscard]] const Operator* entrance_of(std::size_t i) const;

  const std::vector<Operator>& operators_;
  const LoweringOptions& options_;
  std::vector<Action> actions_;
  std::vector<Action> weight_gradients_;
  bool again_ = false;
};

Action Lowering::made(ActionType type, std::string_view name) const {
  Action action;
  action.type = type;
  action.name = name;
  action.is_again = again_;
  return action;
}

void Lowering::compute(const Operator& op, const KernelTime& time, std::uint32_t kernels) {
  if (!(time.ns > 0)) return;
  Action action = made(ActionType::compute, op.name);
  action.source = time.source;
  action.provenance = time.provenance;
  action.kernels = static_cast<std::uint16_t>(kernels);
  action.ns = time.ns;
  const Framework& framework = options_.framework;
  action.slowed =
      static_cast<float>(time.source == CostSource::memory ? framework.memory_slowdown.typical
                                                           : framework.product_slowdown.typical);
  actions_.push_back(action);
}

void Lowering::exchange(const Exchange& exchange, ActionType type, std::string_view name) {
  if (exchange.kind == CollectiveKind::none) return;
  const CollectiveTime time = options_.collective(exchange.axis, exchange.kind, exchange.bytes);
  if (!(time.ns > 0)) return;
  Action action = made(type, name);
  action.source = options_.leaves_node(exchange.axis) ? CostSource::network : CostSource::local;
  action.provenance = time.provenance;
  action.axis = exchange.axis;
  action.collective = exchange.kind;
  action.kernels = 1;
  action.ns = time.ns;
  action.bytes = exchange.bytes;
  actions_.push_back(action);
}

// A collective that runs piece by piece beside its own operator.
void Lowering::around(const Operator& op, const Exchange& exchange_, const KernelTime& time,
                      std::uint32_t kernels) {
  const bool beside = exchange_.overlap == Overlap::itself;
  exchange(exchange_, beside ? ActionType::start : ActionType::collective, op.name);
  compute(op, time, kernels);
  if (beside && exchange_.kind != CollectiveKind::none) wait();
}

void Lowering::forward(bool again, bool core_only) {
  again_ = again;
  for (const Operator& op : operators_) {
    if (core_only && !op.is_core) continue;
    around(op, op.forward, options_.kernels.forward(op), op.forward_kernels);
  }
  again_ = false;
}

const Operator* Lowering::entrance_of(std::size_t i) const {
  if (i == 0 || operators_[i - 1].type != OperatorType::enter) return nullptr;
  return &operators_[i - 1];
}

void Lowering::product_backward(std::size_t i) {
  const Operator& op = operators_[i];
  const Operator* entrance = entrance_of(i);
  const bool async = entrance != nullptr && entrance->backward.overlap == Overlap::weights &&
                     !options_.splits_backward;
  if (async) exchange(entrance->again, ActionType::start, entrance->name);
  compute(op, options_.kernels.input_gradient(op), 1);
  if (async) {
    if (entrance->again.kind != CollectiveKind::none) wait();
    exchange(entrance->backward, ActionType::start, entrance->name);
  } else if (entrance != nullptr) {
    exchange(entrance->backward, ActionType::collective, entrance->name);
    exchange(entrance->again, ActionType::collective, entrance->name);
  }
  if (options_.splits_backward) std::swap(actions_, weight_gradients_);
  compute(op, options_.kernels.weight_gradient(op), 1);
  if (options_.splits_backward) std::swap(actions_, weight_gradients_);
  if (async && entrance->backward.kind != CollectiveKind::none) wait();
}

void Lowering::backward() {
  bool core_is_back = options_.recompute != Recompute::selective;
  for (std::size_t i = operators_.size(); i-- > 0;) {
    const Operator& op = operators_[i];
    if (op.is_core && !core_is_back) {
      forward(true, true);
      core_is_back = true;
    }
    switch (op.type) {
      case OperatorType::product: product_backward(i); break;
      case OperatorType::enter: {
        // Without a product behind it nobody has taken care of it.
        const bool taken =
            i + 1 < operators_.size() && operators_[i + 1].type == OperatorType::product;
        if (!taken) exchange(op.backward, ActionType::collective, op.name);
        break;
      }
      default: around(op, op.backward, options_.kernels.input_gradient(op), op.backward_kernels);
    }
  }
}

void Lowering::accumulate(double weights) {
  Operator op;
  op.name = "accumulate gradients";
  // One kernel per tensor: each product has a matrix and mostly a bias, each norm a scale and a
  // bias.
  std::uint32_t tensors = 0;
  for (const Operator& one : operators_) {
    if (one.weights > 0) tensors += 2;
  }
  compute(op, options_.kernels.move(weights * options_.framework.accumulate_bytes, tensors),
          tensors);
}

void count_memory(const Block& block, Recompute recompute, BlockProgram& program) {
  double core = 0;
  for (const Operator& op : block.operators) {
    (op.is_expert ? program.expert_weights : program.dense_weights) += op.weights;
    program.kept_bytes += op.kept_bytes;
    core += op.kept_core_bytes;
  }
  program.input_bytes = block.input_bytes;
  const double all = program.kept_bytes;
  // Head and embedding are never recomputed.
  if (block.role != BlockRole::layer) return;
  if (recompute == Recompute::selective) program.kept_bytes -= core;
  if (recompute == Recompute::full) program.kept_bytes = block.input_bytes;
  program.working_bytes = all - program.kept_bytes;
}

}  // namespace

std::string_view to_string(Recompute recompute) {
  switch (recompute) {
    case Recompute::none: return "none";
    case Recompute::selective: return "selective";
    case Recompute::full: return "full";
  }
  return "none";
}

void PassTime::add(const PassTime& other, double count) {
  total += count * other.total;
  overlapped += count * other.overlapped;
  again += count * other.again;
  host += count * other.host;
  host_bound += count * other.host_bound;
  for (std::size_t i = 0; i < computed.size(); ++i) computed[i] += count * other.computed[i];
  for (std::size_t i = 0; i < exposed.size(); ++i) exposed[i] += count * other.exposed[i];
}

BlockProgram lower(const Block& block, const LoweringOptions& options) {
  BlockProgram program;
  const bool is_layer = block.role == BlockRole::layer;
  LoweringOptions own = options;
  if (!is_layer) own.recompute = Recompute::none;
  count_memory(block, own.recompute, program);
  Lowering lowering(block, own);
  lowering.forward(false, false);
  program.forward = lowering.take();
  if (!options.trains) return program;
  if (own.recompute == Recompute::full) lowering.forward(true, false);
  lowering.backward();
  lowering.accumulate(program.dense_weights + program.expert_weights);
  program.backward = lowering.take();
  program.weight_gradients = lowering.take_weight_gradients();
  return program;
}

PassTime time_of(const std::vector<Action>& actions, const Framework& framework,
                 const SourceScale& scale) {
  PassTime time;
  TwoLanes lanes(framework.communication_slowdown.typical);
  double kernels = 0;
  Axis started = Axis::tensor;
  for (const Action& action : actions) {
    const auto source = static_cast<std::size_t>(action.source);
    const double ns = action.ns * scale[source];
    kernels += action.kernels;
    const double before = lanes.now();
    switch (action.type) {
      case ActionType::compute:
        lanes.compute(ns, action.slowed);
        time.computed[source] += lanes.now() - before;
        break;
      case ActionType::start:
        static_cast<void>(lanes.start(ns));
        started = action.axis;
        break;
      case ActionType::collective:
        static_cast<void>(lanes.start(ns));
        time.exposed[static_cast<std::size_t>(action.axis)] += lanes.wait_all();
        break;
      case ActionType::wait:
        time.exposed[static_cast<std::size_t>(started)] += lanes.wait_all();
        break;
    }
    if (action.is_again) time.again += lanes.now() - before;
  }
  time.exposed[static_cast<std::size_t>(started)] += lanes.wait_all();
  time.overlapped = lanes.overlapped();
  time.host = kernels * framework.host_kernel_ns.typical *
              scale[static_cast<std::size_t>(CostSource::host)];
  time.host_bound = std::max(0.0, time.host - lanes.now());
  time.total = lanes.now() + time.host_bound;
  return time;
}

}  // namespace foretrace
