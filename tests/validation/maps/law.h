// What no machine does: rows and predictions beyond it are mistakes.
#pragma once

#include <cmath>
#include <string>

#include "models/hardware/collectives/collective_costs.h"
#include "models/jobs/scenario/scenario.h"

namespace foretrace::validation {

/// Bounds of a figure, in its own unit.
struct Law {
  std::string says{};  ///< "its products at the peak of all ranks"; empty: nothing is known
  double least = 0;
  double most = HUGE_VAL;

  /// True if the figure lies outside, by more than its digits.
  [[nodiscard]] bool forbids(double figure) const;
  /// Of so much in that time.
  [[nodiscard]] Law as_rate(double amount) const;
  /// "0.1, but its products at the peak of all ranks allow at least 0.12".
  [[nodiscard]] std::string told(double figure) const;
};

/// A step takes at least what its products take at the peak of all accelerators.
[[nodiscard]] Law arithmetic_law(const Scenario& scenario);
/// A decoding step reads the weights of the layers and the keys and values once. Nothing of experts:
/// which are read the tokens decide.
[[nodiscard]] Law reading_law(const Scenario& scenario, double sequences, double keys);
/// Reading prompts takes what the products of the layers take at the peak.
[[nodiscard]] Law prompt_law(const Scenario& scenario, double tokens);
/// Microseconds: what every rank sends passes its links, and what leaves a node its ports.
[[nodiscard]] Law links_law(const Cluster& cluster, const CollectiveCall& call);

}  // namespace foretrace::validation
