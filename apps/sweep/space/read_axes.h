// Reads the axes of a sweep file.
#pragma once

#include <span>
#include <vector>

#include "apps/sweep/space/metrics.h"
#include "apps/sweep/space/space.h"
#include "sim/core/config.h"

namespace foretrace::sweeping {

/// "axes": a list of axes, or of {"zip": [axes]}. Mistakes are remembered in `fields`. Pointers are
/// tried on the document; names may not be those of `metrics`.
[[nodiscard]] std::vector<Axis> read_axes(ConfigFields& fields, const ConfigValue& document,
                                          std::span<const MetricInfo> metrics);

/// "points" of the method "list": rows of values in the order of the axes.
void read_listed_points(ConfigFields& method, std::vector<Axis>& axes);

}  // namespace foretrace::sweeping
