#include "models/jobs/times/kernel_times.h"

#include <algorithm>
#include <array>

#include "models/hardware/collectives/collective_costs.h"
#include "models/hardware/costs/rates.h"
#include "models/hardware/kernels/kernel_class.h"
#include "models/jobs/times/exec_work.h"

namespace foretrace {
namespace {

bool has_32_bits(Precision precision) {
  return precision == Precision::fp32 || precision == Precision::tf32;
}

// FlashAttention has no 32-bit kernels: memory-efficient attention takes their place, which is as
// fast as the first version.
AttentionKernel attention_kernel(AttentionKernel kernel, Precision precision) {
  return has_32_bits(precision) ? std::min(kernel, AttentionKernel::flash1) : kernel;
}

Ranged spread_of(const Spread& spread) { return {1, spread.low, spread.high}; }

// The beginning and the end of a tile take their time however fast the units are: in units of k
// they grow with the rate of a multiprocessor. On an A100 (2.4 TFLOP/s each) they are what its
// table gives; products of an H100 training run (modded-nanogpt, k = 768 against k = 3072) ask for
// 60 to 100.
OperatorModel product_model(const Accelerator& accelerator, OperatorKind kind, Precision precision,
                            double share) {
  constexpr double a100_flops_per_ns = 2410;
  OperatorModel model = operator_model(accelerator, kind, precision);
  if (model.fitted || !uses_matrix_units(precision)) return model;
  model.rates.flops_per_ns *= share;
  const double each =
      model.rates.flops_per_ns * model.fit.rate_share / std::max(1.0, model.rates.multiprocessors);
  model.fit.tile_overhead_k *= std::max(1.0, each / a100_flops_per_ns);
  return model;
}

bool is_line(const ExecModel& model) { return model.machine().provenance == Provenance::table; }

KernelTime recorded_time(double ns) { return {ns, CostSource::recorded, Provenance::table}; }

double elements(const Operator& op) { return op.shape.batch * op.shape.m * op.shape.n; }

}  // namespace

std::string_view to_string(CostSource source) {
  constexpr std::array<std::string_view, cost_source_count> names = {
      "matrix products", "attention", "operations number by number",
      "memory",          "start-up",  "node links",
      "network",         "host",      "recorded layers",
      "framework"};
  return names[static_cast<std::size_t>(source)];
}

KernelTimes::KernelTimes(const Cluster& cluster, const Framework& framework,
                         const Precisions& precisions)
    : cluster_(&cluster) {
  const Accelerator& accelerator = cluster.accelerator;
  const Precision precision = precisions.activations;
  const bool autocasts = framework.autocasts && bytes_per_number(precision) == 2;
  const Precision between = autocasts ? Precision::fp32 : precision;  // products
  number_bytes_ = std::max(1, bytes_per_number(between));
  product_bytes_ = std::max(1, bytes_per_number(precision));
  // Read in 32 bit, written in 16, or the other way.
  weight_cast_bytes_ = autocasts ? 6 : 0;
  device_ = {accelerator.memory_bandwidth * 1e-9, accelerator.vector_fp32_flops * 1e-9,
             accelerator.flops(precision) / 2 * 1e-9};
  bytes_per_ns_ = memory_rate(accelerator, KernelClass::elementwise) * 1e-9;
  norm_bytes_per_ns_ = memory_rate(accelerator, KernelClass::normalization) * 1e-9;
  gather_bytes_per_ns_ = memory_rate(accelerator, KernelClass::gather) * 1e-9;
  start_ns_ = shortest_kernel_ns(accelerator, KernelClass::elementwise);
  const double products = sustained_rate(accelerator, precision, KernelClass::gemm);
  if (products > 0) {
    convolution_share_ =
        sustained_rate(accelerator, precision, KernelClass::convolution) / products;
  }
  attention_flops_per_ns_ = attention_peak(accelerator, precision) * 1e-9;
  attention_rate_ =
      attention_rate(attention_kernel(framework.kernels.attention, precision), cluster.generation);
  const double share = framework.product_share[static_cast<std::size_t>(cluster.generation)];
  gemm_ = product_model(accelerator, OperatorKind::gemm, precision, share);
  batched_ = product_model(accelerator, OperatorKind::batched_gemm, precision, share);
  low_ = precisions.layers_in_8_bit;
  if (low_) {
    low_gemm_ = product_model(accelerator, OperatorKind::gemm, Precision::fp8, share);
    low_batched_ = product_model(accelerator, OperatorKind::batched_gemm, Precision::fp8, share);
    cast_bytes_ = framework.cast_bytes;
  }
  constexpr std::array kinds = {OperatorKind::softmax, OperatorKind::layer_norm,
                                OperatorKind::rms_norm};
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    rows_[i] = operator_model(accelerator, kinds[i], between);
  }
}

