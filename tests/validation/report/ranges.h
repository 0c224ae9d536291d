// How wide ranges have to be, from measured rows: what configs/evidence keeps of them.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "sim/core/ranged.h"
#include "tests/validation/tables/tables.h"

namespace foretrace::validation {

/// Rows of one program on one machine: ln(predicted / measured) by configuration.
struct RangeFamily {
  std::string first;   ///< framework; of collectives the machine
  std::string second;  ///< accelerator; of collectives their kind
  std::map<std::string, std::vector<double>> cells;
  std::map<std::string, std::vector<std::string>> publishers;  ///< cells of each
  std::uint32_t least_ranks = 0;
  std::uint32_t most_ranks = 0;
  Ranged factor;  ///< see EvidenceFamily::factor
};

struct RangeKind {
  std::string name;
  std::vector<RangeFamily> families;
  double new_family = 1;  ///< see EvidenceKind::new_family
  /// Each family as if it were new, from the others; none of a single family.
  double covered = 0;     ///< share of its cells, every family counts once
  double half_width = 1;  ///< mean
};

struct WeighedResidual {
  double size = 0;
  double weight = 0;
};
/// The smallest residual with at least this share of the weight at or below it; from 1 on the
/// largest.
[[nodiscard]] double weighed_quantile(std::vector<WeighedResidual> residuals, double level);

/// ln of what a family is off by in the runs of one more publisher: every publisher of steps counts
/// once, and its families once each; without this family.
[[nodiscard]] double publisher_width(std::span<const RangeKind> kinds,
                                     const RangeFamily* left_out = nullptr);

/// What the ranges from all other publishers hold of one's configurations.
struct RangePublisher {
  std::string name;
  std::size_t cells = 0;
  double covered = 0;     ///< share, every configuration counts once
  double half_width = 1;  ///< mean
};
/// By name.
[[nodiscard]] std::vector<RangePublisher> left_out_publishers(std::span<const TableResult> tables);

/// Kinds and their families by name. Rows that have no family say nothing.
[[nodiscard]] std::vector<RangeKind> ranges_of(std::span<const TableResult> tables);
/// The file of configs/evidence.
[[nodiscard]] std::string evidence_text(std::span<const RangeKind> kinds);

}  // namespace foretrace::validation
