// Chooses what a plan leaves open: what runs fastest within memory.
#pragma once

#include <cstdint>
#include <vector>

#include "models/jobs/scenario/scenario.h"
#include "sim/core/result.h"

namespace foretrace {

/// Values to try; an empty list keeps what the scenario says.
struct OpenChoices {
  std::vector<double> micro_batches;
  std::vector<std::uint32_t> chunks;  ///< 1: 1F1B, more: interleaved
  std::vector<Recompute> recomputes;
  double memory_bytes = 0;  ///< of a device; 0: not checked
};

/// The scenario with the valid choice whose simulated step is the shortest. Error: none is valid,
/// or none fits (the one that needs least memory is named).
[[nodiscard]] Result<Scenario> fastest_choice(const Scenario& scenario, const OpenChoices& open);

}  // namespace foretrace
