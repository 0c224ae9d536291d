#include "models/jobs/imports/hugging_face_keys.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "sim/core/params.h"

namespace foretrace {
namespace {

constexpr double largest_size = 1e8;

// Parts of names that say what layers are made of.
constexpr auto structural = std::to_array<std::string_view>(
    {"layer",     "head",   "hidden", "expert",   "intermediate", "ffn",       "mlp",
     "block",     "conv",   "ssm",    "mamba",    "rwkv",         "recurrent", "attn",
     "attention", "linear", "index",  "compress", "latent",       "interval",  "pattern",
     "period",    "_rank",  "_dim",   "hc_mult"});

// Parts of names that say something of numbers, of training, of decoding or of another stack.
constexpr auto harmless =
    std::to_array<std::string_view>({"dropout",    "drop_rate", "pdrop",   "eps",
                                     "init",       "_std",      "coef",    "aux",
                                     "rope",       "rotary",    "theta",   "token",
                                     "scale",      "scaling",   "scalar",  "factor",
                                     "multiplier", "limit",     "beta",    "alpha",
                                     "loss",       "normaliz",  "dtype",   "precision",
                                     "cache",      "quant",     "mtp",     "nextn",
                                     "vision",     "image",     "audio",   "implementation",
                                     "bias",       "softcap",   "summary", "sink"});

// Names that are known and change neither sizes nor kernels.
constexpr auto left_aside = std::to_array<std::string_view>(
    {"max_window_layers", "pruned_heads", "chunk_size_feed_forward", "cross_attention_hidden_size",
     "no_rope_layers", "no_rope_layer_interval", "attention_chunk_size", "compression_config",
     "qk_head_dim", "encoder_no_repeat_ngram_size"});

template <std::size_t N>
bool holds_one_of(std::string_view name, const std::array<std::string_view, N>& parts) {
  return std::any_of(parts.begin(), parts.end(), [&](std::string_view part) {
    return name.find(part) != std::string_view::npos;
  });
}

// Numbers and lists say what there is; switches and words how it is computed.
bool says_nothing(const ConfigValue& value) {
  switch (value.kind) {
    case ConfigValue::Kind::null:
    case ConfigValue::Kind::boolean:
    case ConfigValue::Kind::text: return true;
    case ConfigValue::Kind::number: {
      const auto number = parse_quantity(value.text, ParamType::number);
      return number.ok() && *number == 0;
    }
    case ConfigValue::Kind::list:
    case ConfigValue::Kind::object: return value.items.empty();
  }
  return false;
}

}  // namespace

const ConfigValue* HubKeys::find(std::string_view name) {
  known_.push_back(name);
  const ConfigValue* const value = root_->find(name);
  return value == nullptr || value->kind == ConfigValue::Kind::null ? nullptr : value;
}

std::optional<double> HubKeys::size(Names names) {
  std::optional<double> found;
  for (const std::string_view name : names) {
    const ConfigValue* const value = find(name);
    if (value == nullptr || found) continue;
    if (value->kind == ConfigValue::Kind::number) {
      const auto read = parse_quantity(value->text, ParamType::number);
      if (read.ok() && *read >= 0 && *read <= largest_size && *read == std::floor(*read)) {
        found = *read;
        continue;
      }
    }
    if (mistake_) continue;
    const bool is_number = value->kind == ConfigValue::Kind::number;
    mistake_ = wrong(
        name, fmt::format("{}, expected a whole number from 0 to {:g}",
                          is_number ? "got " + value->text : value->described(), largest_size));
  }
  return found;
}

bool HubKeys::flag(std::string_view name, bool standard) {
  const ConfigValue* const value = find(name);
  if (value == nullptr || value->kind != ConfigValue::Kind::boolean) return standard;
  return value->text == "true";
}

std::string HubKeys::text(Names names) {
  std::string found;
  for (const std::string_view name : names) {
    const ConfigValue* const value = find(name);
    if (value == nullptr || value->kind != ConfigValue::Kind::text) continue;
    if (found.empty()) found = value->text;
  }
  return found;
}

const ConfigValue* HubKeys::list(std::string_view name) {
  const ConfigValue* const value = find(name);
  return value != nullptr && value->kind == ConfigValue::Kind::list ? value : nullptr;
}

const ConfigValue* HubKeys::object(std::string_view name) {
  const ConfigValue* const value = find(name);
  return value != nullptr && value->kind == ConfigValue::Kind::object ? value : nullptr;
}

Error HubKeys::wrong(std::string_view key, std::string_view what) const {
  return Error{ErrorCode::bad_config, fmt::format("{}: /{}: {}", where_, key, what)};
}

Status HubKeys::finish() const {
  if (mistake_) return *mistake_;
  for (std::size_t i = 0; i < root_->keys.size(); ++i) {
    const std::string& key = root_->keys[i];
    const auto is_key = [&](std::string_view name) { return name == key; };
    if (std::any_of(known_.begin(), known_.end(), is_key) ||
        std::any_of(left_aside.begin(), left_aside.end(), is_key) ||
        !holds_one_of(key, structural) || holds_one_of(key, harmless) ||
        says_nothing(root_->items[i])) {
      continue;
    }
    return wrong(
        key,
        fmt::format("{}: unsupported layers, expected a transformer of attention and feed-forward",
                    root_->items[i].described()));
  }
  return ok_status();
}

}  // namespace foretrace
