// Pattern search on factors. Only multiplication, division and comparison: no result of a math
// library, so that every machine finds the same constants.
#include "models/hardware/costs/calibration/minimize.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace foretrace {
namespace {

constexpr std::array steps = {1.0, 0.4, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005};
constexpr int rounds_per_step = 12;
constexpr int directions_per_round = 12;

class Search {
 public:
  Search(std::span<const FreeParameter> parameters,
         const std::function<double(std::span<const double>)>& value)
      : parameters_(parameters), value_(value) {
    for (const FreeParameter& parameter : parameters) {
      best_.push_back(std::clamp(parameter.start, parameter.lowest, parameter.highest));
    }
    least_ = value_(best_);
  }

  std::vector<double> run() {
    for (const double step : steps) {
      for (int round = 0; round < rounds_per_step; ++round) {
        bool better = false;
        for (std::size_t i = 0; i < best_.size(); ++i) better = along(i, step) || better;
        for (int i = 0; i < directions_per_round; ++i) better = somewhere(step) || better;
        if (!better) break;
      }
    }
    return best_;
  }

 private:
  bool try_point(const std::vector<double>& point) {
    const double value = value_(point);
    if (!(value < least_)) return false;
    least_ = value;
    best_ = point;
    return true;
  }
  void scale(std::vector<double>& point, std::size_t i, double factor) const {
    point[i] = std::clamp(point[i] * factor, parameters_[i].lowest, parameters_[i].highest);
  }

  bool along(std::size_t i, double step) {
    for (const double factor : {1 + step, 1 / (1 + step)}) {
      std::vector<double> point = best_;
      scale(point, i, factor);
      if (try_point(point)) return true;
    }
    return false;
  }

  // Every parameter up, down or not at all: leaves valleys that no axis follows.
  bool somewhere(double step) {
    std::vector<double> point = best_;
    for (std::size_t i = 0; i < point.size(); ++i) {
      state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
      const auto draw = static_cast<unsigned>(state_ >> 33U) % 3U;
      if (draw != 0) scale(point, i, draw == 1 ? 1 + step : 1 / (1 + step));
    }
    return try_point(point);
  }

  std::span<const FreeParameter> parameters_;
  const std::function<double(std::span<const double>)>& value_;
  std::vector<double> best_;
  double least_ = 0;
  std::uint64_t state_ = 1;
};

}  // namespace

std::vector<double> minimize(std::span<const FreeParameter> parameters,
                             const std::function<double(std::span<const double>)>& value) {
  return Search(parameters, value).run();
}

}  // namespace foretrace
