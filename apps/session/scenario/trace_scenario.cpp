#include "apps/session/scenario/trace_scenario.h"

#include <array>

#include <fmt/format.h>

#include "models/hardware/catalogue/read_figures.h"
#include "models/jobs/scenario/scenario.h"
#include "models/jobs/scenario/scenario_files.h"
#include "sim/core/config.h"

namespace foretrace {
namespace {

constexpr double most_group = 1e6;
constexpr double most_layers = 1e5;
constexpr double most_micro_batches = 65536;
constexpr std::array<std::string_view, 4> zero_stages = {"none", "optimizer", "gradients",
                                                         "parameters"};

/// "key=value,..." of what differs from the usual.
class GroupSettings {
 public:
  void add(std::string_view key, std::uint32_t value, std::uint32_t usual) {
    if (value != usual) add(key, fmt::format("{}", value));
  }
  void add(std::string_view key, std::string_view value) {
    text_ += fmt::format("{}{}={}", text_.empty() ? "" : ",", key, value);
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

void read_groups(ConfigFields& fields, GroupSettings& settings) {
  const ConfigValue* object = fields.optional_object("parallelism");
  if (object == nullptr) return;
  ConfigFields inner(*object, fields.file(), fields.pointer_of("parallelism"));
  for (const std::string_view key : {"data", "tensor", "pipeline"}) {
    settings.add(key, optional_count(inner, key, most_group, 1), 1);
  }
  bool sequence = false;
  inner.optional_boolean("sequence", sequence);
  if (sequence) settings.add("sequence", "true");
  settings.add("zero", static_cast<std::uint32_t>(optional_word(inner, "sharding", zero_stages, 0)),
               0);
  fields.take(inner.finish());
}

void read_micro_batches(ConfigFields& fields, GroupSettings& settings) {
  const ConfigValue* object = fields.optional_object("batch");
  if (object == nullptr) return;
  ConfigFields inner(*object, fields.file(), fields.pointer_of("batch"));
  for (const std::string_view key : {"global", "micro"}) {
    if (inner.optional_value(key) != nullptr) {
      inner.mistake(key,
                    "cannot be used with a trace, whose batch is recorded; expected micro_batches");
    }
  }
  settings.add("micro_batches", optional_count(inner, "micro_batches", most_micro_batches, 0), 0);
  fields.take(inner.finish());
}

}  // namespace

Result<std::optional<TraceScenario>> trace_scenario_of(const ConfigValue& root,
                                                       const std::string& where) {
  if (!has_trace(root)) return std::optional<TraceScenario>{};
  const ConfigValue* workload = root.find("workload");
  TraceScenario scenario;
  GroupSettings settings;
  ConfigFields fields(root, where);
  ConfigFields inner(*workload, where, "/workload");
  if (inner.optional_value("model") != nullptr) {
    inner.mistake("model", "cannot be used with a trace, expected one of the two");
  }
  inner.text("trace", scenario.trace);
  const std::uint32_t layers = optional_count(inner, "layers", most_layers, 0);
  static_cast<void>(fields.object("workload"));
  fields.take(inner.finish());
  fields.text("cluster", scenario.cluster);
  for (const std::string_view key : {"framework", "precision", "recompute", "schedule"}) {
    if (fields.optional_value(key) != nullptr) {
      fields.mistake(key,
                     "cannot be used with a trace, which has its own; expected it with a model");
    }
  }
  read_groups(fields, settings);
  read_micro_batches(fields, settings);
  settings.add("layers", layers, 0);
  FORETRACE_TRY(fields.finish());
  scenario.settings = settings.text();
  return std::optional(std::move(scenario));
}

Result<std::optional<TraceScenario>> parse_trace_scenario(const std::string& text,
                                                          const std::string& where) {
  FORETRACE_TRY(auto root, parse_config_document(text, where, scenario_schema));
  place_files_of(where, root);
  return trace_scenario_of(root, where);
}

Result<std::optional<TraceScenario>> read_trace_scenario(const std::string& path) {
  FORETRACE_TRY(auto root, read_config(path, scenario_schema));
  place_files_of(path, root);
  return trace_scenario_of(root, path);
}

Result<std::vector<WhatIf>> spread_stack(const Recording& recording, const std::string& settings,
                                         const Cluster& cluster, const std::string& cluster_name) {
  std::vector<WhatIfSpec> specs;
  if (!settings.empty()) {  // else it stays on one device
    FORETRACE_TRY(auto spec, spread_over(settings, cluster_name));
    specs.push_back(std::move(spec));
  }
  const std::optional<Accelerator>& own = recording.accelerator;
  if (own.has_value() && own->name != cluster.accelerator.name) {
    specs.push_back(swap_to(cluster.accelerator.name));
  }
  return check_stack(specs);
}

Result<std::vector<WhatIf>> spread_stack(const Recording& recording, const Catalogue& catalogue,
                                         const TraceScenario& scenario) {
  FORETRACE_TRY(const auto cluster, find_cluster(catalogue, scenario.cluster));
  return spread_stack(recording, scenario.settings, cluster, scenario.cluster);
}

}  // namespace foretrace
