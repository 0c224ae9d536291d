#include "apps/session/scenario/node_scenario.h"

#include <string_view>
#include <utility>

#include "models/hardware/catalogue/read_figures.h"
#include "models/jobs/scenario/scenario.h"
#include "models/jobs/scenario/scenario_files.h"
#include "sim/core/config_json.h"

namespace foretrace {
namespace {

constexpr double most_rate = 1e21;  // per second
constexpr std::size_t most_groups = std::size_t{1} << 14U;

void read_workload(ConfigFields& fields, NodeScenario& scenario) {
  const ConfigValue* object = fields.object("workload");
  if (object == nullptr) return;
  ConfigFields inner(*object, fields.file(), fields.pointer_of("workload"));
  const ConfigValue* const traces = object->find("chakra");
  if (traces->kind == ConfigValue::Kind::list) {
    inner.texts("chakra", scenario.traces);
    if (scenario.traces.empty()) inner.mistake("chakra", "got no files, expected one per rank");
  } else {
    inner.text("chakra", scenario.traces.emplace_back());
  }
  inner.optional_text("groups", scenario.groups);
  for (const std::string_view key : {"model", "trace"}) {
    if (inner.optional_value(key) != nullptr) {
      inner.mistake(key, "cannot be used with chakra, expected one of the two");
    }
  }
  scenario.costs.operations_per_second =
      optional_within(inner, "compute_rate", ParamType::flops, most_rate, 0);
  scenario.costs.memory_bytes_per_second =
      optional_within(inner, "memory_bandwidth", ParamType::bandwidth, most_rate, 0);
  fields.take(inner.finish());
}

Result<std::optional<NodeScenario>> scenario_of(const Catalogue& catalogue, const ConfigValue& root,
                                                const std::string& where) {
  if (!has_chakra(root)) return std::optional<NodeScenario>{};
  NodeScenario scenario;
  scenario.path = where;
  ConfigFields fields(root, where);
  std::string cluster;
  fields.text("cluster", cluster);
  read_workload(fields, scenario);
  for (const std::string_view key :
       {"framework", "precision", "recompute", "schedule", "parallelism", "batch"}) {
    if (fields.optional_value(key) != nullptr) {
      fields.mistake(
          key,
          "cannot be used with traces of ranks, which have their own; expected it with a model");
    }
  }
  FORETRACE_TRY(fields.finish());
  auto found = find_cluster(catalogue, cluster);
  if (!found.ok()) return std::move(found).error().with_context(where + ": /cluster");
  scenario.cluster = std::move(*found);
  return std::optional(std::move(scenario));
}

}  // namespace

Result<std::optional<NodeScenario>> parse_node_scenario(const Catalogue& catalogue,
                                                        const std::string& text,
                                                        const std::string& where) {
  FORETRACE_TRY(auto root, parse_config_document(text, where, scenario_schema));
  place_files_of(where, root);
  return scenario_of(catalogue, root, where);
}

Result<std::optional<NodeScenario>> read_node_scenario(const Catalogue& catalogue,
                                                       const std::string& path) {
  FORETRACE_TRY(auto root, read_config(path, scenario_schema));
  place_files_of(path, root);
  return scenario_of(catalogue, root, path);
}

Result<trace::GroupList> read_group_list(const std::string& path) {
  FORETRACE_TRY(const auto text, read_config_text(path));
  FORETRACE_TRY(auto root, parse_config_of(most_groups, text).with_context(path));
  const ConfigValue no_keys;  // nothing but mistakes is told
  ConfigFields fields(no_keys, path);
  if (root.kind != ConfigValue::Kind::object) {
    fields.mistake(
        "", root.described() + R"(, expected groups with their ranks: {"1": [0, 1], "2": [2, 3]})");
    return fields.finish().error();
  }
  trace::GroupList list;
  for (std::size_t i = 0; i < root.items.size(); ++i) {
    auto members = trace::ranks_in(root.items[i]);
    if (members.ok() && !members->empty()) {
      list.emplace(root.keys[i], std::move(*members));
      continue;
    }
    fields.mistake(root.keys[i],
                   members.ok() ? "got an empty list, expected ranks" : members.error().message);
    return fields.finish().error();
  }
  return list;
}

}  // namespace foretrace
