#include "apps/serving/engine.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "models/hardware/catalogue/config_files.h"
#include "models/hardware/catalogue/read_figures.h"
#include "sim/core/params.h"

namespace foretrace {
namespace {

constexpr std::string_view schema = "foretrace.serving_engine/1";
constexpr double most_tokens = 1e7;
constexpr double most_bytes = 1e15;
constexpr double most_queries = 4096;
constexpr std::array<std::string_view, 3> share_names = {"device", "weights", "rest"};

/// The first number of a compute capability: "9", not "9.0".
bool is_major_version(std::string_view text) {
  return !text.empty() && text.size() <= 2 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

Result<ServingEngine> engine_from(const ConfigValue& root, const std::string& path) {
  ServingEngine engine;
  engine.name = std::filesystem::path(path).stem().string();
  ConfigFields fields(root, path);
  fields.text("product", engine.product);
  fields.text("framework", engine.framework);
  if (const ConfigValue* rules = fields.object("steps"); rules != nullptr) {
    ConfigFields inner(*rules, path, "/steps");
    fields.take(read_step_rules(inner, engine.rules));
  }
  if (const ConfigValue* large = fields.optional_object("large_devices"); large != nullptr) {
    ConfigFields inner(*large, path, "/large_devices");
    engine.large_memory = read_positive(inner, "memory", ParamType::bytes, most_bytes);
    engine.large_batched_tokens =
        optional_count(inner, "batched_tokens", most_tokens, engine.rules.batched_tokens);
    engine.large_sequences =
        optional_count(inner, "sequences", most_tokens, engine.rules.sequences);
    inner.optional_texts("except", engine.large_except);
    fields.take(inner.finish());
  }
  engine.memory_share = optional_within(fields, "memory_share", ParamType::number, 1, 0.9);
  engine.memory_share_of =
      static_cast<CacheShare>(optional_word(fields, "memory_share_of", share_names, 0));
  fields.optional_boolean("cache_follows_weights", engine.cache_follows_weights);
  read_ranged(fields, "host_per_step", ParamType::time, engine.host_step_ns);
  read_ranged(fields, "host_per_sequence", ParamType::time, engine.host_sequence_ns);
  read_ranged(fields, "host_per_request", ParamType::time, engine.host_request_ns);
  read_ranged(fields, "host_per_token", ParamType::time, engine.host_token_ns);
  read_ranged(fields, "one_shot_all_reduce", ParamType::time, engine.one_shot_ns);
  if (const ConfigValue* tile = fields.optional_object("query_tile"); tile != nullptr) {
    ConfigFields inner(*tile, path, "/query_tile");
    engine.query_tile = optional_count(inner, "queries", most_queries, engine.query_tile);
    if (!inner.has("queries")) inner.mistake("queries", "missing key, expected a whole number");
    inner.texts("capabilities", engine.tile_capabilities);
    for (const std::string& major : engine.tile_capabilities) {
      if (!is_major_version(major)) {
        inner.mistake("capabilities", fmt::format("got {}, expected a major version such as '8'",
                                                  in_quotes(major)));
      }
    }
    fields.take(inner.finish());
  }
  constexpr std::array<std::string_view, 4> no_figures = {"schema", "product", "framework",
                                                          "sources"};
  engine.sources = read_sources(fields, root, no_figures);
  FORETRACE_TRY(fields.finish());
  return engine;
}

}  // namespace

StepRules ServingEngine::rules_on(const Accelerator& accelerator) const {
  StepRules own = rules;
  const bool excepted =
      std::find(large_except.begin(), large_except.end(), accelerator.name) != large_except.end();
  const auto memory = static_cast<double>(accelerator.memory_bytes);
  if (large_memory > 0 && memory >= large_memory && !excepted) {
    own.batched_tokens = large_batched_tokens;
    own.sequences = large_sequences;
  }
  return own;
}

std::uint32_t ServingEngine::query_tile_on(const Accelerator& accelerator) const {
  if (!accelerator.has_cuda_capability()) return 0;
  const std::string major = std::to_string(accelerator.compute_major);
  const bool has_kernel = std::find(tile_capabilities.begin(), tile_capabilities.end(), major) !=
                          tile_capabilities.end();
  return has_kernel ? query_tile : 0;
}

Status read_step_rules(ConfigFields& fields, StepRules& rules) {
  rules.batched_tokens =
      optional_count(fields, "batched_tokens", most_tokens, rules.batched_tokens);
  rules.sequences = optional_count(fields, "sequences", most_tokens, rules.sequences);
  rules.block_tokens = optional_count(fields, "block_tokens", most_tokens, rules.block_tokens);
  fields.optional_boolean("chunked_prompts", rules.chunks_prompts);
  fields.optional_boolean("mixed_steps", rules.mixes);
  fields.optional_boolean("prefix_cache", rules.keeps_prefixes);
  fields.optional_quantity("reserved_output", ParamType::number, rules.reserved_output);
  if (!(rules.reserved_output >= 0 && rules.reserved_output <= 1)) {
    fields.mistake("reserved_output", "expected a number from 0 to 1");
  }
  return fields.finish();
}

Result<ServingEngine> parse_serving_engine(std::string_view text, const std::string& where) {
  FORETRACE_TRY(auto root, parse_config_document(text, where, schema));
  return engine_from(root, where);
}

Result<ServingEngine> find_serving_engine(const Catalogue& catalogue, std::string_view name) {
  FORETRACE_TRY(auto path, config_path(catalogue.directory(), {"serving engine", "serving"}, name));
  FORETRACE_TRY(const std::string text, read_config_text(path));
  return parse_serving_engine(text, path);
}

std::vector<std::string> serving_engine_names(const Catalogue& catalogue) {
  return config_names(catalogue.directory(), "serving");
}

}  // namespace foretrace
