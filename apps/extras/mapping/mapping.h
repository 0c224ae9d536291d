// What is to be mapped onto devices, as users write it (schema foretrace.mapping/1): tasks of a
// graph, or embedding tables.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/extras/mapping/table_sharding.h"
#include "apps/extras/mapping/task_mapping.h"
#include "models/hardware/catalogue/catalogue.h"
#include "sim/core/result.h"

namespace foretrace {

inline constexpr std::string_view mapping_schema = "foretrace.mapping/1";

struct Mapping {
  std::string path;
  std::vector<std::string> devices;
  std::vector<std::string> tasks;  ///< names; empty: tables are to be mapped
  mapping::TaskProblem problem;    ///< times in ns
  mapping::MoveSearch search;
  std::vector<std::string> tables;  ///< names
  mapping::ShardingProblem sharding;
  mapping::ShardSearch shard_search;
};

struct MappingAnswer {
  std::optional<mapping::TaskTimes> heft;  ///< the baseline
  std::optional<mapping::TaskTimes> best;  ///< after the moves
  std::optional<mapping::ShardPlan> plan;
  /// All tables by falling lookup onto the device with the least, without halves.
  std::optional<mapping::ShardPlan> whole;
};

[[nodiscard]] Result<Mapping> read_mapping(const Catalogue& catalogue, const std::string& path);
[[nodiscard]] Result<Mapping> parse_mapping(const Catalogue& catalogue, std::string_view text,
                                            const std::string& where);
/// Error: the tables fit in no way.
[[nodiscard]] Result<MappingAnswer> run_mapping(const Mapping& mapping);

}  // namespace foretrace
