#include "apps/sweep/points/judge.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "apps/sweep/space/document.h"
#include "sim/core/params.h"

namespace foretrace::sweeping {

Judge::Judge(const Sweep& sweep)
    : sweep_(sweep),
      has_early_constraints_(std::any_of(sweep.constraints.begin(), sweep.constraints.end(),
                                         [](const Constraint& one) { return !one.needs_results; })),
      drawn_(sweep.axes().size()),
      operands_(sweep.names.size()) {
  for (const Axis& axis : sweep.axes()) {
    std::vector<std::string>& texts = texts_.emplace_back();
    for (const ConfigValue& value : axis.values) texts.push_back(shown_text(value));
    std::vector<Operand>& operands = listed_.emplace_back();
    for (const std::string& text : texts) operands.push_back(operand_of(std::string_view(text)));
  }
  std::uint64_t stride = std::numeric_limits<std::uint64_t>::max();
  for (const Constraint& one : sweep.constraints) {
    if (!one.needs_results) {
      for (const std::size_t axis : one.holds.uses()) {
        stride = std::min(stride, sweep.space.stride_of(sweep.axes()[axis].group));
      }
    }
    strides_.push_back(sweep.space.numbers_grid() ? stride : 1);
  }
}

void Judge::see(std::span<const double> where) {
  for (std::size_t axis = 0; axis < where.size(); ++axis) {
    if (!listed_[axis].empty()) {
      operands_[axis] = listed_[axis][static_cast<std::size_t>(where[axis])];
    } else {
      drawn_[axis] = Space::text_of(sweep_.axes()[axis], where[axis]);
      operands_[axis] = operand_of(std::string_view(drawn_[axis]));
    }
  }
}

void Judge::see(const PointResult& point) {
  see(point.where);
  const std::size_t first = sweep_.axes().size();
  for (std::size_t i = first; i < operands_.size(); ++i) {
    operands_[i] =
        i - first < point.metrics.size() ? operand_of(point.metrics[i - first]) : Operand{};
  }
}

Evaluated Judge::value_of(const Expression& expression) {
  const Evaluated value = expression.evaluate(operands_);
  was_undefined_ = was_undefined_ || value.is_undefined;
  return value;
}

/// The first constraint over axes alone that does not hold; all of them: none.
std::size_t Judge::failing(std::span<const double> where, std::string& reason) {
  reason.clear();
  const std::size_t none = sweep_.constraints.size();
  if (!has_early_constraints_) return none;
  see(where);
  for (std::size_t i = 0; i < none; ++i) {
    const Constraint& one = sweep_.constraints[i];
    if (one.needs_results) continue;
    const Evaluated value = one.holds.evaluate(operands_);
    if (value.is_undefined) {
      reason = fmt::format("constraint {}: divides by zero, or takes the logarithm of 0 or less",
                           in_quotes(one.holds.text()));
      return none;
    }
    if (!value.holds()) return i;
  }
  return none;
}

bool Judge::is_wanted(std::span<const double> where, std::string& reason) {
  return failing(where, reason) == sweep_.constraints.size();
}

std::uint64_t Judge::unwanted_from(std::uint64_t point, std::span<const double> where,
                                   std::string& reason) {
  const std::size_t failed = failing(where, reason);
  if (failed == sweep_.constraints.size()) return 0;
  return strides_[failed] - point % strides_[failed];
}

bool Judge::is_feasible(const PointResult& point) {
  if (point.metrics.empty()) return false;
  see(point);
  return std::all_of(sweep_.constraints.begin(), sweep_.constraints.end(),
                     [&](const Constraint& one) { return value_of(one.holds).holds(); });
}

double Judge::cost(const PointResult& point, std::size_t objective) {
  see(point);
  const Objective& wanted = sweep_.objectives[objective];
  const double value = value_of(wanted.value).value.number;
  if (value != value) return std::numeric_limits<double>::infinity();
  return wanted.is_maximized ? -value : value;
}

bool Judge::holds(const Expression& expression, const PointResult& point) {
  see(point);
  return value_of(expression).holds();
}

}  // namespace foretrace::sweeping
