// What each rule of building graphs is worth: replays without it, beside replays with all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "apps/questions/validate/validation.h"
#include "models/hardware/catalogue/catalogue.h"
#include "sim/core/result.h"

namespace foretrace {

/// How far a graph is from its recording; shares of the recorded span.
struct GraphErrors {
  double span = 0;           ///< simulated / measured - 1
  double worst_step = 0;     ///< of all steps, the one farthest from 0
  double device_x0 = 0;      ///< with an infinitely fast device: simulated - what the events say
  double host_x0 = 0;        ///< with an infinitely fast host: the same
  double device_double = 0;  ///< what a device half as fast adds
  double unexplained = 0;    ///< device work that starts late, launches held up
};

/// One recording without a rule.
struct AblatedTrace {
  std::string trace;
  GraphErrors with;
  GraphErrors without;
  std::string failure;   ///< not empty: without the rule there is no replay
  bool differs = false;  ///< an error or reaction differs by more than 0.1 % of the span
};

struct AblatedRule {
  std::string_view rule;
  std::string_view doc;
  std::vector<AblatedTrace> traces;

  [[nodiscard]] std::size_t differing() const;
  /// Mean of the size of an error over all traces that replay with and without the rule.
  [[nodiscard]] double mean(GraphErrors AblatedTrace::*of, double GraphErrors::*error) const;
  /// The trace that the rule moves most; null if it moves none.
  [[nodiscard]] const AblatedTrace* most_moved() const;
};

/// Replays every recording below a folder without the rule, or, for `all`, without each rule that
/// can be left out in turn. Errors: no such rule, or one that the others rest on.
[[nodiscard]] Result<std::vector<AblatedRule>> ablation_table(const CataloguePtr& catalogue,
                                                              const std::string& folder,
                                                              const std::string& rule);

}  // namespace foretrace