bool KernelTimes::times_on_machine(const Operator& op) const {
  return exec_model() != nullptr && op.type != OperatorType::recorded;
}

KernelTime KernelTimes::on_machine(const OperatorWork& work) const {
  const ExecTime time = exec_model()->time(device_, workload_, work);
  const bool computes = time.compute > time.loaded() + time.exchange;
  const CostSource busy = work.kind == WorkKind::attention ? CostSource::attention
                          : work.kind == WorkKind::vector  ? CostSource::vector
                                                           : CostSource::product;
  return {time.total(), computes ? busy : CostSource::memory, exec_model()->machine().provenance};
}

const OperatorModel& KernelTimes::rows_model(OperatorKind kind) const {
  return rows_[kind == OperatorKind::softmax ? 0 : kind == OperatorKind::layer_norm ? 1 : 2];
}

// The arithmetic of the implicit product, at the share of its rate that convolutions reach; bytes
// of what is really there: the input, the filters, the output.
double KernelTimes::convolution_ns(const Operator& op, const OperatorModel& model,
                                   const GemmShape& shape) const {
  OperatorModel arithmetic = model;
  arithmetic.rates.bytes_per_ns = 1e12;
  // Without matrix units 3 x 3 filters take 16 multiplications for 36 (Lavin and Gray, CVPR 2016:
  // F(2x2, 3x3), as cuDNN has it).
  constexpr double windows_of_3_by_3 = 8.5;
  constexpr double fewer_multiplications = 36.0 / 16;
  const bool winograd =
      !uses_matrix_units(model.fit.precision) && op.input_reuse > windows_of_3_by_3;
  const double compute =
      model_ns(arithmetic, shape) / convolution_share_ / (winograd ? fewer_multiplications : 1);
  const GemmShape& s = op.shape;
  const double bytes =
      product_bytes_ * s.batch * (s.m * s.k / op.input_reuse + s.k * s.n + s.m * s.n);
  return std::max(compute, start_ns_ + bytes / bytes_per_ns_);
}

KernelTime KernelTimes::product(const Operator& op, const GemmShape& shape, double cast) const {
  const bool batched = shape.batch > 1;
  const bool low = low_ && op.type == OperatorType::product && !op.keeps_precision;
  const OperatorModel& model =
      low ? (batched ? low_batched_ : low_gemm_) : (batched ? batched_ : gemm_);
  KernelTime time;
  time.ns = op.input_reuse > 1 ? convolution_ns(op, model, shape) : model_ns(model, shape);
  if (low) time.ns += cast * cast_bytes_ / bytes_per_ns_;
  time.source = CostSource::product;
  time.provenance = model.fitted ? Provenance::table : Provenance::roofline;
  return time;
}

double KernelTimes::bytes_in(const Operator& op) const {
  const bool is_product = op.type == OperatorType::product ||
                          op.type == OperatorType::batch_product ||
                          op.type == OperatorType::attention;
  return is_product ? product_bytes_ : number_bytes_;
}

