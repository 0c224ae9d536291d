// config.json of Hugging Face transformers: names differ by model_type, and what equals the default
// of its class is left out. Read there by src/transformers/configuration_utils.py and
// models/*/configuration_*.py (github.com/huggingface/transformers).
//
//   {"model_type": "qwen3_moe", "hidden_size": 2048, "num_hidden_layers": 48, "head_dim": 128,
//    "num_attention_heads": 32, "num_key_value_heads": 4, "num_experts": 128,
//    "num_experts_per_tok": 8, "moe_intermediate_size": 768, "vocab_size": 151936, ...}
#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "models/jobs/imports/hugging_face_families.h"
#include "models/jobs/imports/hugging_face_keys.h"
#include "models/jobs/workloads/model_import.h"
#include "sim/core/whole.h"

namespace foretrace::model_imports::hugging_face_parts {
namespace {

Activation activation_of(const std::string& name, const ModelFamily& family) {
  const bool gates = is_gated(family.activation);
  if (name.find("glu") != std::string::npos) {
    return name.starts_with("geglu") || name.starts_with("gated-gelu") ? Activation::geglu
                                                                       : Activation::swiglu;
  }
  if (name == "silu" || name == "swish") return Activation::swiglu;
  if (name == "relu") return Activation::relu;
  if (name == "relu2") return Activation::squared_relu;
  if (name.starts_with("gelu")) {
    if (family.activation == Activation::geglu) return Activation::geglu;
    return name == "gelu" ? Activation::gelu : Activation::gelu_tanh;
  }
  // A name that nobody knows says nothing of gates.
  return name.empty() || gates ? family.activation : Activation::gelu;
}

Activation read_activation(HubKeys& keys, const ModelFamily& family) {
  std::string name = keys.text({"hidden_act", "activation_function", "hidden_activation"});
  if (const ConfigValue* const function = keys.object("ffn_act_fn"); function != nullptr) {
    if (name.empty()) name = HubKeys(*function, keys.where()).text({"name"});
  }
  return activation_of(name, family);
}

// A list with a word or a number per layer, as it is written.
std::vector<std::string> per_layer(HubKeys& keys, std::string_view name) {
  std::vector<std::string> layers;
  if (const ConfigValue* const list = keys.list(name)) {
    for (const ConfigValue& layer : list->items) layers.push_back(layer.text);
  }
  return layers;
}

// Every layer the same but for those that see all: at places n, 2n, ...
struct Windows {
  bool has_any = false;
  std::uint32_t full_every = 0;
};
Result<Windows> windows_of(HubKeys& keys, const std::vector<std::string>& layers) {
  Windows windows;
  std::vector<std::size_t> full;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const std::string& layer = layers[i];
    if (layer == "sliding_attention" || layer == "chunked_attention") {
      windows.has_any = true;
    } else if (layer == "full_attention" || layer == "attention") {
      full.push_back(i + 1);
    } else {
      return keys.wrong("layer_types", fmt::format("got {}, expected layers of full_attention or "
                                                   "sliding_attention: others are unsupported",
                                                   in_quotes(layer)));
    }
  }
  if (!windows.has_any || full.empty()) return windows;
  // Where the first ones lie otherwise, as many see all.
  windows.full_every = to_count(std::max(
      1.0, std::round(static_cast<double>(layers.size()) / static_cast<double>(full.size()))));
  return windows;
}

Status read_window(HubKeys& keys, const ModelFamily& family, TransformerSpec& spec) {
  const double window = keys.size({"sliding_window", "sliding_window_size"}, family.window.size);
  const bool is_used = keys.flag("use_sliding_window", !family.window.is_asked_for);
  const double pattern = keys.size({"sliding_window_pattern"}, family.window.full_every);
  const std::vector<std::string> layers = per_layer(keys, "layer_types");
  FORETRACE_TRY(const auto windows, windows_of(keys, layers));
  if (!is_used) return ok_status();
  if (layers.empty()) {
    spec.window = window;
    spec.full_every = window > 0 ? to_count(pattern) : 0;
  } else if (windows.has_any) {
    spec.window = window;
    spec.full_every = window > 0 ? windows.full_every : 0;
  }
  return ok_status();
}

// Which layers have experts: a stretch without at the beginning, then every n-th.
Status read_places(HubKeys& keys, const TransformerSpec& spec, ExpertSpec& experts) {
  experts.first_dense = to_count(keys.size({"first_k_dense_replace"}, 0));
  const std::vector<std::string> kinds = per_layer(keys, "mlp_layer_types");
  std::vector<std::string> marks;
  if (const ConfigValue* const list = keys.list("moe_layer_freq")) {
    for (const ConfigValue& layer : list->items) marks.push_back(layer.text);
  } else {
    experts.every = std::max(
        1U, to_count(keys.size(
                {"moe_layer_freq", "decoder_sparse_step", "interleave_moe_layer_step"}, 1)));
  }
  for (const std::string& kind : kinds) marks.emplace_back(kind == "dense" ? "0" : "1");
  if (!marks.empty()) {
    const auto first = std::find_if(marks.begin(), marks.end(),
                                    [](const std::string& mark) { return mark != "0"; });
    if (std::find(first, marks.end(), "0") != marks.end()) {
      return keys.wrong(kinds.empty() ? "moe_layer_freq" : "mlp_layer_types",
                        "layers without experts between others are unsupported, expected all of "
                        "them at the beginning");
    }
    experts.first_dense = to_count(static_cast<double>(first - marks.begin()));
    experts.every = 1;
  }
  if (const ConfigValue* const dense = keys.list("mlp_only_layers");
      dense != nullptr && !dense->items.empty()) {
    return keys.wrong("mlp_only_layers", "layers without experts one by one are unsupported");
  }
  // Written beside the step of layers: the same again.
  (void)keys.list("moe_layers");
  return experts.first_dense <= spec.layers
             ? ok_status()
             : Status(keys.wrong("first_k_dense_replace",
                                 fmt::format("got {}, expected at most the {} layers",
                                             experts.first_dense, spec.layers)));
}

Status read_experts(HubKeys& keys, std::string_view type, TransformerSpec& spec) {
  ExpertSpec& experts = spec.experts;
  const double count =
      keys.size({"num_local_experts", "n_routed_experts", "num_experts", "moe_num_experts"}, 0);
  const double chosen = keys.size({"num_experts_per_tok", "experts_per_token", "moe_topk",
                                   "moe_top_k", "num_experts_per_token", "top_k_experts"},
                                  1);
  const auto of_one =
      keys.size({"moe_intermediate_size", "expert_intermediate_size", "moe_ffn_hidden_size"});
  const double shared = keys.size({"n_shared_experts", "num_shared_experts"}, 0);
  const auto shared_size =
      keys.size({"shared_expert_intermediate_size", "moe_shared_expert_intermediate_size",
                 "shared_intermediate_size"});
  const auto dense = keys.size({"dense_intermediate_size", "intermediate_size_mlp"});
  FORETRACE_TRY(read_places(keys, spec, experts));
  if (!(count > 1)) return ok_status();
  experts.count = to_count(count);
  experts.top_k = to_count(std::clamp(chosen, 1.0, count));
  experts.ffn = of_one.value_or(spec.ffn);
  const bool is_llama = type.starts_with("llama4");  // each has one shared expert
  experts.shared_ffn = shared_size.value_or((is_llama ? 1 : shared) * experts.ffn);
  if (dense && *dense > 0) spec.ffn = *dense;
  return ok_status();
}

void read_latent(HubKeys& keys, TransformerSpec& spec) {
  const double rope = keys.size({"qk_rope_head_dim"}, 0);
  const double rest = keys.size({"qk_nope_head_dim"}, spec.head_size);
  const double value = keys.size({"v_head_dim"}, spec.head_size);
  const double query = keys.size({"q_lora_rank"}, 0);
  if (!(spec.latent.key_rank > 0)) return;
  spec.latent.query_rank = query;
  spec.latent.rope_size = rope;
  spec.latent.value_size = value;
  spec.head_size = rest + rope;
}

Status read_heads(HubKeys& keys, std::string_view type, const ModelFamily& family,
                  TransformerSpec& spec) {
  spec.kv_heads = keys.size({"num_key_value_heads", "n_head_kv", "num_kv_heads", "kv_n_heads",
                             "num_attention_groups", "multi_query_group_num"},
                            spec.heads);
  // Falcon's number counts where its new layers are asked for; the old ones share one head.
  const bool is_new = keys.flag("new_decoder_architecture", false);
  const bool is_old_falcon = type == "falcon" && !is_new;
  if (is_old_falcon) spec.kv_heads = spec.heads;
  if (keys.flag("multi_query", is_old_falcon) && !is_new) spec.kv_heads = 1;
  if (spec.kv_heads < 1 || std::fmod(spec.heads, spec.kv_heads) != 0) {
    return keys.wrong(
        "num_key_value_heads",
        fmt::format("got {}, expected a divisor of the {} heads", spec.kv_heads, spec.heads));
  }
  spec.head_size = keys.size({"head_dim", "attention_head_dim", "kv_channels"},
                             family.head_size > 0 ? family.head_size : spec.hidden / spec.heads);
  spec.latent.key_rank = keys.size({"kv_lora_rank"}, 0);
  const bool has_own_sizes = spec.latent.key_rank > 0;
  if (!has_own_sizes && spec.head_size != std::floor(spec.head_size)) {
    return keys.wrong("num_attention_heads",
                      fmt::format("got {}, expected a divisor of hidden_size, which is {}, or "
                                  "head_dim beside it",
                                  spec.heads, spec.hidden));
  }
  spec.head_size = std::max(1.0, spec.head_size);
  read_latent(keys, spec);
  return ok_status();
}

Status read_sizes(HubKeys& keys, const ModelFamily& family, TransformerSpec& spec) {
  spec.layers = to_count(
      std::min(1e5, keys.size({"num_hidden_layers", "n_layer", "n_layers", "num_layers"}, 0)));
  spec.hidden = keys.size({"hidden_size", "n_embd", "d_model"}, 0);
  spec.heads = keys.size({"num_attention_heads", "n_head", "n_heads", "num_heads"}, 0);
  spec.vocabulary = keys.size({"vocab_size", "padded_vocab_size"}, family.vocabulary);
  spec.ffn = keys.size({"intermediate_size", "n_inner", "ffn_dim", "d_ff", "ffn_hidden_size"}, 0);
  const double expansion = keys.size({"expansion_ratio"}, 4);
  if (!(spec.ffn > 0)) spec.ffn = expansion * spec.hidden;
  spec.positions = keys.size(
      {"max_position_embeddings", "n_positions", "n_ctx", "max_seq_len", "seq_length"}, 2048);
  const double table = keys.size({"word_embed_proj_dim", "embedding_size"}, spec.hidden);
  if (table != spec.hidden) {
    return keys.wrong(
        "word_embed_proj_dim",
        fmt::format(
            "a table of {} numbers per token is unsupported, expected the {} of hidden_size", table,
            spec.hidden));
  }
  if (spec.layers >= 1 && spec.hidden >= 1 && spec.heads >= 1 && spec.vocabulary >= 1) {
    return ok_status();
  }
  FORETRACE_TRY(keys.finish());
  const std::string_view missing = spec.layers < 1   ? "num_hidden_layers"
                                   : spec.hidden < 1 ? "hidden_size"
                                   : spec.heads < 1  ? "num_attention_heads"
                                                     : "vocab_size";
  return keys.wrong(missing, "missing key, expected the size of a transformer");
}

// What stands in objects of its own (DBRX) as if it stood beside the rest.
ConfigValue with_inner(const ConfigValue& root) {
  constexpr std::array<std::string_view, 2> inner = {"attn_config", "ffn_config"};
  ConfigValue flat = root;
  for (const std::string_view name : inner) {
    const ConfigValue* const object = root.find(name);
    if (object == nullptr || object->kind != ConfigValue::Kind::object) continue;
    for (std::size_t i = 0; i < object->keys.size(); ++i) {
      if (flat.find(object->keys[i]) != nullptr) continue;
      flat.keys.push_back(object->keys[i]);
      flat.items.push_back(object->items[i]);
    }
  }
  return flat;
}

Status check_kind(HubKeys& keys, const std::string& type, const ModelFamily& family) {
  if (!family.other.empty()) {
    return keys.wrong("model_type", fmt::format("{} is {}, expected a transformer of one stack",
                                                in_quotes(type), family.other));
  }
  if (keys.flag("is_encoder_decoder", false)) {
    return keys.wrong("is_encoder_decoder",
                      "an encoder with a decoder is unsupported, expected one stack of layers");
  }
  // Lightning attention: 0 is linear.
  const std::vector<std::string> kinds = per_layer(keys, "attn_type_list");
  if (std::find(kinds.begin(), kinds.end(), "0") != kinds.end()) {
    return keys.wrong("attn_type_list", "layers of linear attention are unsupported");
  }
  return ok_status();
}

void adopt_family(HubKeys& keys, const ModelFamily& family, TransformerSpec& spec) {
  spec.norm = family.norm;
  spec.position = keys.flag("alibi", false) ? PositionKind::alibi : family.position;
  spec.causal = family.causal;
  spec.has_bias = family.has_bias;
  spec.attention_bias = keys.flag("attention_bias", family.attention_bias);
  spec.ties_embeddings = keys.flag("tie_word_embeddings", family.ties_embeddings);
  spec.drops_out = family.drops_out;
  spec.has_pooler = family.has_pooler;
  spec.experts.load_exponent = family.load_exponent;
}

Result<ModelSpec> model_from(const ConfigValue& root, const std::string& where) {
  if (root.kind != ConfigValue::Kind::object) {
    return Error{ErrorCode::bad_config,
                 fmt::format("{}: {}, expected an object", where, root.described())};
  }
  // Models with pictures keep the language part apart.
  if (const ConfigValue* inner = root.find("text_config");
      inner != nullptr && inner->kind == ConfigValue::Kind::object &&
      root.find("hidden_size") == nullptr) {
    return model_from(*inner, where);
  }
  const ConfigValue flat = with_inner(root);
  HubKeys keys(flat, where);
  if (root.find("_class_name") != nullptr) {
    return keys.wrong("_class_name", "a model of diffusers, expected a transformer of tokens");
  }
  (void)keys.object("attn_config");
  (void)keys.object("ffn_config");
  const std::string type = keys.text({"model_type"});
  const ModelFamily& family = family_of(type);
  ModelSpec model;
  model.name = std::filesystem::path(where).stem().string();
  model.product = type.empty() ? model.name : type;
  model.source = "config.json of Hugging Face transformers";
  TransformerSpec& spec = model.transformer;
  FORETRACE_TRY(check_kind(keys, type, family));
  FORETRACE_TRY(read_sizes(keys, family, spec));
  FORETRACE_TRY(read_heads(keys, type, family, spec));
  adopt_family(keys, family, spec);
  spec.activation = read_activation(keys, family);
  FORETRACE_TRY(read_window(keys, family, spec));
  FORETRACE_TRY(read_experts(keys, type, spec));
  FORETRACE_TRY(keys.finish());
  return model;
}

bool recognizes(const ImportedFile& file) {
  return file.document.find("model_type") != nullptr ||
         file.document.find("_class_name") != nullptr;
}

Result<ModelSpec> read(const ImportedFile& file) { return model_from(file.document, file.path); }

}  // namespace

extern constexpr ModelImport info = {"hugging_face", "config.json of Hugging Face transformers",
                                     "github.com/huggingface/transformers: "
                                     "src/transformers/configuration_utils.py",
                                     recognizes, read};

}  // namespace foretrace::model_imports::hugging_face_parts

namespace foretrace {

Result<ModelSpec> model_from_hugging_face(const ConfigValue& root, const std::string& where) {
  return model_imports::hugging_face_parts::model_from(root, where);
}

}  // namespace foretrace
