#include "apps/report/svg/strip.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace foretrace::svg {

Strip::Strip(std::int64_t begin_ns, std::int64_t end_ns, std::size_t pixels)
    : begin_(static_cast<double>(begin_ns)),
      scale_(end_ns > begin_ns
                 ? static_cast<double>(pixels) / static_cast<double>(end_ns - begin_ns)
                 : 0),
      pixels_(pixels),
      time_(pixels * fill_count, 0.0F) {}

void Strip::add(std::int64_t begin_ns, std::int64_t end_ns, Fill fill) {
  const auto size = static_cast<double>(pixels_);
  const double from = std::clamp((static_cast<double>(begin_ns) - begin_) * scale_, 0.0, size);
  const double to = std::clamp((static_cast<double>(end_ns) - begin_) * scale_, 0.0, size);
  for (auto pixel = static_cast<std::size_t>(from); static_cast<double>(pixel) < to; ++pixel) {
    const auto left = static_cast<double>(pixel);
    const double part = std::min(to, left + 1) - std::max(from, left);
    time_[pixel * fill_count + static_cast<std::size_t>(fill)] += static_cast<float>(part);
  }
}

std::vector<Run> Strip::runs() const {
  std::vector<Run> runs;
  for (std::size_t pixel = 0; pixel < pixels_; ++pixel) {
    const auto first = time_.begin() + static_cast<std::ptrdiff_t>(pixel * fill_count);
    const auto last = first + fill_count;
    const float covered = std::accumulate(first, last, 0.0F);
    if (covered <= 0.004F) {
      continue;
    }
    const auto fill = static_cast<Fill>(std::max_element(first, last) - first);
    const int strength = std::clamp(static_cast<int>(std::ceil(covered * 4 - 0.01F)), 1, 4);
    if (!runs.empty() && runs.back().fill == fill && runs.back().strength == strength &&
        runs.back().first + runs.back().count == pixel) {
      ++runs.back().count;
    } else {
      runs.push_back({pixel, 1, fill, strength});
    }
  }
  return runs;
}

double Strip::covered_ns() const {
  return scale_ > 0 ? std::accumulate(time_.begin(), time_.end(), 0.0) / scale_ : 0;
}

}  // namespace foretrace::svg