// Backward what was cast forward is still there.
double KernelTimes::weight_cast_ns(const Operator& op) const {
  const bool is_product = op.type == OperatorType::product;
  return is_product ? op.weights * weight_cast_bytes_ / bytes_per_ns_ : 0;
}

KernelTime KernelTimes::attention(const Operator& op, bool backward) const {
  AttentionCost cost{.queries = op.attention.queries,
                     .key_bytes = product_bytes_,
                     .kernels = backward ? op.backward_kernels : op.forward_kernels};
  if (backward) {
    cost.share = attention_rate_.backward.typical;
    cost.flops_factor = 2.5;
    cost.bytes_factor = 2;
  } else {
    cost.share = attention_rate_.forward.typical;
  }
  return attention(op, cost);
}

KernelTime KernelTimes::attention(const Operator& op, const AttentionCost& cost) const {
  const AttentionPart& part = op.attention;
  const double sizes = part.head_size + part.value_size;
  const double pairs = op.shape.batch * part.heads * cost.queries * part.keys_seen();
  const double compute =
      2 * pairs * sizes * cost.flops_factor / (attention_flops_per_ns_ * cost.share);
  // Queries, keys, values and the output go through memory once; backward their gradients too.
  const double keys = op.shape.batch * part.keys * part.key_heads * sizes * cost.key_bytes;
  const double queries = op.shape.batch * part.queries * part.heads * sizes * product_bytes_;
  const double memory = (keys + queries) * cost.bytes_factor / bytes_per_ns_;
  return {start_ns_ * cost.kernels + std::max(compute, memory),
          compute >= memory ? CostSource::attention : CostSource::memory, Provenance::assumed};
}

KernelTime KernelTimes::move(double bytes, std::uint32_t kernels) const {
  if (!(bytes > 0)) return {};
  if (exec_model() != nullptr) return on_machine(moving(bytes, kernels, number_bytes_));
  return {start_ns_ * kernels + bytes / bytes_per_ns_, CostSource::memory, Provenance::roofline};
}

KernelTime KernelTimes::in_pieces(const KernelTime& whole, const Operator& op, double pieces,
                                  bool backward) const {
  if (op.type != OperatorType::product || !(pieces > 1)) return whole;
  Operator piece = op;
  piece.shape.m = op.shape.m / pieces;
  KernelTime time = backward ? input_gradient(piece) : forward(piece);
  time.ns *= pieces;
  return time;
}

KernelTime KernelTimes::forward(const Operator& op) const {
  if (times_on_machine(op)) return on_machine(work_of(op, WorkPass::forward, bytes_in(op)));
  switch (op.type) {
    case OperatorType::product:
    case OperatorType::batch_product: {
      KernelTime time = product(op, op.shape, op.shape.batch * op.shape.m * op.shape.k);
      time.ns += weight_cast_ns(op);
      return time;
    }
    case OperatorType::attention: return attention(op, false);
    case OperatorType::rows: {
      const OperatorModel& model = rows_model(op.rows_kind);
      return {model_ns(model, op.shape), CostSource::memory,
              model.fitted ? Provenance::table : Provenance::roofline};
    }
    case OperatorType::elementwise:
      return move(elements(op) * op.forward_bytes, op.forward_kernels);
    case OperatorType::gather:
      return {start_ns_ + elements(op) * op.forward_bytes / gather_bytes_per_ns_,
              CostSource::memory, Provenance::roofline};
    case OperatorType::recorded: return recorded_time(op.recorded.forward_ns);
    case OperatorType::enter:
    case OperatorType::leave:
    case OperatorType::dispatch:
    case OperatorType::combine: return {};
  }
  return {};
}

