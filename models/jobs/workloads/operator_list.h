// Writes the operators of a block one after the other.
#pragma once

#include <string_view>
#include <vector>

#include "models/jobs/workloads/operator.h"
#include "models/jobs/workloads/transformer.h"

namespace foretrace {

/// Bytes per number of an elementwise operator, forward and backward.
struct Traffic {
  double forward = 0;
  double backward = 0;
  std::uint16_t forward_kernels = 1;
  std::uint16_t backward_kernels = 1;
};

class OperatorList {
 public:
  OperatorList(const BatchShape& batch, const KernelSet& kernels)
      : batch_(batch), kernels_(kernels) {}

  /// Tokens x inputs times inputs x outputs. Keeps its input.
  Operator& product(std::string_view name, double inputs, double outputs, Split split);
  /// `columns` numbers per token.
  Operator& elementwise(std::string_view name, double columns, Split split, const Traffic& traffic);
  Operator& norm(const TransformerSpec& spec, std::string_view name, double columns, Split split);
  void enter(double columns);
  void leave(double columns);
  Operator& add(Operator op);

  [[nodiscard]] const BatchShape& batch() const { return batch_; }
  [[nodiscard]] const KernelSet& kernels() const { return kernels_; }
  [[nodiscard]] double tokens() const { return batch_.tokens(); }
  [[nodiscard]] double number() const { return batch_.number_bytes; }
  [[nodiscard]] double product_number() const { return batch_.product_bytes; }
  [[nodiscard]] bool trains() const { return batch_.pass == Pass::training; }
  [[nodiscard]] std::vector<Operator> take() { return std::move(operators_); }

 private:
  Operator& norm_in_pieces(std::string_view name, double columns, Split split);

  const BatchShape& batch_;
  const KernelSet& kernels_;
  std::vector<Operator> operators_;
};

/// Query, key and value to the output projection, with the residual.
void add_attention(OperatorList& list, const TransformerSpec& spec, bool sees_all);
/// The feed-forward part with the residual.
void add_feed_forward(OperatorList& list, const TransformerSpec& spec, double ffn);
/// Router, experts, shared experts, with the residual.
void add_experts(OperatorList& list, const TransformerSpec& spec);
/// Dropout and residual after a divided part.
void add_residual(OperatorList& list, const TransformerSpec& spec, std::string_view name);

}  // namespace foretrace
