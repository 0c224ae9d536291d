#include "tests/validation/maps/law.h"

#include <algorithm>

#include <fmt/format.h>

#include "models/hardware/collectives/measured_curve.h"
#include "models/hardware/kernels/kernel_class.h"
#include "models/jobs/program/job_figures.h"

namespace foretrace::validation {
namespace {

constexpr double digits = 0.01;  // that tables round to

double ranks_of(const ParallelPlan& plan) {
  return static_cast<double>(plan.data) * plan.model_ranks();
}

/// Parameters that every token meets in a product: tables are looked up, and heads may be left out.
double layer_parameters(const Scenario& scenario) {
  const TransformerSpec& model = scenario.model->transformer;
  return std::max(0.0, model_parameters(scenario.job) - 2.0 * model.vocabulary * model.hidden);
}

bool is_dense_text(const Scenario& scenario) {
  const TransformerSpec& model = scenario.model->transformer;
  return model.layered == nullptr && model.experts.count == 0;
}

/// Bytes that leave a node at least: an all-reduce in switches sends each once.
double leaving_bytes(const CollectiveCall& call) {
  const double n = call.group.ranks;
  const double nodes = call.group.nodes;
  switch (call.kind) {
    case CollectiveKind::all_to_all:
      return call.group.per_node * call.bytes * (n - call.group.per_node) / n;
    case CollectiveKind::all_reduce: return call.bytes;
    case CollectiveKind::all_gather:
    case CollectiveKind::reduce_scatter: return call.bytes * (nodes - 1) / nodes;
    default: return 0;
  }
}

}  // namespace

bool Law::forbids(double figure) const {
  return figure < least * (1 - digits) || figure > most * (1 + digits);
}

Law Law::as_rate(double amount) const { return {says, 0, least > 0 ? amount / least : HUGE_VAL}; }

std::string Law::told(double figure) const {
  const bool is_low = figure < least;
  return fmt::format("{:.4g}, but {} allow {} {:.4g}", figure, says,
                     is_low ? "at least" : "at most", is_low ? least : most);
}

Law arithmetic_law(const Scenario& scenario) {
  const double peak = peak_flops(scenario.job);
  const double flops = model_flops(scenario.job);
  if (!(peak > 0) || !(flops > 0)) return {};
  return {"its products at the peak of all accelerators",
          flops / (peak * ranks_of(scenario.job.plan))};
}

Law reading_law(const Scenario& scenario, double sequences, double keys) {
  const Accelerator& device = scenario.cluster->accelerator;
  if (!is_dense_text(scenario) || !(device.memory_bandwidth > 0)) return {};
  const TransformerSpec& model = scenario.model->transformer;
  const double number = bytes_per_number(scenario.job.precisions.activations);
  const double cached = 2.0 * model.layers * model.kv_heads * model.head_size * sequences * keys;
  // Stages read one after the other.
  return {"weights and keys, read once,", (layer_parameters(scenario) + cached) * number /
                                              (device.memory_bandwidth * scenario.job.plan.tensor)};
}

Law prompt_law(const Scenario& scenario, double tokens) {
  const double peak = peak_flops(scenario.job);
  if (!is_dense_text(scenario) || !(peak > 0)) return {};
  return {"its products at the peak of all accelerators",
          2 * layer_parameters(scenario) * tokens / (peak * ranks_of(scenario.job.plan))};
}

Law links_law(const Cluster& cluster, const CollectiveCall& call) {
  if (!cluster.tier_network.tiers.empty()) return {};
  if (call.group.nodes > 1) {
    const double ports = call.group.nics * cluster.network.nic_bandwidth;
    if (!(ports > 0)) return {};
    return {"the ports of a node", leaving_bytes(call) / ports * 1e6};
  }
  const double ns = time_on_links(cluster, call);
  return ns > 0 ? Law{"the links of a rank", ns * 1e-3} : Law{};
}

}  // namespace foretrace::validation
