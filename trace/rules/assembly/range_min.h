// Smallest of a range of times, and the first below a limit, in logarithmic time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace foretrace::trace::rules {

/// Set every element, call `finish`, then ask.
class RangeMin {
 public:
  static constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();

  explicit RangeMin(std::size_t size);
  void set(std::size_t i, std::int64_t value) { tree_[leaves_ + i] = value; }
  void finish();
  /// The first index in [first, last) whose element is below `limit`, else `last`.
  [[nodiscard]] std::size_t first_below(std::size_t first, std::size_t last,
                                        std::int64_t limit) const;

 private:
  /// The first element below a node.
  [[nodiscard]] std::size_t first_of(std::size_t node) const {
    while (node < leaves_) {
      node *= 2;
    }
    return node - leaves_;
  }

  std::size_t leaves_ = 1;
  std::vector<std::int64_t> tree_;  // children of i are 2i and 2i + 1
};

}  // namespace foretrace::trace::rules
