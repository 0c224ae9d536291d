#include "models/jobs/imports/hugging_face_families.h"

#include <array>
#include <cstddef>
#include <optional>

namespace foretrace {
namespace {

constexpr ModelFamily usual = {};

// GPT-2 and its time: learned positions, layer norm, biases, dropout, one table.
constexpr ModelFamily classic(std::string_view type, Activation activation) {
  ModelFamily family;
  family.type = type;
  family.norm = NormKind::layer_norm;
  family.position = PositionKind::learned;
  family.activation = activation;
  family.has_bias = family.attention_bias = true;
  family.ties_embeddings = family.drops_out = true;
  return family;
}

constexpr ModelFamily encoder(std::string_view type, bool has_pooler) {
  ModelFamily family = classic(type, Activation::gelu);
  family.causal = false;
  family.has_pooler = has_pooler;
  return family;
}

constexpr ModelFamily layer_norm(std::string_view type, Activation activation, bool has_bias,
                                 bool ties_embeddings) {
  ModelFamily family;
  family.type = type;
  family.norm = NormKind::layer_norm;
  family.activation = activation;
  family.has_bias = family.attention_bias = has_bias;
  family.ties_embeddings = ties_embeddings;
  return family;
}

constexpr ModelFamily with_alibi(ModelFamily family) {
  family.position = PositionKind::alibi;
  return family;
}

// Every n-th layer sees all of the sequence.
constexpr ModelFamily gemma(std::string_view type, std::uint32_t full_every, double vocabulary) {
  ModelFamily family;
  family.type = type;
  family.activation = Activation::geglu;
  family.ties_embeddings = true;
  family.vocabulary = vocabulary;
  family.head_size = 256;
  family.window.full_every = full_every;
  family.window.size = full_every > 0 ? 4096 : 0;
  return family;
}

constexpr ModelFamily qwen(std::string_view type, bool attention_bias) {
  ModelFamily family;
  family.type = type;
  family.attention_bias = attention_bias;
  family.window.is_asked_for = true;
  return family;
}

constexpr ModelFamily deepseek() {
  ModelFamily family;
  family.type = "deepseek*";
  family.load_exponent = 1.01;
  return family;
}

constexpr ModelFamily tied(std::string_view type, std::uint32_t full_every) {
  ModelFamily family = layer_norm(type, Activation::swiglu, false, true);
  family.window.full_every = full_every;
  family.window.size = full_every > 0 ? 4096 : 0;
  return family;
}

constexpr ModelFamily other(std::string_view type, std::string_view what) {
  ModelFamily family;
  family.type = type;
  family.other = what;
  return family;
}

constexpr std::string_view image = "an image encoder";
constexpr std::string_view two_stacks = "an encoder with a decoder";
constexpr std::string_view recurrent = "a state space model";

constexpr std::array hub_families = {
    classic("gpt2", Activation::gelu_tanh),
    classic("gpt_bigcode", Activation::gelu_tanh),
    classic("gpt_neo", Activation::gelu_tanh),
    classic("opt", Activation::relu),
    classic("megatron", Activation::gelu),
    encoder("bert", true),
    encoder("roberta", true),
    encoder("xlm-roberta", true),
    encoder("electra", false),
    encoder("deberta*", false),
    encoder("distilbert", false),
    with_alibi(layer_norm("bloom", Activation::gelu_tanh, true, true)),
    with_alibi(layer_norm("mpt", Activation::gelu, false, true)),
    layer_norm("gpt_neox*", Activation::gelu, true, false),
    layer_norm("gptj", Activation::gelu_tanh, false, false),
    layer_norm("codegen", Activation::gelu_tanh, false, false),
    layer_norm("falcon", Activation::gelu, false, false),
    layer_norm("RefinedWeb*", Activation::gelu, false, false),
    layer_norm("phi", Activation::gelu_tanh, true, false),
    layer_norm("starcoder2", Activation::gelu_tanh, true, true),
    layer_norm("stablelm*", Activation::swiglu, false, false),
    layer_norm("persimmon", Activation::squared_relu, true, false),
    layer_norm("nemotron", Activation::squared_relu, false, false),
    layer_norm("dbrx", Activation::swiglu, false, false),
    tied("cohere", 0),
    tied("cohere2", 4),
    gemma("gemma*", 0, 256000),
    gemma("gemma2", 2, 256000),
    gemma("gemma3*", 6, 262208),
    gemma("gemma4*", 6, 262144),
    qwen("qwen2*", true),
    qwen("qwen3*", false),
    deepseek(),
    other("mamba*", recurrent),
    other("falcon_mamba", recurrent),
    other("rwkv*", "a recurrent model"),
    other("vit*", image),
    other("siglip*", image),
    other("clip*", image),
    other("dinov2*", image),
    other("swin*", image),
    other("deit", image),
    other("beit", image),
    other("whisper", "a speech encoder with a decoder"),
    other("t5", two_stacks),
    other("mt5", two_stacks),
    other("umt5", two_stacks),
    other("bart", two_stacks),
    other("mbart", two_stacks),
    other("pegasus", two_stacks),
    other("marian", two_stacks),
};

// Letters that fit; the row that fits more letters says more.
std::optional<std::size_t> letters_that_fit(std::string_view pattern, std::string_view type) {
  const bool is_whole = !pattern.ends_with('*');
  if (!is_whole) pattern.remove_suffix(1);
  if (is_whole ? pattern != type : !type.starts_with(pattern)) return std::nullopt;
  return pattern.size() + (is_whole ? 1 : 0);
}

}  // namespace

const ModelFamily& family_of(std::string_view model_type) {
  const ModelFamily* best = &usual;
  std::size_t most = 0;
  for (const ModelFamily& family : hub_families) {
    const auto letters = letters_that_fit(family.type, model_type);
    if (!letters || *letters <= most) continue;
    best = &family;
    most = *letters;
  }
  return *best;
}

}  // namespace foretrace
