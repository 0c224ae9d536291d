// Forward in order, backward in reverse, collectives where they belong.
#include "models/jobs/program/lowering.h"

#include <algorithm>
#include <utility>

#include "models/jobs/times/exec_work.h"
#include "models/jobs/times/tensor_travel.h"

namespace foretrace {
namespace {

/// Attention, what leaves a tensor group, and the first, third, ... product keep their results.
bool is_saved(const Operator& op, std::uint32_t& products) {
  if (op.type == OperatorType::product) return ++products % 2 == 1;
  return op.type == OperatorType::attention || op.type == OperatorType::leave;
}

/// The last operator that keeps its input: its own result is not needed again.
std::size_t last_needed(const std::vector<Operator>& operators) {
  for (std::size_t i = operators.size(); i-- > 0;) {
    if (operators[i].kept_bytes > 0) return i;
  }
  return operators.size();
}

/// Which operators of a block run forward.
enum class Part : std::uint8_t { all, core, unsaved };

/// What is computed backward in two parts, with a collective of the input's gradient between them.
bool has_weight_gradient(OperatorType type) {
  return type == OperatorType::product || type == OperatorType::recorded;
}

class Lowering {
 public:
  Lowering(const Block& block, const LoweringOptions& options)
      : operators_(block.operators), options_(options) {}

  void forward(bool again, Part part);
  void backward();
  void accumulate(double weights);
  [[nodiscard]] std::vector<Action> take() { return std::exchange(actions_, {}); }
  [[nodiscard]] std::vector<Action> take_weight_gradients() {
    return std::exchange(weight_gradients_, {});
  }

 private:
  void compute(const Operator& op, const KernelTime& time, std::uint32_t kernels);
  void exchange(const Exchange& exchange, ActionType type, std::string_view name);
  [[nodiscard]] static bool is_of_sequence(const Exchange& exchange);
  [[nodiscard]] double sent_bytes(const Exchange& exchange) const;
  void move_pieces(double bytes, std::string_view name);
  void weight_gradient(const Operator& op);
  void wait() { actions_.push_back(made(ActionType::wait, {})); }
  void product_backward(std::size_t i);
  void product_in_pieces(const Operator& op, const Operator* entrance, const Operator* exit);
  void beside_product(const Operator& op, const Exchange& exchange, const KernelTime& time);
  void around(const Operator& op, const Exchange& exchange, const KernelTime& time,
              std::uint32_t kernels);
  [[nodiscard]] KernelTime cut(const Operator& op, bool backward) const;
  [[nodiscard]] Action made(ActionType type, std::string_view name) const;
  [[nodiscard]] const Operator* entrance_of(std::size_t i) const;
  [[nodiscard]] const Operator* exit_of(std::size_t i) const;

