// Reads scenarios. Names are looked up where they stand, so that every mistake has its place.
#include "models/jobs/scenario/scenario.h"

#include <algorithm>
#include <array>
#include <system_error>

#include <fmt/format.h>

#include "models/hardware/catalogue/config_files.h"
#include "models/hardware/catalogue/imported_file.h"
#include "models/hardware/catalogue/read_figures.h"
#include "models/hardware/execution/exec_model.h"
#include "models/jobs/imports/calculon_execution.h"
#include "models/jobs/imports/vtrain_execution.h"
#include "models/jobs/scenario/complete_scenario.h"
#include "models/jobs/scenario/field_reader.h"
#include "models/jobs/scenario/gradient_sums.h"
#include "models/jobs/scenario/job_fields.h"
#include "models/jobs/scenario/scenario_files.h"
#include "models/jobs/workloads/layered.h"
#include "sim/core/config_text.h"
#include "sim/core/params.h"

namespace foretrace {
namespace {

// With more a rank a few deviations from the mean would take no time at all.
constexpr double most_jitter = 0.2;

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
  if (names_file(name)) names.files.push_back(name);
  if (const auto before = known.find(name); before != known.end()) return before->second;
  auto found = find(names.catalogue, name);
  if (!found.ok()) {
    fields.mistake(key, found.error().message);
    return nullptr;
  }
  return known.emplace(name, std::make_shared<const Value>(std::move(*found))).first->second;
}

/// A name, or the model itself: equal ones are read once, as equal names are.
std::shared_ptr<const ModelSpec> read_model(ConfigFields& fields, const Names& names,
                                            const ConfigValue& workload, ScenarioParts& parts) {
  const ConfigValue* const stated = workload.find("model");
  if (stated == nullptr || stated->kind != ConfigValue::Kind::object) {
    return looked_up<ModelSpec>(fields, "model", find_model, names, parts.models);
  }
  auto& known = parts.inline_models[json_text(*fields.object("model"))];
  if (known != nullptr) return known;
  auto read = inline_model(*stated, fields.file(), fields.pointer_of("model"));
  if (!read.ok()) {
    fields.take(read.error());
    return nullptr;
  }
  return known = std::make_shared<const ModelSpec>(std::move(*read));
}

/// One like any other where the model is a mistake.
const TransformerSpec& transformer_of(const Scenario& scenario) {
  static const TransformerSpec unknown;
  return scenario.model != nullptr ? scenario.model->transformer : unknown;
}

void read_workload(ConfigFields& fields, const Names& names, ScenarioParts& parts,
                   Scenario& scenario) {
  const ConfigValue* object = fields.object("workload");
  if (object == nullptr) return;
  ConfigFields inner(*object, fields.file(), fields.pointer_of("workload"));
  if (object->find("chakra") != nullptr) {
    fields.mistake(
        "workload",
        "contains execution traces of ranks, which only 'simulate' runs; expected a model");
    return;
  }
  scenario.model = read_model(inner, names, *object, parts);
  FieldReader reader(inner);
  workload_fields(reader, scenario.job, transformer_of(scenario));
  fields.take(inner.finish());
}

/// One accelerator without a network, of the catalogue or of a file.
Result<Cluster> one_accelerator(const Catalogue& catalogue, std::string_view name) {
  FORETRACE_TRY(const auto alone, lone_accelerator(catalogue, name));
  return *alone;
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
  read_aggregation(fields, parts, scenario);
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

// [{"layers": 10, "data": 2, "tensor": 4, "sharding": "optimizer", "recompute": "full"}, ...]: by
// position; a stage that says one of the last four has ranks of its own, and so have all.
void read_stages(ConfigFields& inner, Job& job) {
  const ConfigValue* list = inner.optional_objects("stages");
  bool own_ranks = false;
  for (std::size_t i = 0; list != nullptr && i < list->items.size(); ++i) {
    ConfigFields stage(list->items[i], inner.file(),
                       fmt::format("{}/{}", inner.pointer_of("stages"), i));
    for (const char* const key : {"data", "tensor", "sharding", "recompute"}) {
      own_ranks = own_ranks || stage.has(key);
    }
    StageShare share;
    FieldReader reader(stage);
    stage_fields(reader, share, {.data = 1, .recompute = job.recompute});
    inner.take(stage.finish());
    job.stages.push_back(share);
  }
  for (StageShare& share : job.stages) {
    if (!own_ranks) share = {.layers = share.layers};
  }
}

double recorded_weights(const TransformerSpec& spec) {
  double weights = 0;
  for (const LayerGroup& group : spec.layered->groups) {
    for (const LayerOperator& op : group.operators) weights += op.weights;
  }
  return weights;
}

/// Of a recording that states no weights: nothing is launched, updated or held beside its times.
std::shared_ptr<const Framework> recorded_framework() {
  auto framework = std::make_shared<Framework>();
  framework->name = "recorded";
  framework->product = "no framework: the times of the recording";
  framework->update_bytes = framework->weight_bytes = framework->gradient_bytes = 0;
  framework->state_bytes = framework->reduce_bytes = framework->gather_bytes = 0;
  return framework;
}

void read_parallelism(ConfigFields& fields, const TransformerSpec& model, Job& job) {
  ParallelPlan usual = unstated_plan(model);
  job.plan = usual;
  const ConfigValue* object = fields.optional_object("parallelism");
  if (object == nullptr) return;
  ConfigFields inner(*object, fields.file(), fields.pointer_of("parallelism"));
  read_stages(inner, job);
  usual.pipeline = unstated_pipeline(job);
  FieldReader reader(inner);
  plan_fields(reader, job.plan, usual);
  fields.take(inner.finish());
}

void read_schedule(ConfigFields& fields, Job& job) {
  if (const auto usual = find_schedule(job_fields::usual_schedule); usual.ok())
    job.schedule = *usual;
  const ConfigValue* object = fields.optional_object("schedule");
  if (object == nullptr) return;
  ConfigFields inner(*object, fields.file(), fields.pointer_of("schedule"));
  FieldReader reader(inner);
  schedule_fields(reader, job);
  fields.take(inner.finish());
}

/// A recording without one has a micro-batch per data rank, as it was recorded.
void read_batch(ConfigFields& fields, bool is_recorded, Job& job) {
  job.global_batch = job.plan.data;
  const ConfigValue* object =
      is_recorded ? fields.optional_object("batch") : fields.object("batch");
  if (object == nullptr) return;
  ConfigFields inner(*object, fields.file(), fields.pointer_of("batch"));
  FieldReader reader(inner);
  batch_fields(reader, job);
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

// A file of Calculon instead of parallelism, schedule, batch, precision and recomputation; one of
// vTrain states no precision.
void read_execution(ConfigFields& fields, const Names& names, Job& job) {
  std::string file;
  fields.text("execution", file);
  if (file.empty()) return;
  names.files.push_back(file);
  const auto read = read_imported_file(file);
  if (!read.ok()) return fields.mistake("execution", read.error().message);
  const bool is_vtrain = is_vtrain_config(*read);
  if (is_vtrain) FieldReader(fields).precisions("precision", job.precisions);
  const Status status =
      is_vtrain ? read_vtrain_execution(*read, job) : read_calculon_execution(*read, job);
  if (!status.ok()) fields.mistake("execution", status.error().message);
}

Result<Scenario> scenario_from(const Catalogue& catalogue, ConfigValue root,
                               const std::string& path) {
  place_files_of(path, root);
  ScenarioParts parts;
  FORETRACE_TRY(auto scenario, scenario_of(catalogue, root, path, parts));
  return complete_scenario(std::move(scenario)).with_context(path);
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
  const bool is_recorded = scenario.model != nullptr && scenario.model->transformer.is_recorded();
  if (is_recorded && !fields.has("framework") &&
      recorded_weights(scenario.model->transformer) == 0) {
    scenario.framework = recorded_framework();
  } else {
    scenario.framework =
        looked_up<Framework>(fields, "framework", find_framework, names, parts.frameworks);
  }
  if (fields.has("execution")) {
    read_execution(fields, names, scenario.job);
  } else {
    FieldReader reader(fields);
    other_fields(reader, scenario.job);
    read_schedule(fields, scenario.job);
    read_parallelism(fields, transformer_of(scenario), scenario.job);
    read_batch(fields, is_recorded, scenario.job);
  }
  read_sparse_gradients(fields, scenario);
  read_jitter(fields, scenario.jitter);
  if (const ConfigValue* const list = fields.optional_value("what_ifs");
      list != nullptr && !list->items.empty()) {
    scenario.what_ifs = json_text(*list);
  }
  FORETRACE_TRY(fields.finish());
  return scenario;
}

Status check_ranks_alike(const Scenario& scenario) {
  if (!scenario.jitter) return ok_status();
  return Error{ErrorCode::bad_config,
               "/jitter: got ranks that differ, expected none: only simulate supports them"};
}

Status check_without_what_ifs(const Scenario& scenario) {
  if (scenario.what_ifs.empty()) return ok_status();
  return Error{ErrorCode::bad_config,
               "/what_ifs: got what-ifs, expected none: only simulate, whatif, report, sweeps and "
               "the predictor support them"};
}

Result<Scenario> complete_scenario(Scenario scenario) {
  ScenarioCompletion completion;
  FORETRACE_TRY(completion.complete(scenario));
  return scenario;
}

bool is_scenario_file(const std::string& path) { return names_schema(path, "foretrace.scenario/"); }

Result<Scenario> parse_scenario(const Catalogue& catalogue, std::string_view text,
                                const std::string& where) {
  FORETRACE_TRY(auto root, parse_config_document(text, where, scenario_schema));
  return scenario_from(catalogue, std::move(root), where);
}

Result<Scenario> read_scenario_of_alike_ranks(const Catalogue& catalogue, const std::string& path) {
  FORETRACE_TRY(auto scenario, read_scenario(catalogue, path));
  FORETRACE_TRY(check_ranks_alike(scenario).with_context(path));
  FORETRACE_TRY(check_without_what_ifs(scenario).with_context(path));
  return scenario;
}

Result<Scenario> read_scenario(const Catalogue& catalogue, const std::string& path) {
  FORETRACE_TRY(auto root, read_config(path, scenario_schema));
  return scenario_from(catalogue, std::move(root), path);
}

}  // namespace foretrace
