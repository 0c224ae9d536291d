// Points of a sweep as lines of CSV: all of them, however many there are.
#pragma once

#include <functional>
#include <string_view>

#include "apps/driver/sweep/store/select.h"
#include "sim/core/result.h"

namespace foretrace::report {

/// A line of names, then one per selected point: its number, the values of its axes, whether it is
/// feasible, its metrics and why it failed. Numbers are exact: equal stores give equal bytes.
[[nodiscard]] Status write_points(const sweeping::StoredSweep& stored,
                                  const sweeping::PointQuestion& question,
                                  const std::function<bool(std::string_view)>& sink);

}  // namespace foretrace::report