  const std::vector<Operator>& operators_;
  const LoweringOptions& options_;
  std::vector<Action> actions_;
  std::vector<Action> weight_gradients_;
  bool again_ = false;
  KernelPart part_ = KernelPart::forward;
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
  action.part = part_;
  if (part_ != KernelPart::accumulation) {
    action.operator_index = static_cast<std::uint16_t>(&op - operators_.data());
  }
  action.ns = time.ns;
  const Framework& framework = options_.framework;
  action.slowed =
      static_cast<float>(time.source == CostSource::memory ? framework.memory_slowdown.typical
                                                           : framework.product_slowdown.typical);
  actions_.push_back(action);
}

void Lowering::exchange(const Exchange& exchange, ActionType type, std::string_view name) {
  if (exchange.kind == CollectiveKind::none) return;
  const double bytes = sent_bytes(exchange);
  const CollectiveTime time = options_.collective(exchange.axis, exchange.kind, bytes);
  if (!(time.ns > 0)) return;
  Action action = made(type, name);
  action.source = options_.leaves_node(exchange.axis) ? CostSource::network : CostSource::local;
  action.provenance = time.provenance;
  action.axis = exchange.axis;
  action.collective = exchange.kind;
  action.kernels = 1;
  action.ns = time.ns + exchange.delay_ns;
  action.bytes = bytes;
  actions_.push_back(action);
  if (type == ActionType::collective && is_of_sequence(exchange)) {
    move_pieces(2 * bytes, "pieces in order");
  }
}

bool Lowering::is_of_sequence(const Exchange& exchange) {
  return exchange.axis == Axis::tensor && (exchange.kind == CollectiveKind::all_gather ||
                                           exchange.kind == CollectiveKind::reduce_scatter);
}

// Inputs of 8-bit products, and gradients of their results, may be cast before they travel.
double Lowering::sent_bytes(const Exchange& exchange) const {
  const bool is_cast = options_.gathers_8_bit && exchange.axis == Axis::tensor &&
                       exchange.kind == CollectiveKind::all_gather;
  return is_cast ? exchange.bytes / options_.kernels.number_bytes() : exchange.bytes;
}

// A collective joins and cuts along the first dimension. Where positions are another one, all that
// it gave or takes is read and written once more.
void Lowering::move_pieces(double bytes, std::string_view name) {
  if (!options_.framework.copies_pieces) return;
  const KernelTime time = options_.kernels.move(bytes, 1);
  Action action = made(ActionType::compute, name);
  action.source = time.source;
  action.provenance = time.provenance;
  action.kernels = 1;
  action.part = part_;
  action.ns = time.ns;
  action.slowed = static_cast<float>(options_.framework.memory_slowdown.typical);
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

void Lowering::forward(bool again, Part part) {
  again_ = again;
  const KernelPart before = std::exchange(part_, KernelPart::forward);
  std::uint32_t products = 0;
  const std::size_t end = again && options_.framework.recompute_stops_early && part != Part::core
                              ? last_needed(operators_)
                              : operators_.size();
  for (std::size_t i = 0; i < end; ++i) {
    const Operator& op = operators_[i];
    if (part == Part::core && !op.is_core) continue;
    if (part == Part::unsaved && is_saved(op, products)) continue;
    // A collective in pieces belongs to the product behind an entrance or before an exit.
    if (op.forward.overlap == Overlap::pieces) continue;
    const Operator* entrance = entrance_of(i);
    const Operator* exit = exit_of(i);
    if (entrance != nullptr && entrance->forward.overlap == Overlap::pieces) {
      beside_product(op, entrance->forward, cut(op, false));
    } else if (exit != nullptr && exit->forward.overlap == Overlap::pieces) {
      beside_product(op, exit->forward, cut(op, false));
    } else {
      around(op, op.forward, options_.kernels.forward(op), op.forward_kernels);
    }
  }
  again_ = false;
  part_ = before;
}

// Each piece of a collective has its kernel: smaller ones fill the device less well. The other
// collectives of backward run beside whole products.
KernelTime Lowering::cut(const Operator& op, bool backward) const {
  const KernelTimes& kernels = options_.kernels;
  const KernelTime whole = backward ? kernels.input_gradient(op) : kernels.forward(op);
  return kernels.in_pieces(whole, op, options_.tensor_ranks, backward);
}

// Pieces run beside the product; the first one to come, or the last one to go, has nothing beside.
void Lowering::beside_product(const Operator& op, const Exchange& exchange_,
                              const KernelTime& time) {
  const double ranks = std::max(1.0, options_.tensor_ranks);
  const std::size_t first = actions_.size();
  exchange(exchange_, ActionType::start, op.name);
  if (actions_.size() == first) return compute(op, time, 1);
  Action piece = actions_.back();
  actions_.back().ns *= (ranks - 1) / ranks;
  piece.type = ActionType::collective;
  piece.ns /= ranks;
  piece.bytes /= ranks;
  piece.kernels = 0;
  compute(op, time, static_cast<std::uint32_t>(ranks));
  wait();
  actions_.push_back(piece);
  // Those that other ranks made lie side by side until one kernel adds them up.
  if (exchange_.kind == CollectiveKind::reduce_scatter) {
    move_pieces(sent_bytes(exchange_) * (1 + 1 / ranks), "pieces added up");
  }
}

const Operator* Lowering::entrance_of(std::size_t i) const {
  if (i == 0 || operators_[i - 1].type != OperatorType::enter) return nullptr;
  return &operators_[i - 1];
}

const Operator* Lowering::exit_of(std::size_t i) const {
  if (i + 1 >= operators_.size() || operators_[i].type != OperatorType::product) return nullptr;
  return operators_[i + 1].type == OperatorType::leave ? &operators_[i + 1] : nullptr;
}

void Lowering::product_in_pieces(const Operator& op, const Operator* entrance,
                                 const Operator* exit) {
  const KernelTime input = options_.kernels.input_gradient(op);
  if (entrance != nullptr && entrance->backward.overlap == Overlap::pieces) {
    beside_product(op, entrance->again, input);
    part_ = KernelPart::weight_gradient;
    beside_product(op, entrance->backward, options_.kernels.weight_gradient(op));
    part_ = KernelPart::input_gradient;
  } else {
    beside_product(op, exit->backward, cut(op, true));
    weight_gradient(op);
  }
}

void Lowering::product_backward(std::size_t i) {
  const Operator& op = operators_[i];
  const Operator* entrance = entrance_of(i);
  const Operator* exit = exit_of(i);
  const auto in_pieces = [](const Operator* boundary) {
    return boundary != nullptr && boundary->backward.overlap == Overlap::pieces;
  };
  if (!options_.splits_backward && (in_pieces(entrance) || in_pieces(exit))) {
    return product_in_pieces(op, entrance, exit);
  }
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
  weight_gradient(op);
  if (options_.splits_backward) std::swap(actions_, weight_gradients_);
  if (async && entrance->backward.kind != CollectiveKind::none) wait();
}

void Lowering::weight_gradient(const Operator& op) {
  part_ = KernelPart::weight_gradient;
  compute(op, options_.kernels.weight_gradient(op), 1);
  part_ = KernelPart::input_gradient;
}

void Lowering::backward() {
  part_ = KernelPart::input_gradient;
  bool core_is_back = options_.recompute != Recompute::selective;
  for (std::size_t i = operators_.size(); i-- > 0;) {
    const Operator& op = operators_[i];
    if (op.is_core && !core_is_back) {
      forward(true, Part::core);
      core_is_back = true;
    }
    switch (op.type) {
      case OperatorType::product:
      case OperatorType::recorded: product_backward(i); break;
      case OperatorType::enter: {
        // Without a product behind it nobody has taken care of it.
        const bool taken = i + 1 < operators_.size() && has_weight_gradient(operators_[i + 1].type);
        if (!taken) exchange(op.backward, ActionType::collective, op.name);
        break;
      }
      case OperatorType::leave:
        // In pieces: beside the product before it.
        if (op.backward.overlap == Overlap::pieces && !options_.splits_backward) break;
        [[fallthrough]];
      default: around(op, op.backward, options_.kernels.input_gradient(op), op.backward_kernels);
    }
  }
}

void Lowering::accumulate(double weights) {
  part_ = KernelPart::accumulation;
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

/// The input of the block and the results that are kept.
double saved_bytes(const Block& block, double product_bytes) {
  double bytes = block.input_bytes;
  std::uint32_t products = 0;
  for (const Operator& op : block.operators) {
    if (!is_saved(op, products)) continue;
    const AttentionPart& part = op.attention;
    bytes += product_bytes * op.shape.batch *
             (op.type == OperatorType::attention ? part.queries * part.heads * part.value_size
                                                 : op.shape.m * op.shape.n);
  }
  return bytes;
}

/// What operators from a product on pass to each other: its input, also of those that follow with
/// the same input, their results, and what the next product reads. Where pieces of a collective are
/// put in order, the input is there twice.
void count_passing(const std::vector<Operator>& operators, const LoweringOptions& options,
                   RankProgram::Block& lowered) {
  const double number = options.kernels.product_bytes();
  const auto is_product = [&](std::size_t at) {
    return at < operators.size() && operators[at].type == OperatorType::product;
  };
  for (std::size_t i = 0; i < operators.size(); ++i) {
    if (!is_product(i)) continue;
    const GemmShape& first = operators[i].shape;
    const double input = number * first.batch * first.m * first.k;
    const bool is_copied = options.framework.copies_pieces && i > 0 &&
                           operators[i - 1].type == OperatorType::enter &&
                           operators[i - 1].forward.kind == CollectiveKind::all_gather;
    double results = number * first.batch * first.m * first.n;
    std::size_t behind = i + 1;
    for (; is_product(behind) && operators[behind].kept_bytes == 0; ++behind) {
      const GemmShape& same = operators[behind].shape;
      results += number * same.batch * same.m * same.n;
    }
    const double inputs = input * (is_copied ? 2 : 1);
    const double sums = behind > i + 1 ? input : 0;  // of the inputs' gradients
    std::size_t next = behind;
    while (next < operators.size() && !is_product(next)) ++next;
    const double read = next < operators.size()
                            ? number * operators[next].shape.batch * operators[next].shape.m *
                                  operators[next].shape.k
                            : 0;
    lowered.passing_bytes = std::max(lowered.passing_bytes, inputs + results + read);
    lowered.gradient_bytes = std::max(lowered.gradient_bytes, inputs + results + sums);
    i = behind - 1;
  }
}

void count_memory(const Block& block, const LoweringOptions& options, RankProgram::Block& lowered) {
  const Recompute recompute = options.recompute;
  double core = 0;
  for (const Operator& op : block.operators) {
    (op.is_expert ? lowered.expert_weights : lowered.dense_weights) += op.weights;
    // Each product has a matrix and mostly a bias, each norm a scale and a bias; tables are alone.
    if (op.weights > 0) lowered.tensors += op.type == OperatorType::gather ? 1 : 2;
    if (options.framework.travel.by_tensor && !op.is_expert) {
      const std::vector<double> tensors = tensors_of(op);
      lowered.traveling.insert(lowered.traveling.end(), tensors.begin(), tensors.end());
    }
    lowered.kept_bytes += op.kept_bytes;
    core += op.kept_core_bytes;
  }
  lowered.input_bytes = block.input_bytes;
  for (const Operator& op : block.operators) {
    lowered.window = std::max(lowered.window, op.attention.window);
  }
  if (!options.trains && options.kernels.exec_model() != nullptr) {
    for (const Operator& op : block.operators) {
      lowered.working_bytes =
          std::max(lowered.working_bytes, live_bytes(op, options.kernels.number_bytes()));
    }
    return;
  }
  const double all = lowered.kept_bytes;
  if (options.trains) count_passing(block.operators, options, lowered);
  // Head and embedding are never recomputed.
  if (block.role != BlockRole::layer) return;
  if (recompute == Recompute::selective) lowered.kept_bytes -= core;
  if (recompute == Recompute::full) lowered.kept_bytes = block.input_bytes;
  if (recompute == Recompute::operators) {
    lowered.kept_bytes = std::min(all, saved_bytes(block, options.kernels.product_bytes()));
  }
  lowered.working_bytes = all - lowered.kept_bytes;
}

// Tokens of one micro-batch travel while the layer of another is computed: in the long run each
// pass of a layer has its exchanges beside all of its kernels.
void run_beside(std::vector<Action>& actions) {
  const auto travels = [](const Action& action) {
    return action.type == ActionType::collective && action.axis == Axis::expert;
  };
  const auto kernels = std::stable_partition(actions.begin(), actions.end(), travels);
  if (kernels == actions.begin()) return;
  for (auto at = actions.begin(); at != kernels; ++at) at->type = ActionType::start;
  Action wait;
  wait.type = ActionType::wait;
  actions.push_back(wait);
}

RankProgram::BlockPass behind(std::vector<Action>& actions, const std::vector<Action>& added) {
  const auto first = static_cast<std::uint32_t>(actions.size());
  actions.insert(actions.end(), added.begin(), added.end());
  return {first, static_cast<std::uint32_t>(added.size()), {}};
}

}  // namespace

RankProgram::Block lower(const Block& block, const LoweringOptions& options,
                         std::vector<Action>& actions) {
  RankProgram::Block lowered;
  lowered.role = block.role;
  lowered.name = block.name;
  LoweringOptions own = options;
  if (block.role != BlockRole::layer) {
    own.recompute = Recompute::none;
    own.gathers_8_bit = false;
  }
  count_memory(block, own, lowered);
  Lowering lowering(block, own);
  lowering.forward(false, Part::all);
  std::vector<Action> pass = lowering.take();
  if (options.trains && options.framework.overlaps_experts) run_beside(pass);
  lowered.forward = behind(actions, pass);
  if (!options.trains) return lowered;
  if (own.recompute == Recompute::full) lowering.forward(true, Part::all);
  if (own.recompute == Recompute::operators) lowering.forward(true, Part::unsaved);
  lowering.backward();
  lowering.accumulate(lowered.dense_weights + lowered.expert_weights);
  pass = lowering.take();
  if (options.framework.overlaps_experts) run_beside(pass);
  lowered.backward = behind(actions, pass);
  lowered.weights = behind(actions, lowering.take_weight_gradients());
  for (std::size_t i = block.operators.size(); i-- > 0;) {
    const Exchange& gradients = block.operators[i].gradients;
    if (gradients.kind != CollectiveKind::none) lowered.gradients.push_back(gradients);
  }
  return lowered;
}

}  // namespace foretrace
