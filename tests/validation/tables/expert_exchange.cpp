// Measured exchanges of experts: DeepEP, UCCL-EP, the kernels of pplx and NCCL's all-to-all.
#include "models/collectives/expert_exchange.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "sim/core/params.h"
#include "tests/validation/tables/row_prediction.h"

namespace foretrace::driver::table_readers::expert_exchange_parts {
namespace {

// A scale in fp32 for every 128 numbers of 8 bits (DeepSeek-V3).
constexpr double scale_bytes = 4.0 / 128;
constexpr double node_size = 8;
// Experts per token and experts in all, and the nodes that a token goes to at most: DeepSeek-V3,
// which the benchmarks take where they say nothing else.
constexpr double standard_top_k = 8;
constexpr double standard_experts = 256;
constexpr double standard_hidden = 7168;
constexpr double standard_nodes = 4;
constexpr double most_experts = 1e5;

std::string machine_of(std::string_view machine, std::string_view gpu) {
  if (machine.find("p5en") != std::string_view::npos) return "aws_p5en";
  if (machine.find("H800") != std::string_view::npos) return "h800_x8";
  // An H800's links could not carry what these tables print.
  if (gpu.find("sm_90") != std::string_view::npos || gpu == "SM90") return "dgx_h100";
  return cluster_of(gpu);
}

struct Run {
  std::string cluster;
  std::string column;
  double ranks = 0;
  double hidden = 0;
  bool in_8_bit = false;
  ExpertExchange exchange;
};

/// "dispatch FP8" and "AtA" carry 8 bits, "combine BF16" 16.
bool carries_8_bits(std::string_view operation) {
  if (operation.find("FP8") != std::string_view::npos) return true;
  if (operation.find("BF16") != std::string_view::npos) return false;
  return operation.find("ombine") == std::string_view::npos;
}

void fill(RowNumbers& fixed, Run& run) {
  run.hidden = fixed.count_or("hidden", standard_hidden, most_width);
  run.exchange.experts = fixed.count_or("experts", standard_experts, most_experts);
  run.exchange.top_k = fixed.count_or("topk", standard_top_k, run.exchange.experts);
  run.exchange.token_bytes = run.hidden * (run.in_8_bit ? 1 + scale_bytes : 2);
}

/// Prediction and range of a time in us, or of a rate in GB/s.
Result<TablePoint> point_of(Run run, std::size_t i, TableInputs& inputs, double measured) {
  const auto cluster = inputs.cluster(run.cluster);
  if (!cluster.ok()) return cluster.error();
  const double nodes = std::ceil(run.ranks / node_size);
  if (std::fmod(run.ranks, nodes) != 0 || nodes > (*cluster)->nodes) {
    return Error{ErrorCode::bad_format,
                 fmt::format("got {} ranks, expected whole nodes", run.ranks)};
  }
  run.exchange.group = place_alone(**cluster, static_cast<std::uint32_t>(nodes),
                                   static_cast<std::uint32_t>(run.ranks / nodes));
  const bool is_rate = run.column != "us";
  const auto figure = [&](Bound bound, double factor) {
    const double ns = exchange_time(**cluster, run.exchange, bound).ns * factor;
    return is_rate ? counted_bytes(run.exchange) / ns : ns * 1e-3;
  };
  // Held-back rows of measured collectives: nine of ten within 15 %.
  const double point = figure(Bound::point, 1);
  std::array<double, 4> ends = {figure(Bound::optimistic, 1), figure(Bound::pessimistic, 1),
                                figure(Bound::point, 0.87), figure(Bound::point, 1.15)};
  std::sort(ends.begin(), ends.end());
  return TablePoint{i, run.column, point, ends.front(), ends.back(), measured};
}

/// NVSHMEM's all-to-all, and kernels that send each token as a message of its own through it: what
/// it takes no table describes.
bool has_own_limits(const TruthRow& row) {
  return row.text("library").find("pplx-kernels") != std::string::npos &&
         row.text("operation") != "AtA";
}

ExchangeStyle style_of(const TruthRow& row) {
  if (row.text("operation").ends_with("AtA")) return ExchangeStyle::padded;
  return row.text("kernel") == "normal" ? ExchangeStyle::forwarded : ExchangeStyle::direct;
}

Result<TablePoint> moe_point(const TruthTable& table, std::size_t i, TableInputs& inputs) {
  const TruthRow row = table.row(i);
  Run run;
  run.cluster = machine_of(row.text("machine"), row.text("gpu"));
  if (run.cluster.empty()) return Error{ErrorCode::not_found, "no description of this machine"};
  RowNumbers numbers(row);
  RowNumbers fixed(table.fixed_row());
  run.ranks = numbers.count("ep", most_ranks, 2);
  run.in_8_bit = carries_8_bits(row.text("operation"));
  run.exchange.style = style_of(row);
  // "Low-latency kernels with pure RDMA": DeepEP's description until it took NVLink inside nodes.
  run.exchange.by_network = row.text("network") == "DeepEP";
  run.exchange.tokens = numbers.count("tokens", most_tokens);
  if (run.exchange.style == ExchangeStyle::forwarded) run.exchange.node_limit = standard_nodes;
  fill(fixed, run);
  run.column = row.find("us") != nullptr ? "us" : "GBps";
  const double measured = numbers.measured(run.column);
  for (const RowNumbers* read : {&fixed, &numbers}) {
    if (!read->status().ok()) return read->status().error();
  }
  auto point = point_of(run, i, inputs, measured);
  if (point.ok()) point->group = row.text("library") + ", " + row.text("kernel");
  return point;
}

/// "EP 8x2": ranks per node x nodes.
Result<double> ranks_of(const std::string& topology) {
  const auto space = topology.find(' ');
  const auto times = topology.find('x');
  const Error mistake{
      ErrorCode::bad_format,
      fmt::format("topology: got {}, expected one like 'EP 8x2'", in_quotes(topology))};
  if (space == std::string::npos || times == std::string::npos || times < space) return mistake;
  const auto left =
      parse_quantity(topology.substr(space + 1, times - space - 1), ParamType::number);
  const auto right = parse_quantity(topology.substr(times + 1), ParamType::number);
  if (!left.ok() || !right.ok()) return mistake;
  const double ranks = *left * *right;
  if (*left >= 1 && *right >= 1 && ranks >= 2 && ranks <= most_ranks &&
      ranks == std::floor(ranks)) {
    return ranks;
  }
  return mistake;
}

Result<TablePoint> rate_of(const TruthTable& table, std::size_t i, std::string_view column,
                           TableInputs& inputs) {
  const TruthRow row = table.row(i);
  RowNumbers fixed(table.fixed_row());
  Run run;
  run.cluster = machine_of(row.text("machine"), row.text("arch"));
  if (run.cluster.empty()) return Error{ErrorCode::not_found, "no description of this machine"};
  run.column = column;
  const auto ranks = ranks_of(row.text("topology"));
  if (!ranks.ok()) return ranks.error();
  run.ranks = *ranks;
  run.in_8_bit = column.starts_with("dispatch");
  run.exchange.tokens = fixed.count("tokens_per_batch", most_tokens);
  run.exchange.node_limit = standard_nodes;
  fill(fixed, run);
  if (!fixed.status().ok()) return fixed.status().error();
  const auto measured = measured_in(row, column);
  if (!measured.ok()) return measured.error();
  return point_of(run, i, inputs, *measured);
}

void add_rates(const TruthTable& table, std::size_t i, TableInputs& inputs, TableResult& result) {
  for (const std::string_view column : {"dispatch_GBps", "combine_GBps"}) {
    if (table.row(i).find(column) == nullptr) continue;
    result.add(i, rate_of(table, i, column, inputs));
  }
}

TableResult named(std::string name) {
  TableResult result;
  result.name = std::move(name);
  result.unit = "us or GB/s, as the row prints";
  return result;
}

Result<std::vector<TableResult>> read(const TruthTable& table, TableInputs& inputs) {
  TableResult result = named(table.id);
  TableResult others = named(table.id + ".own_limits");
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (table.id != "moe_alltoall") {
      add_rates(table, i, inputs, result);
      continue;
    }
    auto point = moe_point(table, i, inputs);
    if (!point.ok()) {
      result.skipped.push_back({i, point.error().message});
    } else {
      (has_own_limits(table.row(i)) ? others : result).points.push_back(*std::move(point));
    }
  }
  others.notes.emplace_back(
      "kernels that send every token as a message of its own through a library whose limits no "
      "table describes; predicted is what the links allow");
  result.notes.emplace_back(
      "latency and rates are those of NCCL's all-to-all on the machine; experts and hidden size "
      "that "
      "the table does not state are those of DeepSeek-V3");
  std::vector<TableResult> all = {std::move(result)};
  if (!others.points.empty()) all.push_back(std::move(others));
  return all;
}

constexpr std::array<std::string_view, 2> names = {"moe_alltoall", "moe_dispatch_combine_deepep"};

constexpr TableReaderInfo info = {
    "expert_exchange", "tokens on the way to their experts and back, by library", names, read};

}  // namespace
}  // namespace foretrace::driver::table_readers::expert_exchange_parts

namespace foretrace::driver::table_readers {
extern const TableReaderInfo expert_exchange;
constinit const TableReaderInfo expert_exchange = expert_exchange_parts::info;
}  // namespace foretrace::driver::table_readers
