// The scenarios of a sweep's points: read from documents, or put together from what each value of
// an axis changes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "apps/sweep/space/sweep.h"
#include "models/jobs/scenario/complete_scenario.h"
#include "models/jobs/scenario/scenario.h"

namespace foretrace::sweeping {

/// The scenario of a point's document; files that it names stand beside the sweep file.
[[nodiscard]] Result<Scenario> read_point(const Sweep& sweep, const Catalogue& catalogue,
                                          ConfigValue document, ScenarioParts& known);

/// What each value of each axis makes of a scenario. Only where axes are independent: each has
/// listed values, none takes a member away, and no two change the same part.
class AxisEffects {
 public:
  /// None if the axes of the sweep are not independent.
  [[nodiscard]] static std::unique_ptr<const AxisEffects> of(const Sweep& sweep,
                                                             const Catalogue& catalogue,
                                                             ScenarioParts& known);
  [[nodiscard]] const Scenario& first() const { return first_; }
  /// Makes an axis of `scenario` stand at a place among its values.
  void apply(std::size_t axis, std::size_t place, Scenario& scenario) const;

 private:
  struct AxisEffect {
    std::vector<std::size_t> parts;  ///< what it may change
    std::vector<Scenario> values;    ///< the scenario with the axis there, others at first
  };
  Scenario first_;
  std::vector<AxisEffect> axes_;
};

/// Gives the job of one point after another. One per thread; the sweep must outlive it.
class ScenarioPoints {
 public:
  ScenarioPoints(const Sweep& sweep, const Catalogue& catalogue);
  /// The scenario at a point, completed and checked; it stays until the next call.
  [[nodiscard]] Result<const Scenario*> at(std::span<const double> where);
  [[nodiscard]] const ModelAmounts& amounts(const Job& job) { return completion_.amounts(job); }

 private:
  void keep_names();

  const Sweep& sweep_;
  const Catalogue& catalogue_;
  ScenarioParts parts_;
  std::unique_ptr<const AxisEffects> effects_;
  std::vector<double> stands_;  ///< where the axes of `now_` stand
  Scenario now_;
  std::shared_ptr<const ModelSpec> named_model_;
  std::shared_ptr<const Framework> named_framework_;
  std::uint32_t named_expert_tensor_ = 0;  ///< before it is decided
  ScenarioCompletion completion_;
};

}  // namespace foretrace::sweeping
