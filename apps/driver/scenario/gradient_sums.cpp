#include "apps/driver/scenario/gradient_sums.h"

#include <array>

#include <fmt/format.h>

#include "models/networks/read_figures.h"
#include "sim/core/config_text.h"

namespace foretrace::driver {
namespace {

constexpr std::array<std::string_view, 3> methods = {"servers", "switch", "all_gather"};
constexpr double most_servers = 1e6;
constexpr double most_numbers = 1e9;
constexpr double most_index_bytes = 1024;

double read_share(ConfigFields& fields, std::string_view key, double share) {
  if (share >= 0 && share <= 1) return share;
  fields.mistake(key, fmt::format("got {}, expected a share from 0 to 1", share));
  return 0;
}

}  // namespace

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
  inner.quantity("density", ParamType::number, sum.blocks.density);
  sum.blocks.density = read_share(inner, "density", sum.blocks.density);
  inner.optional_quantity("overlap", ParamType::number, sum.blocks.overlap);
  sum.blocks.overlap = read_share(inner, "overlap", sum.blocks.overlap);
  sum.blocks.numbers =
      optional_count(inner, "block", most_numbers, static_cast<std::uint32_t>(sum.blocks.numbers));
  sum.blocks.index_bytes = optional_within(inner, "index_bytes", ParamType::bytes, most_index_bytes,
                                           sum.blocks.index_bytes);
  sum.method = static_cast<SparseMethod>(optional_word(inner, "method", methods, 0));
  sum.servers = optional_within(inner, "servers", ParamType::integer, most_servers, 0);
  const Cluster* const cluster = scenario.cluster.get();
  if (sum.method == SparseMethod::network && cluster != nullptr &&
      cluster->network.aggregation.trees == 0) {
    inner.mistake("method",
                  "got 'switch' for switches that do not add up, expected \"aggregation\" of the "
                  "cluster or the scenario");
  }
  if (cluster != nullptr && !cluster->tier_network.tiers.empty()) {
    inner.mistake("method", "got a network of tiers, expected one between nodes");
  }
  if (scenario.job.plan.sharding != Sharding::none) {
    fields.mistake("sparse_gradients",
                   "got sharding, where each rank wants a part of the sum, expected none");
  }
  fields.take(inner.finish());
  scenario.job.sparse_gradients = sum;
}

}  // namespace foretrace::driver
