// MaxText's expected performance of dense decoders on pods of TPUs: parameters are sharded in a pod
// slice, slices are data ranks that the data-centre network joins.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "models/jobs/program/job_figures.h"
#include "tests/validation/tables/row_prediction.h"

namespace foretrace::table_readers::maxtext_parts {
namespace {

/// "4x v5e-256": slices of one kind.
struct Slices {
  double count = 1;
  std::string chip;
  double size = 0;  ///< chips
};

std::optional<double> number_at(const std::string& text, std::size_t at) {
  double value = 0;
  const char* const begin = text.data() + std::min(at, text.size());
  const auto result = std::from_chars(begin, text.data() + text.size(), value);
  if (result.ec != std::errc() || !(value >= 1) || value > 1e6) return std::nullopt;
  return value;
}

Result<Slices> slices_of(const std::string& hardware) {
  const Error mistake{ErrorCode::bad_format,
                      fmt::format("got hardware '{}', expected one like '4x v5e-256'", hardware)};
  const auto times = hardware.find("x ");
  const auto dash = hardware.rfind('-');
  if (times == std::string::npos || dash == std::string::npos || dash < times + 2) return mistake;
  const auto count = number_at(hardware, 0);
  const auto size = number_at(hardware, dash + 1);
  if (!count.has_value() || !size.has_value()) return mistake;
  Slices slices{*count, hardware.substr(times + 2, dash - times - 2), *size};
  // Names of v5e slices count chips, all others cores, of which a chip has two.
  if (slices.chip != "v5e") slices.size /= 2;
  const auto is_count = [](double value) { return value >= 1 && value == std::floor(value); };
  if (!is_count(slices.count) || !is_count(slices.size)) return mistake;
  return slices;
}

/// Pods with slices of this size.
Result<std::shared_ptr<const Cluster>> pods(const Slices& slices, TableInputs& inputs) {
  FORETRACE_TRY(const auto shipped, inputs.cluster("tpu_" + slices.chip + "_pod"));
  Cluster cluster = *shipped;
  const double chips = cluster.node_accelerators;
  cluster.network.nics =
      static_cast<std::uint32_t>(std::max(1.0, cluster.network.nics * slices.size / chips));
  cluster.node_accelerators = static_cast<std::uint32_t>(slices.size);
  cluster.nodes = static_cast<std::uint32_t>(slices.count);
  return std::make_shared<const Cluster>(std::move(cluster));
}

/// MaxText counts every pair of positions, the half that a causal mask leaves out too.
double counted_flops(const TransformerSpec& spec, double length, double sequences) {
  const double layer = spec.hidden * spec.head_size * (2 * spec.heads + 2 * spec.kv_heads) +
                       spec.hidden * spec.ffn * (is_gated(spec.activation) ? 3 : 2);
  const double products = 2 * (spec.layers * layer + spec.hidden * spec.vocabulary);
  const double pairs = 4 * spec.layers * spec.heads * spec.head_size * length;
  return 3 * sequences * length * (products + pairs);
}

/// What a row leaves open is what trains most tokens a second within memory.
Result<TablePoint> best_point(const Scenario& scenario, const std::vector<double>& batches,
                              std::size_t i, double measured) {
  const auto memory = static_cast<double>(scenario.cluster->accelerator.memory_bytes);
  std::optional<TablePoint> best;
  Error last{ErrorCode::no_match, "no batch fits into memory"};
  for (const double batch : batches) {
    Scenario one = scenario;
    one.job.micro_batch = batch;
    one.job.global_batch = batch * one.job.plan.data;
    const auto complete = complete_scenario(std::move(one));
    if (!complete.ok()) {
      last = complete.error();
      continue;
    }
    FORETRACE_TRY(const auto prediction, predict_row(*complete));
    if (batches.size() > 1 && prediction.memory_bytes > memory) continue;
    const double flops = counted_flops(*complete->job.model, complete->job.length, batch) * 1e-12;
    TablePoint point = rate_point(i, "tflops_per_chip", prediction, flops, measured);
    if (!best.has_value() || point.predicted > best->predicted) best = point;
  }
  if (best.has_value()) return *best;
  return last;
}

Result<TablePoint> point_of(const TruthTable& table, std::size_t i, TableInputs& inputs) {
  const TruthRow row = table.row(i);
  RowNumbers numbers(row);
  RowNumbers fixed(table.fixed_row());
  const double measured = numbers.measured("tflops_per_chip");
  const double batch = numbers.number_or("per_device_batch", 0, 1e-3, most_sequences);
  const double length = fixed.count_or("seq_len", 2048, most_tokens);
  for (const RowNumbers* read : {&fixed, &numbers}) {
    FORETRACE_TRY(read->status());
  }
  FORETRACE_TRY(const auto slices, slices_of(row.text("hardware")));
  FORETRACE_TRY(const auto cluster, pods(slices, inputs));
  FORETRACE_TRY(auto scenario, scenario_on(inputs, "tpu_" + slices.chip + "_pod", "maxtext_tpu"));
  scenario.cluster = cluster;
  FORETRACE_TRY(scenario.model, inputs.model("MaxText " + row.text("model")));
  Job& job = scenario.job;
  job.precisions = {Precision::bf16, false};
  job.length = length;
  job.plan.data = static_cast<std::uint32_t>(slices.count * slices.size);
  job.plan.sharding = Sharding::parameters;
  job.plan.shard_size = static_cast<std::uint32_t>(slices.size);
  // What is kept on the host instead ("qkv_proj_offloaded") counts as computed again; the scripts
  // of rows that state nothing say remat_policy=full (src/maxtext/configs/tpu/v4/22b.sh).
  job.recompute = Recompute::full;
  std::vector<double> batches = {batch};
  if (!(batch > 0)) batches = {1, 2, 3, 4, 6, 8, 10, 12, 14, 16, 20, 24};
  auto point = best_point(scenario, batches, i, measured);
  if (point.ok()) point->group = fmt::format("{} {}", slices.chip, row.text("model"));
  return point;
}

Result<std::vector<TableResult>> read(const TruthTable& table, TableInputs& inputs) {
  TableResult result;
  result.name = table.id;
  result.unit = "TFLOP/s per chip";
  for (std::size_t i = 0; i < table.size(); ++i) {
    result.add(i, point_of(table, i, inputs));
  }
  result.notes.emplace_back(
      "arithmetic as MaxText counts it, all pairs of positions; a batch that a row does not state "
      "is the one with the highest rate that fits; layers are computed again, also where parts "
      "of them are kept on the host");
  return std::vector{std::move(result)};
}

constexpr std::array<std::string_view, 1> names = {"maxtext_tpu_*"};

constexpr TableReaderInfo info = {"maxtext", "dense decoders on pods of TPUs", names, read};

}  // namespace
}  // namespace foretrace::table_readers::maxtext_parts

namespace foretrace::table_readers {
extern const TableReaderInfo maxtext;
constinit const TableReaderInfo maxtext = maxtext_parts::info;
}  // namespace foretrace::table_readers
