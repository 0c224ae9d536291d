// Measured collectives: NCCL and RCCL benchmarks inside a node and between nodes.
#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <optional>

#include <fmt/format.h>

#include "models/collectives/collective_costs.h"
#include "tests/validation/studies/row_numbers.h"
#include "tests/validation/tables/tables.h"

namespace foretrace::driver::table_readers::collectives_parts {
namespace {

constexpr double most_bytes = 1e15;
constexpr double most_nodes = 1e5;
constexpr double most_of_node = 1024;  // racks with one link domain have 72

struct Measured {
  std::string cluster;
  CollectiveCall call;
  double us = 0;
  std::string column;
};

std::string size_class(double bytes) {
  constexpr double mib = 1024.0 * 1024;
  return bytes < mib ? "below 1 MiB" : bytes < 64 * mib ? "1 to 64 MiB" : "64 MiB and more";
}

// A row that a curve of the machine was made from says nothing about how well it predicts.
bool is_fitted(const Cluster& cluster, const Measured& row) {
  return std::any_of(cluster.curves.begin(), cluster.curves.end(), [&](const MeasuredCurve& curve) {
    if (curve.kind != row.call.kind || curve.ranks != row.call.group.ranks ||
        curve.nodes != row.call.group.nodes) {
      return false;
    }
    const auto at = std::find(curve.bytes.begin(), curve.bytes.end(), row.call.bytes);
    if (at == curve.bytes.end()) return false;
    const double us = curve.ns[static_cast<std::size_t>(at - curve.bytes.begin())] * 1e-3;
    return std::abs(us / row.us - 1) < 1e-3;
  });
}

// nccl-tests print the message of one peer times the number of ranks for these.
CollectiveKind kind_of(const std::string& name) {
  if (name == "alltoall" || name == "all_to_all") return CollectiveKind::all_to_all;
  for (std::size_t i = 1; i < collective_kind_count; ++i) {
    const auto kind = static_cast<CollectiveKind>(i);
    if (to_string(kind) == name) return kind;
  }
  return CollectiveKind::none;
}

std::string machine_of(const TruthRow& row) {
  struct Known {
    std::string_view set;
    std::string_view machine;  ///< part of the name; empty: any
    std::string_view cluster;
  };
  constexpr std::array known = {
      Known{"polaris", "", "polaris"},      Known{"sophia", "", "sophia"},
      Known{"cluster01", "", "cluster01"},  Known{"aws", "p4d", "aws_p4de"},
      Known{"aws", "p5", "aws_p5"},         Known{"aac", "", "mi300x_x8"},
      Known{"coreweave", "", "gb200_nvl72"}};
  const std::string set = row.text("set");
  for (const Known& one : known) {
    if (one.set != set || row.text("machine").find(one.machine) == std::string::npos) continue;
    const bool rack = one.cluster == "gb200_nvl72";
    if (rack && row.text("gpu").find("GB200") == std::string::npos) return "dgx_h100";
    return std::string(one.cluster);
  }
  return {};
}

Result<Measured> multinode(const TruthRow& row) {
  const std::string setup = row.text("setup");
  if (setup.find("TCP") != std::string::npos) {
    return Error{ErrorCode::unsupported, "sockets instead of the machine's network"};
  }
  Measured measured;
  measured.cluster = machine_of(row);
  measured.call.kind = kind_of(row.text("collective"));
  RowNumbers numbers(row);
  measured.call.bytes = numbers.number("bytes", 1, most_bytes);
  measured.us = numbers.measured("time_us");
  measured.column = "time_us";
  auto nodes = static_cast<std::uint32_t>(numbers.count("nodes", most_nodes));
  auto per_node = static_cast<std::uint32_t>(numbers.count("gpus_per_node", most_of_node));
  if (!numbers.status().ok()) return numbers.status().error();
  // A rack of one NVLink domain is one node to NCCL.
  if (measured.cluster == "gb200_nvl72") {
    per_node *= nodes;
    nodes = 1;
  }
  measured.call.group.nodes = nodes;
  measured.call.group.per_node = per_node;
  return measured;
}

// One collective of a table that says in its name what it measures.
Result<Measured> simple(const TruthTable& table, const TruthRow& row) {
  Measured measured;
  measured.call.kind =
      table.id.starts_with("send_recv") ? CollectiveKind::send : CollectiveKind::all_reduce;
  RowNumbers numbers(row);
  RowNumbers fixed(table.fixed_row());
  const auto there = [&row](std::initializer_list<std::string_view> columns) {
    for (const std::string_view column : columns) {
      if (row.find(column) != nullptr) return column;
    }
    return *columns.begin();
  };
  const std::string_view counted = there({"gpus", "workers"});
  const double ranks = row.find(counted) != nullptr ? numbers.count(counted, most_ranks)
                                                    : fixed.count("gpus", most_ranks);
  const double node = table.id == "allreduce_azure_a100" ? 8 : ranks;
  const double per_node = std::min(ranks, numbers.count_or("devices_per_node", node, most_of_node));
  measured.call.bytes = numbers.number(there({"bytes", "size"}), 1, most_bytes);
  measured.column = there({"us", "out_of_place_us", "us_out_of_place"});
  measured.us = numbers.measured(measured.column);
  for (const RowNumbers* read : {&fixed, &numbers}) {
    if (!read->status().ok()) return read->status().error();
  }
  measured.cluster = table.id.find("llmcompass") != std::string::npos ? "a100_x4"
                     : table.id.find("vtrain") != std::string::npos   ? "vtrain_a100"
                     : table.id.find("pairwise") != std::string::npos ? "vidur_pairwise_a100"
                     : table.id.find("vidur") != std::string::npos    ? "vidur_dgx_a100"
                     : table.id == "allreduce_azure_a100"             ? "azure_ndv4"
                                                                      : "";
  measured.call.group.per_node = static_cast<std::uint32_t>(per_node);
  measured.call.group.nodes = static_cast<std::uint32_t>(std::ceil(ranks / per_node));
  return measured;
}

std::optional<std::string> add_row(const TruthTable& table, std::size_t i, TableInputs& inputs,
                                   std::array<TableResult, 2>& results) {
  const TruthRow row = table.row(i);
  auto found = table.id == "collectives_multinode" ? multinode(row) : simple(table, row);
  if (!found.ok()) return found.error().message;
  Measured measured = std::move(*found);
  if (measured.cluster.empty()) return "no description of this machine";
  if (measured.call.kind == CollectiveKind::none) return "unknown collective";
  const auto cluster = inputs.cluster(measured.cluster);
  if (!cluster.ok()) return cluster.error().message;
  measured.call.group =
      place_alone(**cluster, measured.call.group.nodes, measured.call.group.per_node);
  const auto us = [&](Bound bound) {
    return collective_time(**cluster, measured.call, bound).ns * 1e-3;
  };
  const double predicted = us(Bound::point);
  // Held-back rows: nine of ten lie within 15 % of a curve; elsewhere the network decides.
  const double low = std::min(0.87 * predicted, us(Bound::optimistic));
  const double high = std::max(1.15 * predicted, us(Bound::pessimistic));
  TableResult& result = results[is_fitted(**cluster, measured) ? 1 : 0];
  result.points.push_back(
      {i, measured.column, predicted, low, high, measured.us, size_class(measured.call.bytes)});
  return std::nullopt;
}

Result<std::vector<TableResult>> read(const TruthTable& table, TableInputs& inputs) {
  std::array<TableResult, 2> results;
  results[0].name = table.id;
  results[1].name = table.id + ".fitted";
  results[1].notes.emplace_back("rows that a measured curve of the machine's file holds");
  for (TableResult& result : results) result.unit = "us";
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (auto reason = add_row(table, i, inputs, results)) {
      results[0].skipped.push_back({i, std::move(*reason)});
    }
  }
  std::vector<TableResult> all = {std::move(results[0])};
  if (!results[1].points.empty()) all.push_back(std::move(results[1]));
  return all;
}

constexpr std::array<std::string_view, 5> names = {"nccl_*", "all_reduce_*", "send_recv_*",
                                                   "allreduce_azure_a100", "collectives_multinode"};

constexpr TableReaderInfo info = {"collectives", "measured collectives of NCCL and RCCL, by size",
                                  names, read};

}  // namespace
}  // namespace foretrace::driver::table_readers::collectives_parts

namespace foretrace::driver::table_readers {
extern const TableReaderInfo collectives;
constinit const TableReaderInfo collectives = collectives_parts::info;
}  // namespace foretrace::driver::table_readers
