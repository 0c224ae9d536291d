// Times of the kernels of an operator on one accelerator.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string_view>

#include "models/hardware/costs/operator_model.h"
#include "models/hardware/execution/exec_model.h"
#include "models/hardware/networks/cluster.h"
#include "models/jobs/times/attention_rates.h"
#include "models/jobs/times/framework.h"
#include "models/jobs/times/precisions.h"
#include "models/jobs/workloads/operator.h"
#include "sim/graph/task.h"

namespace foretrace {

/// Where a duration is from, and so what may be wrong with it.
enum class CostSource : std::uint8_t {
  product,
  attention,
  vector,  ///< arithmetic number by number, where it takes longer than what it reads and writes
  memory,
  start,  ///< of a machine, once per pass
  local,
  network,
  host,
  recorded,
  framework  ///< what no file says of it: no duration, but part of every range
};
inline constexpr std::size_t cost_source_count = 10;
[[nodiscard]] std::string_view to_string(CostSource source);

struct KernelTime {
  double ns = 0;
  CostSource source = CostSource::memory;
  Provenance provenance = Provenance::roofline;
};

class KernelTimes {
 public:
  KernelTimes(const Cluster& cluster, const Framework& framework, const Precisions& precisions);

  [[nodiscard]] KernelTime forward(const Operator& op) const;
  /// A product with this many bytes per stored weight, which are made whole as they are read.
  [[nodiscard]] KernelTime stored_product(const Operator& op, double weight_bytes) const;
  /// Attention to keys and values of a cache that have so many bytes each there. A tile of it has
  /// `least_queries` at least, which are computed with, though not read.
  [[nodiscard]] KernelTime cached_attention(const Operator& op, double key_bytes,
                                            double least_queries) const;
  /// Gradient of the input; all of backward where the operator has no weights.
  [[nodiscard]] KernelTime input_gradient(const Operator& op) const;
  /// Gradient of the weights of a product.
  [[nodiscard]] KernelTime weight_gradient(const Operator& op) const;
  /// A product that is cut along its tokens into this many kernels.
  [[nodiscard]] KernelTime in_pieces(const KernelTime& whole, const Operator& op, double pieces,
                                     bool backward) const;
  /// Moving bytes through memory.
  [[nodiscard]] KernelTime move(double bytes, std::uint32_t kernels) const;
  /// How far a source may be off: factors of its times.
  [[nodiscard]] Ranged spread(CostSource source) const;
  /// Whether a source is off by what another one is: it has no spread of its own.
  [[nodiscard]] bool err_together(CostSource source, CostSource other) const;
  /// Rate of fused attention against that of large products: what it draws of the power.
  [[nodiscard]] double attention_intensity() const;
  [[nodiscard]] double number_bytes() const { return number_bytes_; }
  [[nodiscard]] double product_bytes() const { return product_bytes_; }
  /// How the accelerator runs operators if it is no GPU; else null.
  [[nodiscard]] const ExecModel* exec_model() const {
    return cluster_->accelerator.exec_model.get();
  }
  /// Weights of the model on this device, of which some machines keep a part.
  void set_weights(double parameters) { workload_.weight_bytes = parameters * number_bytes_; }

 private:
  [[nodiscard]] bool times_on_machine(const Operator& op) const;
  [[nodiscard]] KernelTime on_machine(const OperatorWork& work) const;
  [[nodiscard]] KernelTime product(const Operator& op, const GemmShape& shape, double cast) const;
  [[nodiscard]] double weight_cast_ns(const Operator& op) const;
  [[nodiscard]] double bytes_in(const Operator& op) const;
  [[nodiscard]] double convolution_ns(const Operator& op, const OperatorModel& model,
                                      const GemmShape& shape) const;
  struct AttentionCost {
    double queries = 1;  ///< that are computed with
    double key_bytes = 2;
    std::uint32_t kernels = 1;
    double share = 1;  ///< of the peak
    double flops_factor = 1;
    double bytes_factor = 1;
  };
  [[nodiscard]] KernelTime attention(const Operator& op, bool backward) const;
  [[nodiscard]] KernelTime attention(const Operator& op, const AttentionCost& cost) const;
  [[nodiscard]] const OperatorModel& rows_model(OperatorKind kind) const;

  const Cluster* cluster_;
  ExecDevice device_;
  ExecWorkload workload_;
  double number_bytes_ = 2;
  double product_bytes_ = 2;  ///< of numbers that products and attention read and write
  double bytes_per_ns_ = 1;   ///< of elementwise kernels
  double norm_bytes_per_ns_ = 1;
  double gather_bytes_per_ns_ = 1;
  double start_ns_ = 0;
  double attention_flops_per_ns_ = 1;  ///< peak
  double cast_bytes_ = 0;
  double weight_cast_bytes_ = 0;  ///< per weight, forward and again for its gradient
  double convolution_share_ = 1;
  AttentionRate attention_rate_;
  OperatorModel gemm_;
  OperatorModel batched_;
  OperatorModel low_gemm_;  ///< 8 bit
  OperatorModel low_batched_;
  std::array<OperatorModel, 3> rows_;  ///< softmax, layer norm, RMS norm
  bool low_ = false;
};

}  // namespace foretrace
