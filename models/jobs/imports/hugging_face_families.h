// What config.json leaves out because transformers knows it by the model_type.
#pragma once

#include <cstdint>
#include <string_view>

#include "models/jobs/workloads/model_spec.h"

namespace foretrace {

/// Where a window of attention ends by itself.
struct WindowHabit {
  double size = 0;               ///< where the file gives none
  std::uint32_t full_every = 0;  ///< every n-th layer sees all; 0: the file says so or none does
  bool is_asked_for = false;     ///< only with "use_sliding_window": true
};

/// Defaults of the classes of one model_type (src/transformers/models/*/configuration_*.py).
struct ModelFamily {
  std::string_view type;  ///< "gemma*": all that begin so
  NormKind norm = NormKind::rms_norm;
  PositionKind position = PositionKind::rotary;
  Activation activation = Activation::swiglu;  ///< where the file names none
  bool causal = true;
  bool has_bias = false;
  bool attention_bias = false;
  bool ties_embeddings = false;
  bool drops_out = false;
  bool has_pooler = false;
  double vocabulary = 0;  ///< 0: the file has to say it
  double head_size = 0;   ///< 0: hidden size by heads
  WindowHabit window = {};
  double load_exponent = ExpertSpec{}.load_exponent;
  /// What it is in place of layers of attention and feed-forward in one stack; empty: just that.
  std::string_view other = {};
};

/// The family of a model_type; of the longest name that fits. A type that no row knows is read as
/// most models since Llama are: RMS norm, rotary positions, SwiGLU, no biases, tables apart.
[[nodiscard]] const ModelFamily& family_of(std::string_view model_type);

}  // namespace foretrace
