#include "models/hardware/catalogue/twin_range.h"

#include <algorithm>

namespace foretrace {

Ranged no_narrower_than_twins(Ranged range, const std::vector<Ranged>& twins) {
  if (twins.empty()) return range;
  std::vector<double> lows;
  std::vector<double> highs;
  for (const Ranged& twin : twins) {
    lows.push_back(twin.low);
    highs.push_back(twin.high);
  }
  std::sort(lows.begin(), lows.end());
  std::sort(highs.begin(), highs.end());
  range.low = std::min(range.low, lows[(twins.size() - 1) / 2]);
  range.high = std::max(range.high, highs[twins.size() / 2]);
  return range;
}

}  // namespace foretrace
