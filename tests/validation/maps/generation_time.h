// Text generation: a batch of prompts that start together, read once and then continued token by
// token until every sequence has its output.
#pragma once

#include <cstdint>

#include "models/jobs/scenario/scenario.h"
#include "sim/core/result.h"

namespace foretrace {

struct GenerationRequest {
  double sequences = 1;
  double prompt = 128;  ///< tokens of each
  double output = 128;  ///< tokens written for each
  /// Of the memory that weights leave free: keys and values may have this share.
  double cache_share = 0.9;
};

/// A time with its range, in seconds.
struct RangedSeconds {
  double typical = 0;
  double low = 0;
  double high = 0;
};

struct GenerationTime {
  RangedSeconds prompt;       ///< reading all prompts of the first wave
  RangedSeconds token;        ///< one decoding step of the first wave, on average
  RangedSeconds total;        ///< until the last sequence is complete
  std::uint32_t waves = 1;    ///< sequences beyond the memory wait until others are complete
  double sequences_held = 0;  ///< that fit into memory at once; all of them at most
};

/// `scenario` says on what machine and in which groups; its batch and lengths are those of the
/// request. Error: the weights do not fit, or what complete_scenario() refuses.
[[nodiscard]] Result<GenerationTime> time_generation(const Scenario& scenario,
                                                     const GenerationRequest& request);

}  // namespace foretrace