KernelTime KernelTimes::input_gradient(const Operator& op) const {
  if (times_on_machine(op)) {
    return on_machine(work_of(op, WorkPass::input_gradient, bytes_in(op)));
  }
  const GemmShape& s = op.shape;
  switch (op.type) {
    case OperatorType::product: return product(op, {s.batch, s.m, s.k, s.n}, s.batch * s.m * s.n);
    case OperatorType::batch_product: {
      // Both operands have gradients.
      KernelTime time = product(op, {s.batch, s.m, s.k, s.n}, 0);
      time.ns += product(op, {s.batch, s.k, s.n, s.m}, 0).ns;
      return time;
    }
    case OperatorType::attention: return attention(op, true);
    case OperatorType::rows: {
      const double rate =
          op.rows_kind == OperatorKind::softmax ? bytes_per_ns_ : norm_bytes_per_ns_;
      return {start_ns_ * op.backward_kernels + elements(op) * op.backward_bytes / rate,
              CostSource::memory, Provenance::roofline};
    }
    case OperatorType::elementwise:
      return move(elements(op) * op.backward_bytes, op.backward_kernels);
    case OperatorType::gather:
      return {start_ns_ + elements(op) * op.backward_bytes / gather_bytes_per_ns_,
              CostSource::memory, Provenance::roofline};
    case OperatorType::recorded: return recorded_time(op.recorded.input_gradient_ns);
    case OperatorType::enter:
    case OperatorType::leave:
    case OperatorType::dispatch:
    case OperatorType::combine: return {};
  }
  return {};
}

KernelTime KernelTimes::weight_gradient(const Operator& op) const {
  if (op.type == OperatorType::recorded) return recorded_time(op.recorded.weight_gradient_ns);
  if (op.type != OperatorType::product) return {};
  if (times_on_machine(op)) {
    return on_machine(work_of(op, WorkPass::weight_gradient, product_bytes_));
  }
  const GemmShape& s = op.shape;
  KernelTime time = product(op, {s.batch, s.k, s.n, s.m}, 0);
  time.ns += weight_cast_ns(op);
  return time;
}

double KernelTimes::attention_intensity() const {
  if (exec_model() != nullptr) return 1;
  const double products = gemm_.rates.flops_per_ns * gemm_.fit.rate_share;
  const double attention = attention_flops_per_ns_ * attention_rate_.backward.typical;
  return products > 0 ? std::min(1.0, attention / products) : 1;
}

Ranged KernelTimes::spread(CostSource source) const {
  if (exec_model() != nullptr && source != CostSource::local && source != CostSource::network) {
    // Formulas of a machine claim no range. Lines through two models do: measured over line is 0.86
    // to 1.09 on the keyword spotting and anomaly detection rows of MicroNets (MLSys 2021, Table 4)
    // that the lines of configs/accelerators were not drawn through.
    return source == CostSource::product && is_line(*exec_model()) ? Ranged{1, 0.86, 1.09}
                                                                   : Ranged{1, 1, 1};
  }
  switch (source) {
    case CostSource::product:
      return spread_of(class_spread(KernelClass::gemm, cluster_->accelerator, gemm_.fit.precision));
    case CostSource::attention: {
      const Ranged& f = attention_rate_.forward;
      return {1, f.typical / f.high, f.typical / f.low};
    }
    case CostSource::memory: return spread_of(class_spread(KernelClass::elementwise));
    case CostSource::local: return collective_spread(*cluster_, 1);
    case CostSource::network: return collective_spread(*cluster_, 2);
    case CostSource::vector:
    case CostSource::start:
    case CostSource::host:
    case CostSource::recorded:
    case CostSource::framework: return {1, 1, 1};
  }
  return {1, 1, 1};
}

// Of a line the whole inference was measured, with its program and not its parts.
bool KernelTimes::err_together(CostSource source, CostSource other) const {
  if (source == other) return true;
  return exec_model() != nullptr && is_line(*exec_model()) && source == CostSource::product &&
         other != CostSource::local && other != CostSource::network &&
         other != CostSource::recorded;
}

}  // namespace foretrace
