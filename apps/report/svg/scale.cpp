#include "apps/report/svg/scale.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

namespace foretrace::svg {
namespace {

// The smallest of 1, 2, 5, 10, 20, ... that needs at most `most` steps up to `length`.
double round_step(double length, std::size_t most) {
  const double rough = length / static_cast<double>(std::max<std::size_t>(1, most));
  double power = 1;
  while (power * 10 <= rough) {
    power *= 10;
  }
  while (power > rough) {
    power /= 10;
  }
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (power * factor >= rough) {
      return power * factor;
    }
  }
  return power * 10;
}

// As many decimals as a step of this size needs.
int decimals_of(double step) {
  int decimals = 0;
  while (decimals < 9 && std::abs(step - std::round(step)) > 1e-9) {
    step *= 10;
    ++decimals;
  }
  return decimals;
}

struct Unit {
  double size;
  std::string_view name;
};

std::vector<Tick> ticks_in(double largest, const Unit& unit, std::size_t most) {
  std::vector<Tick> ticks;
  if (!(largest > 0)) {
    return ticks;
  }
  const double step = round_step(largest / unit.size, most);
  const int decimals = decimals_of(step);
  for (int i = 0; step * i * unit.size <= largest * (1 + 1e-9); ++i) {
    ticks.push_back(
        {step * i * unit.size,
         i == 0 ? std::string("0") : fmt::format("{:.{}f} {}", step * i, decimals, unit.name)});
  }
  return ticks;
}

template <std::size_t count>
const Unit& unit_of(double largest, const std::array<Unit, count>& units) {
  for (const Unit& unit : units) {
    if (largest >= unit.size) {
      return unit;
    }
  }
  return units.back();
}

}  // namespace

std::vector<Tick> time_ticks(std::int64_t largest_ns, std::size_t most) {
  constexpr std::array<Unit, 4> units = {{{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}}};
  const auto largest = static_cast<double>(largest_ns);
  return ticks_in(largest, unit_of(largest, units), most);
}

std::vector<Tick> byte_ticks(std::int64_t largest_bytes, std::size_t most) {
  constexpr std::array<Unit, 4> units = {
      {{1073741824.0, "GiB"}, {1048576.0, "MiB"}, {1024.0, "KiB"}, {1.0, "B"}}};
  const auto largest = static_cast<double>(largest_bytes);
  return ticks_in(largest, unit_of(largest, units), most);
}

std::vector<Tick> number_ticks(double low, double high, std::size_t most) {
  std::vector<Tick> ticks;
  if (!(high > low) || !std::isfinite(high - low)) {
    return ticks;
  }
  const double step = round_step(high - low, most);
  const int decimals = decimals_of(step);
  for (double i = std::ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i += 1) {
    ticks.push_back({i * step, fmt::format("{:.{}f}", i * step + 0.0, decimals)});
  }
  return ticks;
}

}  // namespace foretrace::svg
