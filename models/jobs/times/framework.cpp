#include "models/jobs/times/framework.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/hardware/catalogue/config_files.h"
#include "models/hardware/catalogue/read_figures.h"
#include "sim/core/config.h"
#include "sim/core/config_text.h"
#include "sim/core/settings_text.h"

namespace foretrace {
namespace {

constexpr std::string_view schema = "foretrace.framework/1";
constexpr std::array<std::string_view, attention_kernel_count> attention_names = {
    "unfused", "flash1", "flash2", "flash3"};
constexpr double most_bytes = 1e4;
constexpr double most_step_error = 10;
constexpr double most_elements = 1e13;
constexpr double most_host_ns = 1e9;

void read_kernels(ConfigFields& fields, KernelSet& kernels) {
  const ConfigValue* object = fields.object("kernels");
  if (object == nullptr) return;
  ConfigFields inner(*object, fields.file(), fields.pointer_of("kernels"));
  kernels.attention = static_cast<AttentionKernel>(read_word(inner, "attention", attention_names));
  inner.optional_boolean("fused_bias_activation", kernels.fused_bias_activation);
  inner.optional_boolean("fused_dropout_add", kernels.fused_dropout_add);
  inner.optional_boolean("fused_softmax", kernels.fused_softmax);
  inner.optional_boolean("fused_norm", kernels.fused_norm);
  inner.optional_boolean("fused_rope", kernels.fused_rope);
  inner.optional_boolean("packs_qkv", kernels.packs_qkv);
  inner.optional_boolean("fused_token_attention", kernels.fused_token_attention);
  inner.optional_boolean("compiled", kernels.compiled);
  inner.optional_boolean("drops_out", kernels.drops_out);
  inner.optional_boolean("channels_first", kernels.channels_first);
  kernels.activation_kernels = static_cast<std::uint16_t>(
      optional_count(inner, "activation_kernels", 100, kernels.activation_kernels));
  kernels.head_share =
      optional_within(inner, "head_share", ParamType::number, 1, kernels.head_share);
  kernels.loss_forward_bytes = optional_within(inner, "loss_forward_bytes", ParamType::number,
                                               most_bytes, kernels.loss_forward_bytes);
  kernels.loss_backward_bytes = optional_within(inner, "loss_backward_bytes", ParamType::number,
                                                most_bytes, kernels.loss_backward_bytes);
  kernels.loss_kept_bytes = optional_within(inner, "loss_kept_bytes", ParamType::number, most_bytes,
                                            kernels.loss_kept_bytes);
  kernels.divided_loss_kept_bytes = optional_within(
      inner, "divided_loss_kept_bytes", ParamType::number, most_bytes, kernels.loss_kept_bytes);
  inner.optional_boolean("keeps_gathered_inputs", kernels.keeps_gathered_inputs);
  fields.take(inner.finish());
}

void read_product_share(ConfigFields& fields, Framework& framework) {
  const ConfigValue* object = fields.optional_object("product_share");
  if (object == nullptr) return;
  ConfigFields inner(*object, fields.file(), fields.pointer_of("product_share"));
  for (std::size_t i = 0; i < framework.product_share.size(); ++i) {
    const std::string_view name = to_string(static_cast<Generation>(i));
    double& share = framework.product_share[i];
    share = optional_within(inner, name, ParamType::number, 1, share);
    if (!(share > 0)) inner.mistake(name, "got 0, expected more than 0");
  }
  fields.take(inner.finish());
}

// Bytes per parameter: moved in a step, held throughout.
void read_parameters(ConfigFields& fields, Framework& framework) {
  const ConfigValue* object = fields.object("bytes_per_parameter");
  if (object == nullptr) return;
  ConfigFields inner(*object, fields.file(), fields.pointer_of("bytes_per_parameter"));
  const auto read = [&inner](std::string_view key, double& out) {
    out = read_within(inner, key, ParamType::number, most_bytes);
  };
  read("update", framework.update_bytes);
  read("accumulate", framework.accumulate_bytes);
  read("weight", framework.weight_bytes);
  read("gradient", framework.gradient_bytes);
  read("state", framework.state_bytes);
  read("reduce", framework.reduce_bytes);
  read("gather", framework.gather_bytes);
  framework.update_kernels =
      optional_within(inner, "update_kernels", ParamType::number, most_bytes, 0);
  framework.unpack_bytes = optional_within(inner, "unpack", ParamType::number, most_bytes, 0);
  framework.pack_bytes = optional_within(inner, "pack", ParamType::number, most_bytes, 0);
  fields.take(inner.finish());
}

void read_slowdown(ConfigFields& fields, std::string_view key, Ranged& out) {
  read_ranged(fields, key, out);
  if (out.low >= 1) return;
  fields.mistake(key, fmt::format("got low {}, expected at least 1: nothing runs faster beside "
                                  "something else",
                                  out.low));
}

void read_step_host(ConfigFields& fields, StepHost& host) {
  const ConfigValue* object = fields.optional_object("host_per_step");
  if (object == nullptr) return;
  ConfigFields inner(*object, fields.file(), fields.pointer_of("host_per_step"));
  const auto read = [&inner](std::string_view key) {
    return optional_within(inner, key, ParamType::time, longest_time_ns, 0);
  };
  host = {read("fixed"), read("per_sequence"), read("tensor")};
  fields.take(inner.finish());
}

void read_overlap(ConfigFields& fields, Framework& framework) {
  const ConfigValue* object = fields.object("overlap");
  if (object == nullptr) return;
  ConfigFields inner(*object, fields.file(), fields.pointer_of("overlap"));
  inner.optional_boolean("gradients", framework.overlaps_gradients);
  inner.optional_boolean("parameters", framework.overlaps_parameters);
  inner.optional_boolean("tensor_backward", framework.overlaps_tensor);
  inner.optional_boolean("tensor_pieces", framework.pipelines_tensor);
  inner.optional_boolean("experts", framework.overlaps_experts);
  bool sends = !framework.sends_block;
  inner.optional_boolean("sends", sends);
  framework.sends_block = !sends;
  framework.prefetch = optional_count(inner, "prefetch", 1000, framework.prefetch);
  read_slowdown(inner, "communication_slowdown", framework.communication_slowdown);
  read_slowdown(inner, "product_slowdown", framework.product_slowdown);
  read_slowdown(inner, "memory_slowdown", framework.memory_slowdown);
  fields.take(inner.finish());
}

// How sharded parameters travel, where it is not a layer at a time.
void read_travel(ConfigFields& fields, ShardTravel& travel) {
  const ConfigValue* object = fields.optional_object("sharded_tensors");
  if (object == nullptr) return;
  travel.by_tensor = true;
  ConfigFields inner(*object, fields.file(), fields.pointer_of("sharded_tensors"));
  const auto read = [&inner](std::string_view key, double& out) {
    out = optional_within(inner, key, ParamType::number, most_elements, 0);
  };
  read("resident_elements", travel.resident_elements);
  read("prefetch_elements", travel.prefetch_elements);
  read("reuse_elements", travel.reuse_elements);
  travel.host_per_view_ns =
      optional_within(inner, "host_per_view", ParamType::time, most_host_ns, 0);
  travel.host_per_copy_ns =
      optional_within(inner, "host_per_copy", ParamType::time, most_host_ns, 0);
  inner.optional_boolean("waits_for_all", travel.waits_for_all);
  fields.take(inner.finish());
}

// Attention over positions of several ranks, where its pieces cost more than their arithmetic.
void read_context_ring(ConfigFields& fields, ContextRing& ring) {
  const ConfigValue* object = fields.optional_object("context_ring");
  if (object == nullptr) return;
  ConfigFields inner(*object, fields.file(), fields.pointer_of("context_ring"));
  inner.optional_boolean("gathers", ring.gathers);
  inner.optional_boolean("repeats_keys", ring.repeats_keys);
  const auto read = [&inner](std::string_view key, double& out) {
    out = optional_within(inner, key, ParamType::number, most_bytes, out);
  };
  read("forward_outputs", ring.forward_outputs);
  read("forward_keys", ring.forward_keys);
  read("backward_outputs", ring.backward_outputs);
  read("backward_keys", ring.backward_keys);
  read("gradient_bytes", ring.gradient_bytes);
  fields.take(inner.finish());
}

void read_step_error(ConfigFields& fields, Framework& framework) {
  const ConfigValue* object = fields.optional_object("step_error");
  if (object == nullptr) return;
  ConfigFields inner(*object, fields.file(), fields.pointer_of("step_error"));
  const auto read = [&inner](std::string_view key, double& out) {
    out = optional_within(inner, key, ParamType::number, most_step_error, out);
  };
  read("dense", framework.step_error);
  read("experts", framework.expert_step_error);
  fields.take(inner.finish());
}

void read_platforms(ConfigFields& fields, Framework& framework) {
  const auto read = [&fields](std::string_view key, std::vector<std::string>& out,
                              std::span<const std::string_view> words) {
    fields.optional_texts(key, out);
    for (const std::string& one : out) {
      if (std::find(words.begin(), words.end(), one) != words.end()) continue;
      fields.mistake(key, fmt::format("got '{}', expected {}", one, fmt::join(words, ", ")));
    }
  };
  read("runs_on", framework.runs_on, platform_words);
  const std::vector<std::string_view> known(framework.runs_on.begin(), framework.runs_on.end());
  read("usual_on", framework.usual_on, known);
}

constexpr std::size_t most_bases = 8;

// A file may name another one that it is like, of its folder or of `directory`, and say what differs
// alone.
Result<ConfigValue> with_base(ConfigValue root, const std::string& path,
                              const std::string& directory, std::size_t depth = 0) {
  const ConfigValue* const like = root.find("like");
  if (like == nullptr) return root;
  const ConfigValue name = *like;
  if (name.kind != ConfigValue::Kind::text || names_file(name.text)) {
    return Error{
        ErrorCode::bad_config,
        fmt::format("{}: /like: {}, expected the name of a framework", path, name.described())};
  }
  std::string file = (std::filesystem::path(path).parent_path() / (name.text + ".json")).string();
  // One's own file may be called as the one of the catalogue that it is like.
  if (std::error_code ignored; !std::filesystem::is_regular_file(file, ignored) ||
                               std::filesystem::equivalent(file, path, ignored)) {
    FORETRACE_TRY(file, config_path(directory, {"framework", "frameworks"}, name.text)
                            .with_context(path + ": /like"));
  }
  if (depth == most_bases) {
    return Error{ErrorCode::bad_config,
                 fmt::format("{}: /like: got '{}', expected at most {} frameworks that are each "
                             "like the next one",
                             path, name.text, most_bases)};
  }
  FORETRACE_TRY(auto own, read_config(file, schema));
  FORETRACE_TRY(auto base, with_base(std::move(own), file, directory, depth + 1));
  erase_member(root, "like");
  erase_member(base, "usual_on");
  merge_members(base, root);
  return base;
}

constexpr std::array<std::string_view, 4> no_figures = {"schema", "product", "usual_on", "sources"};

Result<Framework> framework_from(const ConfigValue& root, const std::string& path) {
  Framework framework;
  framework.name = std::filesystem::path(path).stem().string();
  ConfigFields fields(root, path);
  fields.text("product", framework.product);
  read_platforms(fields, framework);
  read_kernels(fields, framework.kernels);
  read_product_share(fields, framework);
  read_ranged(fields, "host_per_kernel", ParamType::time, framework.host_kernel_ns);
  read_step_host(fields, framework.step_host);
  read_parameters(fields, framework);
  read_overlap(fields, framework);
  fields.optional_boolean("scatters_sends", framework.scatters_sends);
  fields.optional_boolean("copies_pieces", framework.copies_pieces);
  fields.optional_boolean("gathers_8_bit", framework.gathers_8_bit);
  fields.optional_boolean("forwards_tokens", framework.forwards_tokens);
  fields.optional_boolean("reshards_after_forward", framework.reshards_after_forward);
  fields.optional_boolean("pipeline_keeps_collected", framework.pipeline_keeps_collected);
  fields.optional_boolean("pipeline_keeps_messages", framework.pipeline_keeps_messages);
  fields.optional_boolean("reserves_segments", framework.reserves_segments);
  fields.optional_boolean("balances_context", framework.balances_context);
  fields.optional_boolean("recompute_stops_early", framework.recompute_stops_early);
  fields.optional_boolean("autocasts", framework.autocasts);
  framework.vocabulary_multiple = optional_count(fields, "vocabulary_multiple", 1e6, 1);
  framework.cast_bytes =
      optional_within(fields, "cast_bytes", ParamType::number, most_bytes, framework.cast_bytes);
  read_travel(fields, framework.travel);
  read_context_ring(fields, framework.context_ring);
  read_step_error(fields, framework);
  framework.sources = read_sources(fields, root, no_figures);
  FORETRACE_TRY(fields.finish());
  return framework;
}

/// One value, however it is written: "2" and "2.0", "1 ms" and "1000 us".
bool is_same_value(std::string_view a, std::string_view b) {
  constexpr std::array types = {ParamType::number, ParamType::time, ParamType::bytes,
                                ParamType::bandwidth};
  return a == b || std::any_of(types.begin(), types.end(), [&](ParamType type) {
           const auto first = parse_quantity(a, type);
           const auto second = parse_quantity(b, type);
           return first.ok() && second.ok() && *first == *second;
         });
}

// "reduce=2,prefetch=1": fields of the file and of the parts that hold single figures. False: all
// figures are what they were.
Result<bool> change_fields(ConfigValue& root, std::string_view changes) {
  if (changes.empty()) return false;
  bool differs = false;
  FORETRACE_TRY(const NamedSettings settings,
                parse_named_settings("framework", fmt::format("framework:{}", changes)));
  constexpr std::array<std::string_view, 3> parts = {"bytes_per_parameter", "overlap", "kernels"};
  for (const auto& [key, text] : settings.parameters) {
    FORETRACE_TRY(const ChangedField change, change_field(root, parts, key, text));
    const bool is_figure = std::find(no_figures.begin(), no_figures.end(), key) == no_figures.end();
    differs = differs || (is_figure && !is_same_value(change.before, text));
  }
  return differs;
}

struct ReadFramework {
  Framework framework;
  bool differs = false;  ///< from what the file says
};

Result<ReadFramework> read_framework(const Catalogue& catalogue, std::string_view text,
                                     const std::string& where, std::string_view changes) {
  FORETRACE_TRY(auto own, parse_config_document(text, where, schema));
  FORETRACE_TRY(auto root, with_base(std::move(own), where, catalogue.directory()));
  FORETRACE_TRY(const bool differs, change_fields(root, changes).with_context(where));
  FORETRACE_TRY(auto framework, framework_from(root, where));
  framework.evidence = catalogue.evidence();
  return ReadFramework{std::move(framework), differs};
}

}  // namespace

Result<Framework> parse_framework(const Catalogue& catalogue, std::string_view text,
                                  const std::string& where, std::string_view changes) {
  FORETRACE_TRY(auto read, read_framework(catalogue, text, where, changes));
  return std::move(read.framework);
}

Result<Framework> find_framework(const Catalogue& catalogue, std::string_view name) {
  const std::string_view base = without_changes(name);
  const std::string_view changes = name.substr(base.size());
  FORETRACE_TRY(auto path, config_path(catalogue.directory(), {"framework", "frameworks"}, base));
  FORETRACE_TRY(const std::string text, read_config_text(path));
  FORETRACE_TRY(auto read, read_framework(catalogue, text, path,
                                          changes.empty() ? changes : changes.substr(1)));
  // With a field set to what it is, it is the same framework, and evidence of it holds.
  if (read.differs) read.framework.name += changes;
  return std::move(read.framework);
}

std::shared_ptr<const Framework> computing_in(const Precisions& precisions,
                                              const std::shared_ptr<const Framework>& framework) {
  constexpr double number = 4;
  constexpr double two_moments = 2 * number;
  if (!is_32_bit(precisions)) return framework;
  const Framework& own = *framework;
  const auto is_short = [&](double bytes) { return bytes > 0 && bytes < number; };
  const bool casts = own.autocasts && own.weight_bytes > number;
  if (!casts && !is_short(own.weight_bytes) && !is_short(own.gradient_bytes) &&
      !is_short(own.reduce_bytes) && !is_short(own.gather_bytes)) {
    return framework;
  }
  auto made = std::make_shared<Framework>(own);
  // Beside weights of 16 bit.
  if (is_short(own.weight_bytes)) made->state_bytes = std::min(own.state_bytes, two_moments);
  if (is_short(own.gather_bytes)) {
    made->unpack_bytes *= number / own.gather_bytes;
    if (own.pack_bytes > 0) made->pack_bytes += number - own.gather_bytes;
  }
  for (double* const bytes :
       {&made->weight_bytes, &made->gradient_bytes, &made->reduce_bytes, &made->gather_bytes}) {
    if (is_short(*bytes)) *bytes = number;
  }
  // An autocast holds its casts of weights until the pass ends.
  if (casts) made->weight_bytes = number;
  return made;
}

std::vector<std::string> framework_names(const Catalogue& catalogue) {
  return config_names(catalogue.directory(), "frameworks");
}

std::string_view platform_of(const Accelerator& accelerator) {
  constexpr std::array<std::string_view, platform_words.size()> makers = {
      "NVIDIA ", "AMD Instinct ", "Google TPU "};
  for (std::size_t i = 0; i < makers.size(); ++i) {
    if (accelerator.product.starts_with(makers[i])) return platform_words[i];
  }
  return {};
}

bool runs_on(const Framework& framework, const Accelerator& accelerator) {
  const auto& all = framework.runs_on;
  return all.empty() || std::find(all.begin(), all.end(), platform_of(accelerator)) != all.end();
}

}  // namespace foretrace
