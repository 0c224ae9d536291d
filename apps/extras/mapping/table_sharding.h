// Embedding tables on devices: the cost of a plan, and the search of NeuroShard.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace foretrace::mapping {

struct EmbeddingTable {
  double rows = 0;
  double dim = 0;      ///< numbers per row
  double pooling = 1;  ///< rows that a sample looks up
};

/// What a plan costs. Rates of one device.
struct ShardingProblem {
  std::vector<EmbeddingTable> tables;
  std::size_t devices = 1;
  double batch = 1;  ///< samples of all devices together
  double number_bytes = 4;
  double memory_bytes = 0;        ///< of a device, for tables
  double lookup_bytes_per_s = 1;  ///< of rows at random places
  double link_bytes_per_s = 1;    ///< of one device to the others
  double lookup_s = 0;            ///< fixed: one kernel looks up in all tables of a device
  double exchange_s = 0;          ///< fixed: of an all-to-all
};

/// Parts of tables, in columns, and where they are.
struct ShardPlan {
  std::vector<EmbeddingTable> parts;
  std::vector<std::size_t> of;      ///< table of each part
  std::vector<std::size_t> device;  ///< of each part
  double seconds = 0;
};

/// Largest of all devices: lookup, the pooled rows to everybody (waiting for who begins last), and
/// gradients back. Nothing if the tables of a device do not fit.
[[nodiscard]] std::optional<double> plan_seconds(const ShardingProblem& problem,
                                                 const std::vector<EmbeddingTable>& parts,
                                                 const std::vector<std::size_t>& device);

struct ShardSearch {
  std::size_t beam = 3;         ///< lists of parts that are kept
  std::size_t candidates = 10;  ///< tables to halve: the largest, and as many of the slowest
  std::size_t steps = 10;       ///< halvings one after the other
};
/// Outside: halves of tables by columns, a beam; inside: tables by falling cost onto the device
/// with the least so far, under caps of memory and of numbers per sample. Nothing if nothing fits.
[[nodiscard]] std::optional<ShardPlan> shard_tables(const ShardingProblem& problem,
                                                    const ShardSearch& search = {});

}  // namespace foretrace::mapping
