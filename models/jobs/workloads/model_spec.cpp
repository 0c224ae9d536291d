// Reads model files and finds models by the names that tables give them.
#include "models/jobs/workloads/model_spec.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/hardware/catalogue/config_files.h"
#include "models/hardware/catalogue/read_figures.h"
#include "models/jobs/workloads/layered.h"
#include "models/jobs/workloads/model_import.h"
#include "sim/core/params.h"

namespace foretrace {
namespace {

constexpr std::string_view model_schema = "foretrace.model/1";
constexpr std::array<std::string_view, 6> activations = {"gelu",         "gelu_tanh", "relu",
                                                         "squared_relu", "swiglu",    "geglu"};
constexpr std::array<std::string_view, 2> norms = {"layer_norm", "rms_norm"};
constexpr std::array<std::string_view, 4> positions = {"none", "learned", "rotary", "alibi"};
constexpr std::array<std::string_view, 2> families = {"transformer", "layers"};
constexpr double most = 1e7;

double read_size(ConfigFields& fields, std::string_view key) {
  return read_count(fields, key, most);
}
double optional_size(ConfigFields& fields, std::string_view key, double standard) {
  return fields.has(key) ? read_within(fields, key, ParamType::integer, most)
                         : optional_within(fields, key, ParamType::integer, most, standard);
}

void read_experts(ConfigFields& fields, ExpertSpec& experts) {
  const ConfigValue* object = fields.optional_object("experts");
  if (object == nullptr) return;
  ConfigFields inner(*object, fields.file(), fields.pointer_of("experts"));
  experts.count = read_count(inner, "count", most);
  experts.top_k = read_count(inner, "top_k", most);
  experts.ffn = read_size(inner, "ffn");
  experts.shared_ffn = optional_size(inner, "shared_ffn", 0);
  experts.first_dense = static_cast<std::uint32_t>(optional_size(inner, "first_dense", 0));
  experts.every = optional_count(inner, "every", most, 1);
  experts.node_limit = static_cast<std::uint32_t>(optional_size(inner, "node_limit", 0));
  experts.load_exponent =
      optional_within(inner, "load_exponent", ParamType::number, 10, experts.load_exponent);
  if (experts.load_exponent == 1) experts.load_exponent += 1e-6;  // the limit, without a logarithm
  if (experts.top_k > experts.count) {
    inner.mistake("top_k", fmt::format("got {}, expected at most the {} experts", experts.top_k,
                                       experts.count));
  }
  fields.take(inner.finish());
}

void read_latent(ConfigFields& fields, LatentSpec& latent) {
  const ConfigValue* object = fields.optional_object("latent");
  if (object == nullptr) return;
  ConfigFields inner(*object, fields.file(), fields.pointer_of("latent"));
  latent.query_rank = optional_size(inner, "query_rank", 0);
  latent.key_rank = read_size(inner, "key_rank");
  latent.rope_size = optional_size(inner, "rope_size", 0);
  latent.value_size = read_size(inner, "value_size");
  fields.take(inner.finish());
}

void read_transformer(ConfigFields& fields, TransformerSpec& spec) {
  spec.layers = read_count(fields, "layers", 1e5);
  spec.hidden = read_size(fields, "hidden");
  spec.heads = read_size(fields, "heads");
  spec.kv_heads = optional_size(fields, "kv_heads", spec.heads);
  const bool states_head_size = fields.has("head_size");
  spec.head_size = optional_size(fields, "head_size", spec.hidden / std::max(spec.heads, 1.0));
  if (!states_head_size && std::fmod(spec.hidden, std::max(spec.heads, 1.0)) != 0) {
    fields.mistake("heads", fmt::format("got {}, expected a divisor of hidden, which is {}, or "
                                        "head_size beside it",
                                        spec.heads, spec.hidden));
  }
  spec.ffn = optional_size(fields, "ffn", 4 * spec.hidden);
  spec.vocabulary = read_size(fields, "vocabulary");
  spec.positions = optional_size(fields, "positions", 2048);
  spec.activation = static_cast<Activation>(optional_word(fields, "activation", activations, 0));
  spec.norm = static_cast<NormKind>(optional_word(fields, "norm", norms, 0));
  spec.position = static_cast<PositionKind>(optional_word(fields, "position", positions, 1));
  fields.optional_boolean("causal", spec.causal);
  fields.optional_boolean("has_bias", spec.has_bias);
  spec.attention_bias = spec.has_bias;
  fields.optional_boolean("attention_bias", spec.attention_bias);
  fields.optional_boolean("ties_embeddings", spec.ties_embeddings);
  fields.optional_boolean("drops_out", spec.drops_out);
  fields.optional_boolean("has_pooler", spec.has_pooler);
  spec.outputs = optional_size(fields, "outputs", 0);
  if (spec.outputs > 0 && spec.ties_embeddings) {
    fields.mistake("outputs", "got a head of its own, expected ties_embeddings false");
  }
  spec.window = optional_size(fields, "window", 0);
  spec.full_every = static_cast<std::uint32_t>(optional_size(fields, "full_every", 0));
  read_experts(fields, spec.experts);
  read_latent(fields, spec.latent);
  if (spec.kv_heads < 1 || std::fmod(spec.heads, spec.kv_heads) != 0) {
    fields.mistake("kv_heads", fmt::format("got {}, expected a divisor of the {} heads",
                                           spec.kv_heads, spec.heads));
  }
  if (!(spec.head_size >= 1)) fields.mistake("head_size", "got less than 1");
}

/// Reads what makes the model; which keys belong there depends on its family.
Status read_family(ConfigFields& fields, TransformerSpec& spec) {
  std::string family;
  fields.text("family", family);
  if (family != families[0] && family != families[1] && !family.empty()) {
    return Error{ErrorCode::bad_config,
                 fmt::format("{}: {}: got {}{}, expected {}", fields.file(),
                             fields.pointer_of("family"), in_quotes(family),
                             did_you_mean(family, families), fmt::join(families, " or "))};
  }
  if (family == families[1]) {
    LayeredSpec layers = read_layered(fields);
    spec = layered_model(std::move(layers), read_size(fields, "widest"));
  } else {
    read_transformer(fields, spec);
  }
  return ok_status();
}

Result<ModelSpec> model_from(const ConfigValue& root, const std::string& path) {
  ModelSpec model;
  model.name = std::filesystem::path(path).stem().string();
  ConfigFields fields(root, path);
  fields.text("product", model.product);
  fields.optional_texts("aliases", model.aliases);
  FORETRACE_TRY(read_family(fields, model.transformer));
  fields.text("source", model.source);
  FORETRACE_TRY(fields.finish());
  return model;
}

// "Llama-2-7b-hf" and "LLAMA2 7B HF" are one name.
std::string plain(std::string_view name) {
  std::string text;
  for (const char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.') {
      text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return text;
}

}  // namespace

TransformerSpec layered_model(LayeredSpec spec, double widest) {
  TransformerSpec model;
  model.layers = spec.layers();
  model.hidden = widest;
  model.heads = model.kv_heads = model.head_size = 1;
  model.ffn = model.vocabulary = model.positions = 1;
  model.ties_embeddings = model.drops_out = false;
  model.layered = std::make_shared<LayeredSpec>(std::move(spec));
  return model;
}

bool TransformerSpec::is_recorded() const {
  return layered != nullptr && layered->recorded.has_value();
}

const ModelImport* model_import_of(const ImportedFile& file) {
  if (file.document.find("schema") != nullptr) return nullptr;
  for (const ModelImport* import : model_imports::all()) {
    if (import->recognizes(file)) return import;
  }
  return nullptr;
}

Result<ModelSpec> parse_model(std::string_view text, const std::string& where) {
  FORETRACE_TRY(const auto file, imported_text(std::string(text), where));
  if (const ModelImport* const import = model_import_of(file)) {
    FORETRACE_TRY(auto model, import->read(file));
    model.name = std::filesystem::path(where).stem().string();
    if (model.product.empty()) model.product = model.name;
    return model;
  }
  if (file.document.kind == ConfigValue::Kind::null) {
    std::string kinds;
    for (const ModelImport* import : model_imports::all()) {
      kinds += fmt::format("{}{}", kinds.empty() ? "" : ", ", import->summary);
    }
    return Error{
        ErrorCode::bad_config,
        fmt::format("{}: is no model, expected a file that names the schema {}, or one of {}",
                    where, model_schema, kinds)};
  }
  FORETRACE_TRY(auto document, parse_config_document(text, where, model_schema));
  return model_from(document, where);
}

Result<ModelSpec> inline_model(const ConfigValue& object, const std::string& file,
                               const std::string& pointer) {
  ModelSpec model;
  model.name = "inline";
  model.product = "a model of the scenario";
  ConfigFields fields(object, file, pointer);
  std::string stated{model_schema};
  fields.optional_text("schema", stated);
  if (stated != model_schema) {
    fields.mistake("schema", fmt::format("got {}, expected {}", in_quotes(stated), model_schema));
  }
  fields.optional_text("product", model.product);
  fields.optional_texts("aliases", model.aliases);
  FORETRACE_TRY(read_family(fields, model.transformer));
  fields.optional_text("source", model.source);
  FORETRACE_TRY(fields.finish());
  return model;
}

namespace {

Result<ModelSpec> model_at(const std::string& path) {
  FORETRACE_TRY(auto text, read_config_text(path));
  return parse_model(text, path);
}

/// What others call by this name: file name, product or alias, letter case and everything but
/// letters, digits and dots left aside.
std::optional<ModelSpec> model_called(const std::string& directory, std::string_view name) {
  const std::string wanted = plain(name);
  const auto is_it = [&wanted](std::string_view other) { return plain(other) == wanted; };
  for (const std::string& file : config_names(directory, "models")) {
    auto model = model_at(config_file(directory, "models", file));
    if (!model.ok()) continue;
    const auto& aliases = model->aliases;
    if (is_it(file) || is_it(model->product) ||
        std::any_of(aliases.begin(), aliases.end(), is_it)) {
      return std::move(*model);
    }
  }
  return std::nullopt;
}

/// "model" of "owner/model" as a hub names it, a plain name as it is; empty: a path.
std::string_view name_of_hub(std::string_view name) {
  if (name.ends_with('/')) name.remove_suffix(1);
  const std::size_t slash = name.find('/');
  if (slash == std::string_view::npos) return name;
  const bool is_path = slash == 0 || name.front() == '.' || name.front() == '~' ||
                       name.find('/', slash + 1) != std::string_view::npos;
  return is_path ? std::string_view() : name.substr(slash + 1);
}

/// "bert-base" of "bert-base-uncased": without the last word, where that changes no size.
std::optional<std::string_view> without_variant(std::string_view name) {
  constexpr std::array<std::string_view, 6> variants = {"hf", "chat", "instruct",
                                                        "it", "base", "uncased"};
  const std::size_t end = name.find_last_of("-_ ");
  if (end == std::string_view::npos) return std::nullopt;
  const std::string last = plain(name.substr(end + 1));
  if (std::find(variants.begin(), variants.end(), last) == variants.end()) return std::nullopt;
  return name.substr(0, end);
}

}  // namespace

Result<ModelSpec> find_model(const Catalogue& catalogue, std::string_view name) {
  const auto path = config_path(catalogue.directory(), {"model", "models"}, name);
  if (path.ok()) return model_at(*path);
  const std::string_view of_hub = name_of_hub(name);
  std::optional<std::string_view> tried;
  if (!of_hub.empty()) tried = of_hub;
  for (; tried.has_value(); tried = without_variant(*tried)) {
    if (auto called = model_called(catalogue.directory(), *tried)) return std::move(*called);
  }
  return path.error();
}

std::vector<std::string> model_names(const Catalogue& catalogue) {
  return config_names(catalogue.directory(), "models");
}

}  // namespace foretrace
