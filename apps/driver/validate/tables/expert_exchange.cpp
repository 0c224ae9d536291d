// Measured exchanges of experts: DeepEP, UCCL-EP, the kernels of pplx and NCCL's all-to-all.
#include "models/collectives/expert_exchange.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "apps/driver/validate/tables/training_row.h"
#include "sim/core/params.h"

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

double fixed_number(const TruthTable& table, std::string_view key, double standard) {
  return number_of(table.fixed(key)).value_or(standard);
}

void fill(const TruthTable& table, Run& run) {
  run.hidden = fixed_number(table, "hidden", standard_hidden);
  run.exchange.top_k = fixed_number(table, "topk", standard_top_k);
  run.exchange.experts = fixed_number(table, "experts", standard_experts);
  run.exchange.token_bytes = run.hidden * (run.in_8_bit ? 1 + scale_bytes : 2);
}

/// Prediction and range of a time in us, or of a rate in GB/s.
Result<TablePoint> point_of(Run run, std::size_t i, TableInputs& inputs, double measured) {
  const auto cluster = inputs.cluster(run.cluster);
  if (!cluster.ok()) return cluster.error();
  const double nodes = std::ceil(run.ranks / node_size);
  if (!(run.ranks >= 2) || run.ranks != std::floor(run.ranks) || std::fmod(run.ranks, nodes) != 0 ||
      nodes > (*cluster)->nodes) {
    return Error{ErrorCode::bad_format,
                 fmt::format("got {} ranks, expected whole nodes", run.ranks)};
  }
  if (!(run.exchange.tokens > 0) || !(measured > 0)) {
    return Error{ErrorCode::bad_format, "no number of tokens or no figure"};
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
  run.ranks = row.number_or("ep", 0);
  run.in_8_bit = carries_8_bits(row.text("operation"));
  run.exchange.style = style_of(row);
  // "Low-latency kernels with pure RDMA": DeepEP's description until it took NVLink inside nodes.
  run.exchange.by_network = row.text("network") == "DeepEP";
  run.exchange.tokens = row.number_or("tokens", 0);
  if (run.exchange.style == ExchangeStyle::forwarded) run.exchange.node_limit = standard_nodes;
  fill(table, run);
  const auto us = row.number("us");
  run.column = us.has_value() ? "us" : "GBps";
  auto point = point_of(run, i, inputs, us.value_or(row.number_or("GBps", 0)));
  if (point.ok()) point->group = row.text("library") + ", " + row.text("kernel");
  return point;
}

/// "EP 8x2": ranks per node x nodes.
double ranks_of(const std::string& topology) {
  const auto space = topology.find(' ');
  const auto times = topology.find('x');
  if (space == std::string::npos || times == std::string::npos || times < space) return 0;
  const auto left =
      parse_quantity(topology.substr(space + 1, times - space - 1), ParamType::number);
  const auto right = parse_quantity(topology.substr(times + 1), ParamType::number);
  return left.ok() && right.ok() ? *left * *right : 0;
}

void add_rates(const TruthTable& table, std::size_t i, TableInputs& inputs, TableResult& result) {
  const TruthRow row = table.row(i);
  for (const std::string_view column : {"dispatch_GBps", "combine_GBps"}) {
    const auto measured = row.number(column);
    if (!measured.has_value()) continue;
    Run run;
    run.cluster = machine_of(row.text("machine"), row.text("arch"));
    run.column = column;
    run.ranks = ranks_of(row.text("topology"));
    run.in_8_bit = column.starts_with("dispatch");
    run.exchange.tokens = fixed_number(table, "tokens_per_batch", 0);
    run.exchange.node_limit = standard_nodes;
    fill(table, run);
    if (run.cluster.empty()) {
      result.skipped.push_back({i, "no description of this machine"});
    } else {
      result.add(i, point_of(run, i, inputs, *measured));
    }
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
