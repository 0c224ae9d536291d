// Every two what-ifs together on one recording, each with its example settings.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/hardware/catalogue/catalogue.h"
#include "sim/core/result.h"

namespace foretrace {

/// A run under one what-if, or two.
struct PairOutcome {
  double gain = 1;                           ///< samples per time, times those of the recording
  std::optional<std::int64_t> live_bytes{};  ///< at the peak; none: no tensors are known
};

struct WhatIfPair {
  std::string first;  ///< the one that is applied first
  std::string second;
  PairOutcome first_alone{};
  PairOutcome second_alone{};
  PairOutcome together{};
  std::string refusal{};  ///< not empty: why the second finds nothing behind the first

  /// Of both gains, if they had nothing to do with each other: together / (first x second) - 1.
  [[nodiscard]] double more() const {
    return together.gain / (first_alone.gain * second_alone.gain) - 1;
  }
};

struct WhatIfPairs {
  std::string recording;
  PairOutcome now{};
  std::size_t applied = 0;         ///< what-ifs that change something here
  std::vector<WhatIfPair> rows{};  ///< in the order in which what-ifs are applied
};

/// Two that exclude each other are no pair. An answer that breaks a law is thrown, see BrokenLaw.
[[nodiscard]] Result<WhatIfPairs> what_if_pairs(const CataloguePtr& catalogue,
                                                const std::string& recording);

}  // namespace foretrace
