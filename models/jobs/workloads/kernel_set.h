// Which kernels a framework launches for a layer: what is fused, how attention is computed.
#pragma once

#include <cstdint>
#include <string_view>

namespace foretrace {

enum class AttentionKernel : std::uint8_t {
  unfused,  ///< products, softmax and dropout, scores go through memory
  flash1,   ///< FlashAttention 1 and its Triton versions
  flash2,   ///< FlashAttention 2, memory-efficient attention
  flash3    ///< FlashAttention 3, cuDNN 9: made for Hopper
};
inline constexpr std::size_t attention_kernel_count = 4;

struct KernelSet {
  AttentionKernel attention = AttentionKernel::unfused;
  bool fused_bias_activation = true;  ///< bias and activation in one kernel of their own
  bool fused_dropout_add = true;      ///< bias, dropout and residual in one kernel
  bool fused_softmax = true;          ///< scale, mask and softmax in one kernel
  bool fused_norm = true;             ///< norms are one kernel; else RMS norm is a chain
  bool fused_rope = true;
  bool fused_token_attention = false;  ///< of one query per sequence: one kernel, also if unfused
  bool packs_qkv = true;               ///< query, key and value are one product
  bool compiled = false;  ///< chains of elementwise kernels become one (torch.compile, XLA)
  bool drops_out = true;  ///< runs with the dropout that the model was trained with
  std::uint16_t activation_kernels = 1;  ///< of GELU's tanh formula that is not fused
  double head_share = 1;           ///< of the tokens reach the head: the masked ones of an encoder
  double loss_forward_bytes = 30;  ///< per logit, read and written
  double loss_backward_bytes = 22;
  double loss_kept_bytes = 8;          ///< per logit, at the peak
  double divided_loss_kept_bytes = 8;  ///< the same where a tensor group divides the vocabulary
  /// Convolutions in TF32 get numbers with channels first, where its units take them last: what
  /// they read and write is turned round in memory.
  bool channels_first = false;
  bool keeps_gathered_inputs = false;  ///< sequence parallelism: products keep their whole input
};

}  // namespace foretrace
