#include "models/jobs/scenario/gradient_sums.h"

#include <fmt/format.h>

#include "models/jobs/scenario/field_reader.h"
#include "models/jobs/scenario/job_fields.h"
#include "sim/core/config_text.h"

namespace foretrace {

void read_aggregation(ConfigFields& fields, ScenarioParts& parts, Scenario& scenario) {
  const ConfigValue* object = fields.optional_object("aggregation");
  if (object == nullptr || scenario.cluster == nullptr) return;
  auto& changed =
      parts.changed[fmt::format("{} {}", fmt::ptr(scenario.cluster.get()), json_text(*object))];
  if (changed == nullptr) {
    auto cluster = with_aggregation(*scenario.cluster, *object, fields.file(),
                                    fields.pointer_of("aggregation"));
    if (!cluster.ok()) return fields.take(cluster.error());
    changed = std::make_shared<const Cluster>(*std::move(cluster));
  }
  scenario.cluster = changed;
}

void read_sparse_gradients(ConfigFields& fields, Scenario& scenario) {
  const ConfigValue* object = fields.optional_object("sparse_gradients");
  if (object == nullptr) return;
  ConfigFields inner(*object, fields.file(), fields.pointer_of("sparse_gradients"));
  SparseSum sum;
  FieldReader reader(inner);
  sum_fields(reader, sum);
  const Cluster* const cluster = scenario.cluster.get();
  if (sum.method == SparseMethod::network && cluster != nullptr &&
      cluster->network.aggregation.trees == 0) {
    inner.mistake("method",
                  "got 'switch' for switches that do not aggregate, expected \"aggregation\" of "
                  "the cluster or the scenario");
  }
  if (cluster != nullptr && !cluster->tier_network.tiers.empty()) {
    inner.mistake("method", "got a network of tiers, expected one between nodes");
  }
  if (scenario.job.plan.sharding != Sharding::none) {
    fields.mistake("sparse_gradients",
                   "got sharding, where each rank receives a part of the sum, expected none");
  }
  fields.take(inner.finish());
  scenario.job.sparse_gradients = sum;
}

}  // namespace foretrace
