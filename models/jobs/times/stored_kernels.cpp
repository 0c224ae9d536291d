// Kernels whose weights, or keys and values, are stored in fewer bytes than they are computed with.
#include <algorithm>

#include "models/jobs/times/exec_work.h"
#include "models/jobs/times/kernel_times.h"

namespace foretrace {

KernelTime KernelTimes::stored_product(const Operator& op, double weight_bytes) const {
  const GemmShape& s = op.shape;
  if (exec_model() != nullptr) {
    OperatorWork work = work_of(op, WorkPass::forward, product_bytes_);
    work.weight_bytes = s.batch * s.k * s.n * weight_bytes;
    return on_machine(work);
  }
  OperatorModel model = s.batch > 1 ? batched_ : gemm_;
  const double weights = s.k * s.n;
  const double rest = s.m * s.k + s.m * s.n;
  // Mean bytes per number of all three operands.
  model.rates.number_bytes =
      (rest * model.rates.number_bytes + weights * weight_bytes) / std::max(1.0, rest + weights);
  return {model_ns(model, s), CostSource::product,
          model.fitted ? Provenance::table : Provenance::roofline};
}

KernelTime KernelTimes::cached_attention(const Operator& op, double key_bytes,
                                         double least_queries) const {
  const AttentionPart& part = op.attention;
  if (exec_model() != nullptr) {
    OperatorWork work = work_of(op, WorkPass::forward, product_bytes_);
    work.input_bytes -= op.shape.batch * part.keys * part.key_heads *
                        (part.head_size + part.value_size) * (product_bytes_ - key_bytes);
    return on_machine(work);
  }
  return attention(op, {.queries = std::max(part.queries, least_queries),
                        .key_bytes = key_bytes,
                        .kernels = op.forward_kernels,
                        .share = attention_rate_.forward.typical});
}

}  // namespace foretrace
