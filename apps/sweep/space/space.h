// The points of a sweep by number: which value every axis has there. Nothing is stored per point.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/config.h"
#include "sim/core/result.h"

namespace foretrace::sweeping {

/// One thing in which points differ.
struct Axis {
  std::string name;
  std::string pointer;  ///< into the document of a point
  std::vector<std::string> parts{};
  std::vector<ConfigValue> values{};  ///< empty: any number of a range
  double from = 0;                    ///< of a range
  double to = 0;
  bool is_logarithmic = false;
  bool is_whole = false;
  std::string unit{};     ///< of a range: values are texts such as "12.5 GB/s"
  std::size_t group = 0;  ///< axes of one group move together

  [[nodiscard]] bool is_listed() const { return !values.empty(); }
};

/// The number of a range that lies so far (0 to 1) from its begin to its end.
[[nodiscard]] double at_share(const Axis& axis, double share);

enum class Method : std::uint8_t {
  grid,             ///< every combination
  list,             ///< the points that the file lists
  random,           ///< so many different points, evenly distributed
  latin_hypercube,  ///< so many points; each axis is covered evenly
  nsga2,            ///< those of the grid that a genetic search for all objectives looks at
  annealing         ///< those that simulated annealing by the first objective looks at
};
inline constexpr std::size_t method_count = 6;
[[nodiscard]] std::string_view to_string(Method method);
/// Whether results decide which points are looked at next.
[[nodiscard]] constexpr bool is_search(Method method) {
  return method == Method::nsga2 || method == Method::annealing;
}

/// Of the methods that search.
struct SearchSettings {
  std::uint64_t points = 1;      ///< at most so many are computed
  std::uint64_t population = 1;  ///< of a generation; chains of annealing
  std::uint64_t seed = 0;
};

/// The number of this number among those that a seed gives, evenly from 0 to below 1.
[[nodiscard]] double even_share(std::uint64_t seed, std::uint64_t number);

/// Numbers of points are stable: they depend on axes, method, seed and count alone.
class Space {
 public:
  Space() = default;
  /// `samples` and `seed` are those of the methods that draw. Axes are grouped and checked already.
  [[nodiscard]] static Result<Space> make(std::vector<Axis> axes, Method method,
                                          std::uint64_t samples, std::uint64_t seed);

  [[nodiscard]] std::uint64_t size() const { return size_; }
  /// How many values each group of axes has; 0: any number of a range.
  [[nodiscard]] const std::vector<std::uint64_t>& group_sizes() const { return group_size_; }
  /// Whether a point is its number in the grid of all combinations, whatever method walks it.
  [[nodiscard]] bool numbers_grid() const {
    return method_ != Method::random && method_ != Method::latin_hypercube;
  }
  /// Of a grid: how many points in a row differ in nothing but the groups behind this one.
  [[nodiscard]] std::uint64_t stride_of(std::size_t group) const;
  [[nodiscard]] const std::vector<Axis>& axes() const { return axes_; }
  /// Where each axis stands at a point: the place among its values, or the number of its range.
  void at(std::uint64_t point, std::span<double> where) const;
  [[nodiscard]] static ConfigValue value_of(const Axis& axis, double where);
  [[nodiscard]] static std::string text_of(const Axis& axis, double where);

 private:
  std::vector<Axis> axes_;
  std::vector<std::uint64_t> group_size_;  ///< 0: a range
  Method method_ = Method::grid;
  std::uint64_t grid_ = 0;  ///< points of the full grid; 0: there are ranges, or too many
  std::uint64_t size_ = 0;
  std::uint64_t seed_ = 0;
};

}  // namespace foretrace::sweeping
