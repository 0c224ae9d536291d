#include "models/jobs/workloads/layered.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "models/hardware/catalogue/read_figures.h"
#include "models/jobs/workloads/transformer.h"

namespace foretrace {
namespace {

constexpr double most_numbers = 1e12;
constexpr double most_layer_bytes =
    1e15;  // of one operator, in fp32: a thousand times the largest model

double optional_amount(ConfigFields& fields, std::string_view key, double standard) {
  return optional_within(fields, key, ParamType::number, most_numbers, standard);
}

LayerOperator read_operator(ConfigFields& fields) {
  struct Kind {
    std::string_view key;
    LayerKind kind;
  };
  constexpr std::array kinds = {Kind{"product", LayerKind::product}, Kind{"norm", LayerKind::norm},
                                Kind{"map", LayerKind::map}, Kind{"gather", LayerKind::gather}};
  LayerOperator op;
  const auto* const found = std::find_if(kinds.begin(), kinds.end(),
                                         [&](const Kind& kind) { return fields.has(kind.key); });
  if (found == kinds.end()) {
    fields.mistake("", "got no kind of operator, expected product, norm, map or gather");
    return op;
  }
  op.kind = found->kind;
  fields.text(found->key, op.name);
  if (op.kind == LayerKind::product) {
    op.rows = optional_amount(fields, "rows", 1);
    op.inputs = read_positive(fields, "inputs", ParamType::number, most_numbers);
    op.outputs = read_positive(fields, "outputs", ParamType::number, most_numbers);
    op.reads = optional_amount(fields, "reads", op.rows * op.inputs);
    op.weights = optional_amount(fields, "weights", op.inputs * op.outputs);
  } else if (op.kind == LayerKind::gather) {
    op.rows = optional_amount(fields, "rows", 1);
    op.outputs = read_positive(fields, "outputs", ParamType::number, most_numbers);
    op.weights = read_positive(fields, "table", ParamType::number, most_numbers) * op.outputs;
  } else {
    op.numbers = read_positive(fields, "numbers", ParamType::number, most_numbers);
    op.weights = optional_amount(fields, "weights", 0);
    if (op.kind == LayerKind::map) {
      op.forward = optional_amount(fields, "forward", op.forward);
      op.backward = optional_amount(fields, "backward", op.backward);
      fields.optional_boolean("keeps", op.keeps);
    }
  }
  if (op.kind != LayerKind::norm && op.kind != LayerKind::map && !(op.rows > 0)) {
    fields.mistake("rows", "got 0, expected more");
  }
  const double bytes =
      4 * std::max({op.weights, op.reads, op.numbers, op.rows * op.inputs, op.rows * op.outputs});
  if (bytes > most_layer_bytes) {
    fields.mistake(found->key, fmt::format("got {:.3g} bytes per sample in 4-byte numbers, "
                                           "expected at most {:g}",
                                           bytes, most_layer_bytes));
  }
  return op;
}

Operator mapped(const LayerOperator& one, const BatchShape& batch, const KernelSet& kernels) {
  const double e = batch.product_bytes;
  Operator op;
  op.shape = {1, batch.sequences, one.numbers, 0};
  if (one.kind == LayerKind::norm) {
    // Statistics, then the result; backward reads the gradient and the input twice and writes one.
    op.forward_bytes = 3 * e;
    op.backward_bytes = 5 * e;
    op.forward_kernels = op.backward_kernels = 2;
    op.kept_bytes = batch.sequences * one.numbers * e;
    return op;
  }
  // A chain that a compiler fuses reads what the kernel before it has at hand.
  const double saved = kernels.compiled ? 1 : 0;
  op.forward_bytes = std::max(1.0, one.forward - saved) * e;
  op.backward_bytes = std::max(0.0, one.backward - saved) * e;
  op.kept_bytes = one.keeps ? batch.sequences * one.numbers * e : 0;
  return op;
}

Operator built(const LayerOperator& one, const BatchShape& batch, const KernelSet& kernels) {
  const double e = batch.product_bytes;
  Operator op;
  switch (one.kind) {
    case LayerKind::product:
      op.type = OperatorType::product;
      op.shape = {1, batch.sequences * one.rows, one.outputs, one.inputs};
      op.input_reuse = std::max(1.0, one.rows * one.inputs / std::max(one.reads, 1.0));
      op.kept_bytes = batch.sequences * one.reads * e;
      op.backward_kernels = 2;
      break;
    case LayerKind::gather:
      op.type = OperatorType::gather;
      op.shape = {1, batch.sequences * one.rows, one.outputs, 0};
      op.forward_bytes = 2 * e;
      op.backward_bytes = 3 * e;
      break;
    case LayerKind::norm:
    case LayerKind::map: op = mapped(one, batch, kernels); break;
    case LayerKind::recorded:
      op.type = OperatorType::recorded;
      op.recorded = one.recorded;
      op.gradients = one.exchanges.gradients;
      op.kept_bytes = one.kept_numbers * e;
      break;
  }
  op.name = one.name;  // as long as the model
  op.weights = one.weights;
  if (batch.pass != Pass::training) op.kept_bytes = 0;
  return op;
}

// Numbers of a convolution with channels last instead of first, read and written: its own gradient
// is turned back, and the gradient of the weights needs the numbers once more.
Operator turned(std::string_view name, double numbers, const BatchShape& batch) {
  Operator op;
  op.name = name;
  op.shape = {1, batch.sequences, numbers, 0};
  op.forward_bytes = 2 * batch.product_bytes;
  op.backward_bytes = 4 * batch.product_bytes;
  op.backward_kernels = 2;
  return op;
}

/// Collectives stand at its boundaries: that of the input's gradient in front, as the backward pass
/// comes from behind.
void add_recorded(const LayerOperator& one, const Operator& op, std::vector<Operator>& operators) {
  const auto boundary = [&](OperatorType type, const Exchange& forward, const Exchange& backward) {
    Operator made;
    made.type = type;
    made.name = one.name;
    made.forward = forward;
    made.backward = backward;
    operators.push_back(made);
  };
  boundary(OperatorType::enter, {}, one.exchanges.input_gradient);
  operators.push_back(op);
  boundary(OperatorType::leave, one.exchanges.forward, {});
}

BlockRole role_of(std::size_t i, std::size_t count) {
  if (count > 2 && i == 0) return BlockRole::embedding;
  if (count > 2 && i + 1 == count) return BlockRole::head;
  return BlockRole::layer;
}

}  // namespace

std::uint32_t LayeredSpec::layers() const {
  std::uint32_t sum = 0;
  if (recorded.has_value()) {
    for (const BlockRun& run : order) sum += run.count;
    return sum;
  }
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (role_of(i, groups.size()) == BlockRole::layer) sum += groups[i].count;
  }
  return sum;
}

