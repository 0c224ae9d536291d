// The largest flow through a network, and the cut that limits it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace foretrace::editing {

/// Capacities are whole numbers. More than `unlimited` does not flow.
class MaxFlow {
 public:
  static constexpr std::int64_t unlimited = INT64_MAX / 4;

  explicit MaxFlow(std::size_t nodes) : nodes_(nodes) {}
  void add_edge(std::size_t from, std::size_t to, std::int64_t capacity) {
    edges_.push_back({from, to, capacity});
  }

  /// The flow; to be run once.
  std::int64_t run(std::size_t source, std::size_t sink);
  /// After run(), by node: true on the source's side of the smallest cut nearest to it.
  [[nodiscard]] const std::vector<bool>& source_side() const { return source_side_; }

 private:
  struct Edge {
    std::size_t from = 0;
    std::size_t to = 0;
    std::int64_t capacity = 0;
  };
  std::size_t nodes_;
  std::vector<Edge> edges_;
  std::vector<bool> source_side_;
};

}  // namespace foretrace::editing
