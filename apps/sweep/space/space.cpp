#include "apps/sweep/space/space.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "apps/sweep/space/document.h"
#include "sim/core/random.h"

namespace foretrace::sweeping {
namespace {

constexpr std::array<std::string_view, method_count> method_names = {
    "grid", "list", "random", "latin_hypercube", "nsga2", "annealing"};
// A number of a point is kept as a double by some readers of the store.
constexpr std::uint64_t largest_grid = std::uint64_t{1} << 53U;

/// Even over [0, 1).
double even(std::uint64_t seed, std::uint64_t axis, std::uint64_t point) {
  return unit_interval(mixed_bits(mixed_bits(mixed_bits(seed) ^ axis) ^ point));
}

/// Where `i` goes in a permutation of 0 ... count - 1: four rounds of a Feistel network on the
/// smallest even number of bits, walked until the result is below `count`.
std::uint64_t permuted(std::uint64_t i, std::uint64_t count, std::uint64_t key) {
  unsigned half = 1;
  while (half < 31 && (std::uint64_t{1} << (2 * half)) < count) ++half;
  const std::uint64_t mask = (std::uint64_t{1} << half) - 1;
  do {
    std::uint64_t left = i >> half;
    std::uint64_t right = i & mask;
    for (std::uint64_t round = 0; round < 4; ++round) {
      const std::uint64_t next =
          left ^ (mixed_bits(key ^ mixed_bits(right ^ (round << 56U))) & mask);
      left = right;
      right = next;
    }
    i = (left << half) | right;
  } while (i >= count);
  return i;
}

// What a double holds of any decimal number; 0.1 + 0.2 is 0.3 again.
constexpr int most_digits = 15;
// Numbers that are drawn are as fine as a millionth of the range, and no longer than that: what
// tables show is what was computed with.
constexpr int digits_within_range = 6;

double with_digits(double value, int digits) {
  const std::string text = fmt::format("{:.{}g}", value, digits);
  double number = value;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

int digits_of(const Axis& axis) {
  const double largest = std::max(std::abs(axis.from), std::abs(axis.to));
  const double extent = std::abs(axis.to - axis.from);
  if (!(extent > 0)) return most_digits;
  const double before = std::ceil(std::log10(largest / extent));  // at least 0, or -log10(2)
  return std::clamp(digits_within_range + static_cast<int>(std::max(0.0, before)),
                    digits_within_range, most_digits);
}

double drawn_number(const Axis& axis, double share) {
  const double value = at_share(axis, share);
  return axis.is_whole ? value : with_digits(value, digits_of(axis));
}

}  // namespace

double at_share(const Axis& axis, double share) {
  const double value = axis.is_logarithmic ? axis.from * std::pow(axis.to / axis.from, share)
                                           : axis.from + share * (axis.to - axis.from);
  return axis.is_whole ? std::round(value) : with_digits(value, most_digits);
}

double even_share(std::uint64_t seed, std::uint64_t number) {
  constexpr std::uint64_t searches = 0x5ea4c4;  // no number of an axis
  return even(seed, searches, number);
}

std::string_view to_string(Method method) { return method_names[static_cast<std::size_t>(method)]; }

Result<Space> Space::make(std::vector<Axis> axes, Method method, std::uint64_t samples,
                          std::uint64_t seed) {
  Space space;
  space.axes_ = std::move(axes);
  space.method_ = method;
  space.seed_ = seed;
  bool has_ranges = false;
  double grid = 1;
  for (const Axis& axis : space.axes_) {
    if (axis.group < space.group_size_.size()) continue;
    space.group_size_.push_back(axis.values.size());
    has_ranges = has_ranges || !axis.is_listed();
    grid *= static_cast<double>(std::max<std::size_t>(1, axis.values.size()));
  }
  const bool draws = method == Method::random || method == Method::latin_hypercube;
  if (!draws && grid > static_cast<double>(largest_grid)) {
    return Error{ErrorCode::bad_config,
                 fmt::format("axes: {:.3g} points, expected at most 2^53; take \"method\": "
                             "{{\"kind\": \"random\", ...}}",
                             grid)};
  }
  if (!has_ranges && grid <= static_cast<double>(largest_grid)) {
    space.grid_ = 1;
    for (const std::uint64_t size : space.group_size_) space.grid_ *= size;
  }
  space.size_ = draws ? samples : space.grid_;
  if (method == Method::random && space.grid_ > 0) space.size_ = std::min(samples, space.grid_);
  return space;
}

std::uint64_t Space::stride_of(std::size_t group) const {
  std::uint64_t stride = 1;
  for (std::size_t i = group + 1; i < group_size_.size(); ++i) stride *= group_size_[i];
  return stride;
}

void Space::at(std::uint64_t point, std::span<double> where) const {
  const bool walks_grid = numbers_grid() || (method_ == Method::random && grid_ > 0);
  std::uint64_t rest =
      method_ == Method::random && grid_ > 0 ? permuted(point, grid_, mixed_bits(seed_)) : point;
  std::size_t axis = axes_.size();
  for (std::size_t group = group_size_.size(); group-- > 0;) {
    double share = 0;  // of the group's stretch
    double place = 0;
    const std::uint64_t count = group_size_[group];
    if (walks_grid) {
      place = static_cast<double>(rest % count);
      rest /= count;
    } else {
      share = even(seed_, group, point);
      if (method_ == Method::latin_hypercube) {
        const std::uint64_t stratum = permuted(point, size_, mixed_bits(seed_ ^ mixed_bits(group)));
        share = (static_cast<double>(stratum) + share) / static_cast<double>(size_);
      }
      place = std::min(std::floor(share * static_cast<double>(count)),
                       static_cast<double>(count == 0 ? 0 : count - 1));
    }
    while (axis > 0 && axes_[axis - 1].group == group) {
      --axis;
      where[axis] = axes_[axis].is_listed() ? place : drawn_number(axes_[axis], share);
    }
  }
}

ConfigValue Space::value_of(const Axis& axis, double where) {
  if (axis.is_listed()) return axis.values[static_cast<std::size_t>(where)];
  ConfigValue value;
  value.text =
      axis.is_whole ? fmt::format("{:.0f}", where) : fmt::format("{:.{}g}", where, most_digits);
  value.kind = axis.unit.empty() ? ConfigValue::Kind::number : ConfigValue::Kind::text;
  if (!axis.unit.empty()) value.text += " " + axis.unit;
  return value;
}

std::string Space::text_of(const Axis& axis, double where) {
  return shown_text(value_of(axis, where));
}

}  // namespace foretrace::sweeping