LayeredSpec read_layered(ConfigFields& fields) {
  LayeredSpec spec;
  const ConfigValue* blocks = fields.objects("blocks");
  for (std::size_t i = 0; blocks != nullptr && i < blocks->items.size(); ++i) {
    ConfigFields inner(blocks->items[i], fields.file(),
                       fmt::format("{}/{}", fields.pointer_of("blocks"), i));
    LayerGroup group;
    inner.text("name", group.name);
    group.count = optional_count(inner, "count", 1e5, 1);
    const ConfigValue* operators = inner.objects("operators");
    for (std::size_t k = 0; operators != nullptr && k < operators->items.size(); ++k) {
      ConfigFields op(operators->items[k], fields.file(),
                      fmt::format("{}/{}", inner.pointer_of("operators"), k));
      group.operators.push_back(read_operator(op));
      fields.take(op.finish());
    }
    fields.take(inner.finish());
    if (group.operators.empty()) {
      fields.mistake("blocks", fmt::format("block {} has no operators, expected at least one", i));
    }
    spec.groups.push_back(std::move(group));
  }
  if (spec.layers() == 0) fields.mistake("blocks", "got no layer, expected at least one block");
  return spec;
}

Workload build_layered(const LayeredSpec& spec, const BatchShape& batch, const KernelSet& kernels) {
  Workload workload;
  for (std::size_t i = 0; i < spec.groups.size(); ++i) {
    const LayerGroup& group = spec.groups[i];
    Block block;
    block.name = group.name;
    block.role = spec.recorded.has_value() ? BlockRole::layer : role_of(i, spec.groups.size());
    for (const LayerOperator& one : group.operators) {
      Operator op = built(one, batch, kernels);
      if (block.operators.empty()) {
        block.input_bytes =
            one.input_numbers > 0 ? one.input_numbers * batch.product_bytes : op.kept_bytes;
      }
      if (one.kind == LayerKind::recorded) {
        add_recorded(one, op, block.operators);
      } else if (one.kind == LayerKind::product && one.rows > 1 && kernels.channels_first) {
        block.operators.push_back(turned("channels last", one.reads, batch));
        block.operators.push_back(op);
        block.operators.push_back(turned("channels first", one.rows * one.outputs, batch));
      } else {
        block.operators.push_back(op);
      }
    }
    if (!spec.recorded.has_value()) {
      workload.order.push_back({static_cast<std::uint32_t>(workload.blocks.size()), group.count});
    }
    workload.blocks.push_back(std::move(block));
  }
  if (spec.recorded.has_value()) workload.order = spec.order;
  return workload;
}

}  // namespace foretrace
