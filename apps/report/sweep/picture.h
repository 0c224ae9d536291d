// A sweep as a picture: what can be had for what, and what each axis decides.
#pragma once

#include <string>

#include "apps/sweep/store/select.h"
#include "sim/core/result.h"

namespace foretrace::report {

/// SVG. With two objectives or more: every feasible point by the first two, those that nothing
/// beats marked. Then a panel per axis, those that decide most first: at each value the best that
/// can be had of the first objective, and the mean. `question` says which points count; its `top`
/// and `pareto` do not matter. Error: no point is feasible.
[[nodiscard]] Result<std::string> sweep_picture(const sweeping::StoredSweep& stored,
                                                const sweeping::PointQuestion& question);

}  // namespace foretrace::report
