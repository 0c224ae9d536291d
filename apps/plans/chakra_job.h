// A scenario as Chakra execution traces, one per rank, for simulators that take those: ASTRA-sim.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "models/jobs/scenario/scenario.h"
#include "sim/core/result.h"

namespace foretrace {

/// A file of the export: its name and what is in it. False: it cannot be written.
using WriteExport = std::function<Status(const std::string& name, const std::string& text)>;

struct ChakraExport {
  std::uint32_t ranks = 0;
  std::uint32_t groups = 0;  ///< of ranks that communicate
  std::uint64_t nodes = 0;   ///< of all ranks
  std::uint64_t bytes = 0;
  /// Why the traces, read back on the same cluster, take another time than the scenario; empty:
  /// they take the same within 2 %.
  std::vector<std::string> differences;
};

/// Writes "rank.<n>.et" for every rank and "comm_group.json" (the groups by their number, as
/// ASTRA-sim reads them). Errors: more ranks than anyone would simulate one by one, sparse
/// gradients, what rank_nodes() refuses.
[[nodiscard]] Result<ChakraExport> export_chakra(const Scenario& scenario,
                                                 const WriteExport& write);

}  // namespace foretrace
