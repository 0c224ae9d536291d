// The shape of a model, read from configs/models or from a config.json of Hugging Face.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "models/hardware/catalogue/catalogue.h"
#include "sim/core/config.h"
#include "sim/core/result.h"

namespace foretrace {

struct LayeredSpec;

enum class Activation : std::uint8_t {
  gelu,
  gelu_tanh,  ///< by its tanh formula: GPT-2's "gelu_new"
  relu,
  squared_relu,
  swiglu,
  geglu
};
enum class NormKind : std::uint8_t { layer_norm, rms_norm };
enum class PositionKind : std::uint8_t { none, learned, rotary, alibi };
[[nodiscard]] constexpr bool is_gated(Activation activation) {
  return activation == Activation::swiglu || activation == Activation::geglu;
}

/// A mixture of experts in place of the feed-forward part of some layers.
struct ExpertSpec {
  std::uint32_t count = 0;  ///< 0: dense
  std::uint32_t top_k = 1;
  double ffn = 0;                 ///< of one expert
  double shared_ffn = 0;          ///< of all experts that every token visits; 0: none
  std::uint32_t first_dense = 0;  ///< layers at the beginning without experts
  std::uint32_t every = 1;        ///< every n-th layer has experts
  std::uint32_t node_limit = 0;   ///< nodes in which a token's experts lie at most; 0: any
  /// Of the power law that loads of experts follow in inference; 0: all equal. NVIDIA's
  /// aiconfigurator (power law in MoE workload simulation, 2025) takes 1.2 (from latencies of
  /// Qwen3-235B), and 1.01 for DeepSeek's models (DeepSeek-R1).
  double load_exponent = 1.2;
};

/// Multi-head latent attention (DeepSeek-V2): queries and keys go through low ranks.
struct LatentSpec {
  double query_rank = 0;  ///< 0: queries are projected directly
  double key_rank = 0;    ///< 0: ordinary attention
  double rope_size = 0;   ///< of the part of a head that carries the position
  double value_size = 0;
};

/// A transformer: decoder, or encoder if not causal.
struct TransformerSpec {
  std::uint32_t layers = 0;
  double hidden = 0;
  double heads = 0;
  double kv_heads = 0;
  double head_size = 0;
  double ffn = 0;
  double vocabulary = 0;
  double positions = 2048;  ///< usual sequence length
  Activation activation = Activation::gelu;
  NormKind norm = NormKind::layer_norm;
  PositionKind position = PositionKind::learned;
  bool causal = true;
  bool has_bias = true;        ///< products have one
  bool attention_bias = true;  ///< query, key and value have one
  bool ties_embeddings = true;
  bool drops_out = true;         ///< trained with dropout
  double window = 0;             ///< sliding window of attention; 0: none
  std::uint32_t full_every = 0;  ///< every n-th layer sees all in spite of the window; 0: none
  double outputs = 0;            ///< of the head; 0: the vocabulary
  bool has_pooler = false;       ///< head of BERT: dense, activation, norm before the vocabulary
  ExpertSpec experts;
  LatentSpec latent;
  /// A model of other operators: of the sizes above `layers` alone counts, and `hidden` for what
  /// goes from stage to stage.
  std::shared_ptr<const LayeredSpec> layered;
  /// True if its layers have the times of a recording.
  [[nodiscard]] bool is_recorded() const;
};

/// What stands for a model that is no transformer: one sample is a sequence of one token, and
/// between stages go as many numbers as the widest of its layers gives.
[[nodiscard]] TransformerSpec layered_model(LayeredSpec spec, double widest);

struct ModelSpec {
  std::string name;                  ///< file stem
  std::string product;               ///< "GPT-3 175B"
  std::vector<std::string> aliases;  ///< how tables and hubs call it
  TransformerSpec transformer;
  std::string source;
  /// Of another program's file: what in it has no counterpart here.
  std::vector<std::string> notes;
};

/// The file that it names, ours or what an importer knows; or configs/models/<name>.json, or the
/// one of this product or alias in any spelling: plain or "owner/model" of a hub, with or without
/// last words that change no size ("-chat-hf", "-uncased"). A path finds no other model.
[[nodiscard]] Result<ModelSpec> find_model(const Catalogue& catalogue, std::string_view name);
[[nodiscard]] Result<ModelSpec> parse_model(std::string_view text, const std::string& where);
/// A model that stands at `pointer` of another file: the members of a model file, without need of
/// "schema", "product" and "source". It is called "inline".
[[nodiscard]] Result<ModelSpec> inline_model(const ConfigValue& object, const std::string& file,
                                             const std::string& pointer);
[[nodiscard]] std::vector<std::string> model_names(const Catalogue& catalogue);

}  // namespace foretrace
