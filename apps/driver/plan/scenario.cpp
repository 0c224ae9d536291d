// Reads scenarios. Names are looked up where they stand, so that every mistake has its place.
#include "apps/driver/plan/scenario.h"

#include <algorithm>
#include <array>
#include <system_error>

#include <fmt/format.h>

#include "apps/driver/plan/calculon_execution.h"
#include "apps/driver/plan/complete_scenario.h"
#include "apps/driver/plan/scenario_files.h"
#include "models/execution/exec_model.h"
#include "models/networks/read_figures.h"
#include "sim/core/params.h"

namespace foretrace::driver {
namespace {

constexpr double most_ranks = 1e6;
constexpr double most_tokens = 1e8;
// With more a rank a few deviations from the mean would take no time at all.
constexpr double most_jitter = 0.2;
constexpr std::array<std::string_view, 4> shardings = {"none", "optimizer", "gradients",
                                                       "parameters"};
constexpr std::array<std::string_view, 3> context_kinds = {"ring", "all_gather", "all_to_all"};
constexpr std::array<std::string_view, 4> recomputes = {"none", "selective", "full", "operators"};
constexpr std::array<std::string_view, 3> passes = {"training", "prefill", "decode"};
constexpr std::array<std::string_view, 6> precision_names = {"fp32", "tf32", "fp16",
                                                             "bf16", "fp8",  "int8"};

/// Where names of a scenario are looked up, and which of them were files.
struct Names {
  const Catalogue& catalogue;
  std::vector<std::string>& files;
};

template <typename Value>
using Finder = Result<Value> (*)(const Catalogue& catalogue, std::string_view name);
/// Looks a name up; what it finds wrong is a mistake at this key.
template <typename Value>
std::shared_ptr<const Value> looked_up(ConfigFields& fields, std::string_view key,
                                       Finder<Value> find, const Names& names,
                                       NamedParts<Value>& known) {
  std::string name;
  fields.text(key, name);
  if (name.empty()) return nullptr;
  if (name.find('/') != std::string::npos || name.ends_with(".json")) names.files.push_back(name);
  if (const auto before = known.find(name); before != known.end()) return before->second;
  auto found = find(names.catalogue, name);
  if (!found.ok()) {
    fields.mistake(key, found.error().message);
    return nullptr;
  }
  return known.emplace(name, std::make_shared<const Value>(std::move(*found))).first->second;
}

void read_workload(ConfigFields& fields, const Names& names, ScenarioParts& parts,
                   Scenario& scenario) {
  const ConfigValue* object = fields.object("workload");
  if (object == nullptr) return;
  ConfigFields inner(*object, fields.file(), fields.pointer_of("workload"));
  scenario.model = looked_up<ModelSpec>(inner, "model", find_model, names, parts.models);
  const double usual = scenario.model != nullptr ? scenario.model->transformer.positions : 2048;
  Job& job = scenario.job;
  job.length = optional_count(inner, "sequence", most_tokens, static_cast<std::uint32_t>(usual));
  job.pass = static_cast<Pass>(optional_word(inner, "pass", passes, 0));
  job.keys = optional_count(inner, "context", most_tokens, static_cast<std::uint32_t>(job.length));
  fields.take(inner.finish());
}

/// One accelerator without a network, of the catalogue or of a file.
Result<Cluster> one_accelerator(const Catalogue& catalogue, std::string_view name) {
  Catalogue known = catalogue;
  if (name.ends_with(".json")) {
    if (Status added = known.add_file("accelerators", std::string(name)); !added.ok()) {
      return std::move(added).error();
    }
  }
  const auto alone = lone_accelerator(known, name);
  if (!alone.ok()) return alone.error();
  Cluster cluster = **alone;
  cluster.name = cluster.accelerator.name;
  cluster.machine = cluster.accelerator.product;
  cluster.price_per_hour = 0;
  return cluster;
}

void read_cluster(ConfigFields& fields, const Names& names, ScenarioParts& parts,
                  Scenario& scenario) {
  if (!fields.has("accelerator")) {
    scenario.cluster = looked_up<Cluster>(fields, "cluster", find_cluster, names, parts.clusters);
  } else {
    scenario.cluster =
        looked_up<Cluster>(fields, "accelerator", one_accelerator, names, parts.accelerators);
    if (fields.has("cluster")) {
      std::string other;
      fields.text("cluster", other);
      fields.mistake("cluster", "got both, expected either a cluster or one accelerator");
    }
  }
  const ConfigValue* object = fields.optional_object("exec_model");
  if (object == nullptr || scenario.cluster == nullptr) return;
  const auto& stated = scenario.cluster->accelerator.exec_model;
  auto model = stated != nullptr ? stated->changed_by(*object) : ExecModel::read(*object);
  if (!model.ok()) return fields.mistake("exec_model", model.error().message);
  // Who computes many scenarios tells clusters apart by where they are.
  auto& changed =
      parts.changed[fmt::format("{} {}", fmt::ptr(scenario.cluster.get()), model->text())];
  if (changed == nullptr) {
    Cluster copy = *scenario.cluster;
    copy.accelerator.exec_model = std::make_shared<const ExecModel>(*std::move(model));
    changed = std::make_shared<const Cluster>(std::move(copy));
  }
  scenario.cluster = changed;
}

void read_parallelism(ConfigFields& fields, ParallelPlan& plan) {
  const ConfigValue* object = fields.optional_object("parallelism");
  if (object == nullptr) return;
  ConfigFields inner(*object, fields.file(), fields.pointer_of("parallelism"));
  const auto size = [&inner](std::string_view key) {
    return optional_count(inner, key, most_ranks, 1);
  };
  plan.data = size("data");
  plan.tensor = size("tensor");
  plan.pipeline = size("pipeline");
  plan.context = size("context");
  plan.expert = size("expert");
  plan.expert_tensor = size("expert_tensor");
  inner.optional_boolean("sequence", plan.sequence);
  plan.sharding = static_cast<Sharding>(optional_word(inner, "sharding", shardings, 0));
  plan.shard_size = optional_count(inner, "shard_size", most_ranks, 0);
  plan.context_kind =
      static_cast<ContextKind>(optional_word(inner, "context_kind", context_kinds, 0));
  inner.optional_boolean("balances_context", plan.balances_context);
  fields.take(inner.finish());
}

void read_schedule(ConfigFields& fields, Job& job) {
  const ConfigValue* object = fields.optional_object("schedule");
  std::string name = "1f1b";
  if (object != nullptr) {
    ConfigFields inner(*object, fields.file(), fields.pointer_of("schedule"));
    inner.text("kind", name);
    job.chunks = optional_count(inner, "chunks", 1024, 1);
    if (const auto found = find_schedule(name); !found.ok() && !name.empty()) {
      std::string message = found.error().message;
      constexpr std::string_view prefix = "schedule: ";
      inner.mistake("kind", message.substr(message.starts_with(prefix) ? prefix.size() : 0));
    }
    fields.take(inner.finish());
  }
  if (const auto found = find_schedule(name); found.ok()) job.schedule = *found;
}

void read_batch(ConfigFields& fields, Job& job) {
  const ConfigValue* object = fields.object("batch");
  if (object == nullptr) return;
  ConfigFields inner(*object, fields.file(), fields.pointer_of("batch"));
  job.global_batch = read_count(inner, "global", 1e9);
  job.micro_batch = optional_count(inner, "micro", 1e9, 1);
  fields.take(inner.finish());
}

void read_jitter(ConfigFields& fields, std::optional<Jitter>& jitter) {
  const ConfigValue* object = fields.optional_object("jitter");
  if (object == nullptr) return;
  ConfigFields inner(*object, fields.file(), fields.pointer_of("jitter"));
  Jitter read;
  read.ranks = optional_within(inner, "ranks", ParamType::number, most_jitter, read.ranks);
  read.passes = optional_within(inner, "passes", ParamType::number, most_jitter, read.passes);
  read.seed = static_cast<std::uint64_t>(
      optional_within(inner, "seed", ParamType::integer, largest_seed, 1));
  fields.take(inner.finish());
  jitter = read;
}

// A file of Calculon instead of parallelism, schedule, batch, precision and recomputation.
void read_execution(ConfigFields& fields, const Names& names, Job& job) {
  std::string file;
  fields.text("execution", file);
  if (file.empty()) return;
  names.files.push_back(file);
  if (Status status = read_calculon_execution(file, job); !status.ok()) {
    fields.mistake("execution", status.error().message);
  }
}

Result<Scenario> scenario_from(const Catalogue& catalogue, ConfigValue root,
                               const std::string& path) {
  place_files_of(path, root);
  ScenarioParts parts;
  auto scenario = scenario_of(catalogue, root, path, parts);
  if (!scenario.ok()) return scenario;
  auto complete = complete_scenario(std::move(*scenario));
  if (!complete.ok()) return std::move(complete).error().with_context(path);
  return complete;
}

}  // namespace

Result<Scenario> scenario_of(const Catalogue& catalogue, const ConfigValue& document,
                             const std::string& where, ScenarioParts& parts) {
  Scenario scenario;
  const Names names{catalogue, scenario.files};
  scenario.path = where;
  ConfigFields fields(document, where);
  read_workload(fields, names, parts, scenario);
  read_cluster(fields, names, parts, scenario);
  scenario.framework =
      looked_up<Framework>(fields, "framework", find_framework, names, parts.frameworks);
  if (fields.has("execution")) {
    read_execution(fields, names, scenario.job);
  } else {
    scenario.job.precisions =
        *precisions_of(precision_names[optional_word(fields, "precision", precision_names, 3)]);
    read_parallelism(fields, scenario.job.plan);
    read_schedule(fields, scenario.job);
    read_batch(fields, scenario.job);
    scenario.job.recompute =
        static_cast<Recompute>(optional_word(fields, "recompute", recomputes, 0));
  }
  read_jitter(fields, scenario.jitter);
  if (auto status = fields.finish(); !status) return std::move(status).error();
  return scenario;
}

Status check_ranks_alike(const Scenario& scenario) {
  if (!scenario.jitter) return ok_status();
  return Error{ErrorCode::bad_config,
               "/jitter: got ranks that differ, expected none: only simulate takes them"};
}

Result<Precisions> precisions_of(std::string_view name) {
  if (name == "fp32") return Precisions{Precision::fp32, false};
  if (name == "tf32") return Precisions{Precision::tf32, false};
  if (name == "fp16") return Precisions{Precision::fp16, false};
  if (name == "bf16") return Precisions{Precision::bf16, false};
  if (name == "fp8") return Precisions{Precision::bf16, true};
  if (name == "int8") return Precisions{Precision::int8, false};
  return Error{ErrorCode::bad_config,
               fmt::format("precision: got {}{}, expected one of {}", in_quotes(name),
                           did_you_mean(name, precision_names), fmt::join(precision_names, ", "))};
}

Result<Scenario> complete_scenario(Scenario scenario) {
  ScenarioCompletion completion;
  if (Status status = completion.complete(scenario); !status.ok()) {
    return std::move(status).error();
  }
  return scenario;
}

bool is_scenario_file(const std::string& path) { return names_schema(path, "foretrace.scenario/"); }

Result<Scenario> parse_scenario(const Catalogue& catalogue, std::string_view text,
                                const std::string& where) {
  auto root = parse_config_document(text, where, scenario_schema);
  if (!root) return std::move(root).error();
  return scenario_from(catalogue, *std::move(root), where);
}

Result<Scenario> read_scenario_of_alike_ranks(const Catalogue& catalogue, const std::string& path) {
  auto scenario = read_scenario(catalogue, path);
  if (!scenario.ok()) return scenario;
  if (const Status alike = check_ranks_alike(*scenario); !alike) {
    return Error(alike.error()).with_context(path);
  }
  return scenario;
}

Result<Scenario> read_scenario(const Catalogue& catalogue, const std::string& path) {
  auto root = read_config(path, scenario_schema);
  if (!root) return std::move(root).error();
  return scenario_from(catalogue, *std::move(root), path);
}

}  // namespace foretrace::driver
