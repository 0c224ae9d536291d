// config.json of Hugging Face transformers: names differ by model_type, unknown keys are none of
// our business. Read there by src/transformers/configuration_utils.py
// (github.com/huggingface/transformers).
#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <optional>
#include <span>

#include <fmt/format.h>

#include "models/workloads/model_import.h"
#include "sim/core/params.h"
#include "sim/core/whole.h"

namespace foretrace::model_imports::hugging_face_parts {
namespace {

constexpr double largest_size = 1e7;

std::optional<double> number(const ConfigValue& root, std::string_view key) {
  const ConfigValue* value = root.find(key);
  if (value == nullptr || value->kind != ConfigValue::Kind::number) return std::nullopt;
  const auto parsed = parse_quantity(value->text, ParamType::number);
  if (!parsed.ok() || !(*parsed >= 0 && *parsed <= largest_size)) return std::nullopt;
  return *parsed;
}

/// The first of these keys that is there and no size, with what it says.
struct WrongSize {
  std::string_view key;
  std::string got;
};
std::optional<WrongSize> wrong_size(const ConfigValue& root,
                                    std::span<const std::string_view> keys) {
  for (const std::string_view key : keys) {
    const ConfigValue* value = root.find(key);
    if (value == nullptr || value->kind == ConfigValue::Kind::null) continue;
    const auto read = number(root, key);
    if (read.has_value() && *read == std::floor(*read)) continue;
    const bool is_number = value->kind == ConfigValue::Kind::number;
    return WrongSize{key, is_number ? fmt::format("got {}", value->text) : value->described()};
  }
  return std::nullopt;
}

double first_of(const ConfigValue& root, std::initializer_list<std::string_view> keys,
                double standard) {
  for (const std::string_view key : keys) {
    if (const auto found = number(root, key)) return *found;
  }
  return standard;
}

bool flag(const ConfigValue& root, std::string_view key, bool standard) {
  const ConfigValue* value = root.find(key);
  if (value == nullptr || value->kind != ConfigValue::Kind::boolean) return standard;
  return value->text == "true";
}

std::string text(const ConfigValue& root, std::string_view key) {
  const ConfigValue* value = root.find(key);
  return value != nullptr && value->kind == ConfigValue::Kind::text ? value->text : std::string();
}

// Old models: learned positions, layer norm, GELU, biases, tied tables.
bool is_classic(std::string_view type) {
  constexpr std::array<std::string_view, 8> types = {"gpt2",    "bert", "roberta",  "opt",
                                                     "gpt_neo", "bart", "megatron", "electra"};
  return std::find(types.begin(), types.end(), type) != types.end();
}
bool is_encoder(std::string_view type) {
  constexpr std::array<std::string_view, 5> types = {"bert", "roberta", "electra", "deberta",
                                                     "vit"};
  return std::find(types.begin(), types.end(), type) != types.end();
}

Activation activation_of(const ConfigValue& root, std::string_view type) {
  std::string name = text(root, "hidden_act");
  if (name.empty()) name = text(root, "activation_function");
  if (name == "silu" || name == "swish" || name == "swiglu") return Activation::swiglu;
  if (name == "relu") return Activation::relu;
  if (name == "relu2") return Activation::squared_relu;
  if (type.starts_with("gemma")) return Activation::geglu;
  if (name == "gelu_new" || name == "gelu_fast" || name == "gelu_pytorch_tanh") {
    return Activation::gelu_tanh;
  }
  // What transformers takes where the file says nothing.
  if (name.empty() && type == "gpt2") return Activation::gelu_tanh;
  if (name.empty() && type == "opt") return Activation::relu;
  return Activation::gelu;
}

void read_experts(const ConfigValue& root, ExpertSpec& experts, double ffn) {
  const double count = first_of(root, {"num_local_experts", "n_routed_experts", "num_experts"}, 0);
  if (!(count > 1)) return;
  experts.count = to_count(count);
  experts.top_k = to_count(std::clamp(
      first_of(root, {"num_experts_per_tok", "experts_per_token", "moe_topk"}, 1), 1.0, count));
  experts.ffn = first_of(root, {"moe_intermediate_size", "expert_intermediate_size"}, ffn);
  const double shared = first_of(root, {"n_shared_experts"}, 0);
  experts.shared_ffn = first_of(root, {"shared_expert_intermediate_size"}, shared * experts.ffn);
  experts.first_dense = to_count(first_of(root, {"first_k_dense_replace"}, 0));
  experts.every =
      std::max(1U, to_count(first_of(root, {"moe_layer_freq", "decoder_sparse_step"}, 1)));
}

void read_latent(const ConfigValue& root, TransformerSpec& spec) {
  spec.latent.key_rank = first_of(root, {"kv_lora_rank"}, 0);
  if (!(spec.latent.key_rank > 0)) return;
  spec.latent.query_rank = first_of(root, {"q_lora_rank"}, 0);
  spec.latent.rope_size = first_of(root, {"qk_rope_head_dim"}, 0);
  spec.latent.value_size = first_of(root, {"v_head_dim"}, spec.head_size);
  spec.head_size = first_of(root, {"qk_nope_head_dim"}, spec.head_size) + spec.latent.rope_size;
}

bool recognizes(const ImportedFile& file) { return file.document.find("model_type") != nullptr; }

Result<ModelSpec> model_from(const ConfigValue& root, const std::string& where) {
  if (root.kind != ConfigValue::Kind::object) {
    return Error{ErrorCode::bad_config,
                 fmt::format("{}: {}, expected an object", where, root.described())};
  }
  const std::string type = text(root, "model_type");
  // Models with pictures keep the language part apart.
  if (const ConfigValue* inner = root.find("text_config");
      inner != nullptr && inner->kind == ConfigValue::Kind::object &&
      !number(root, "hidden_size")) {
    return model_from(*inner, where);
  }
  const bool classic = is_classic(type);
  ModelSpec model;
  model.name = std::filesystem::path(where).stem().string();
  model.product = type.empty() ? model.name : type;
  model.source = "config.json of Hugging Face transformers";
  TransformerSpec& spec = model.transformer;
  constexpr std::array<std::string_view, 13> sizes = {"num_hidden_layers",
                                                      "n_layer",
                                                      "hidden_size",
                                                      "n_embd",
                                                      "d_model",
                                                      "vocab_size",
                                                      "n_head",
                                                      "num_attention_heads",
                                                      "intermediate_size",
                                                      "n_inner",
                                                      "head_dim",
                                                      "num_key_value_heads",
                                                      "max_position_embeddings"};
  if (const auto wrong = wrong_size(root, sizes)) {
    return Error{ErrorCode::bad_config,
                 fmt::format("{}: /{}: {}, expected a whole number from 0 to {:g}", where,
                             wrong->key, wrong->got, largest_size)};
  }
  spec.layers = static_cast<std::uint32_t>(
      std::min(1e5, first_of(root, {"num_hidden_layers", "n_layer", "n_layers", "num_layers"}, 0)));
  spec.hidden = first_of(root, {"hidden_size", "n_embd", "d_model"}, 0);
  spec.heads = first_of(root, {"num_attention_heads", "n_head", "n_heads", "num_heads"}, 0);
  spec.vocabulary = first_of(root, {"vocab_size", "padded_vocab_size"}, 0);
  if (!(spec.layers >= 1 && spec.hidden >= 1 && spec.heads >= 1 && spec.vocabulary >= 1)) {
    const std::string_view missing = spec.layers < 1   ? "num_hidden_layers"
                                     : spec.hidden < 1 ? "hidden_size"
                                     : spec.heads < 1  ? "num_attention_heads"
                                                       : "vocab_size";
    return Error{
        ErrorCode::bad_config,
        fmt::format("{}: /{}: missing key, expected the size of a transformer", where, missing)};
  }
  spec.kv_heads = first_of(root, {"num_key_value_heads", "n_head_kv"}, spec.heads);
  if (flag(root, "multi_query", false)) spec.kv_heads = 1;
  if (spec.kv_heads < 1 || std::fmod(spec.heads, spec.kv_heads) != 0) {
    return Error{ErrorCode::bad_config,
                 fmt::format("{}: /num_key_value_heads: got {}, expected a divisor of the {} heads",
                             where, spec.kv_heads, spec.heads)};
  }
  spec.head_size = first_of(root, {"head_dim"}, spec.hidden / spec.heads);
  const bool latent = number(root, "kv_lora_rank").value_or(0) > 0;  // has sizes of its own
  if (!latent && spec.head_size != std::floor(spec.head_size)) {
    return Error{ErrorCode::bad_config,
                 fmt::format("{}: /num_attention_heads: got {}, expected a divisor of hidden_size, "
                             "which is {}, or head_dim beside it",
                             where, spec.heads, spec.hidden)};
  }
  spec.head_size = std::max(1.0, spec.head_size);
  spec.ffn = first_of(root, {"intermediate_size", "n_inner", "ffn_dim", "d_ff"}, 0);
  if (!(spec.ffn > 0)) spec.ffn = 4 * spec.hidden;
  spec.positions = first_of(root, {"max_position_embeddings", "n_positions", "n_ctx"}, 2048);
  spec.activation = activation_of(root, type);
  spec.norm = classic || type == "gpt_neox" || type == "falcon" || type == "mpt"
                  ? NormKind::layer_norm
                  : NormKind::rms_norm;
  spec.position = classic ? PositionKind::learned : PositionKind::rotary;
  spec.causal = !is_encoder(type);
  spec.has_bias = classic || type == "gpt_neox";
  spec.attention_bias = flag(root, "attention_bias", spec.has_bias || type.starts_with("qwen2"));
  spec.ties_embeddings = flag(root, "tie_word_embeddings", classic);
  spec.drops_out = classic;
  spec.has_pooler = type == "bert" || type == "roberta";
  if (flag(root, "use_sliding_window", true)) spec.window = first_of(root, {"sliding_window"}, 0);
  read_experts(root, spec.experts, spec.ffn);
  if (type.starts_with("deepseek")) spec.experts.load_exponent = 1.01;
  read_latent(root, spec);
  return model;
}

Result<ModelSpec> read(const ImportedFile& file) { return model_from(file.document, file.path); }

constexpr ModelImport info = {"hugging_face", "config.json of Hugging Face transformers",
                              "github.com/huggingface/transformers: "
                              "src/transformers/configuration_utils.py",
                              recognizes, read};

}  // namespace
}  // namespace foretrace::model_imports::hugging_face_parts

namespace foretrace {

Result<ModelSpec> model_from_hugging_face(const ConfigValue& root, const std::string& where) {
  return model_imports::hugging_face_parts::model_from(root, where);
}

}  // namespace foretrace

namespace foretrace::model_imports {
extern const ModelImport hugging_face;
constinit const ModelImport hugging_face = hugging_face_parts::info;
}  // namespace foretrace::model_imports
