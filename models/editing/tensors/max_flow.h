// The largest flow through a network, and the cut that limits it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace foretrace::editing {

/// Dinic's algorithm: E. Dinitz, Soviet Mathematics Doklady 11, 1970. Capacities are whole numbers.
class MaxFlow {
 public:
  static constexpr std::int64_t unlimited = INT64_MAX / 4;

  explicit MaxFlow(std::size_t nodes) : edges_of_(nodes) {}
  void add_edge(std::size_t from, std::size_t to, std::int64_t capacity);

  /// The flow; to be run once.
  std::int64_t run(std::size_t source, std::size_t sink);
  /// After run(), by node: true on the source's side of the smallest cut nearest to it.
  [[nodiscard]] std::vector<bool> source_side() const;

 private:
  struct Edge {
    std::size_t to = 0;
    std::int64_t left = 0;  // edge i and i ^ 1 are each other's reverse
  };
  [[nodiscard]] bool find_levels(std::size_t source, std::size_t sink);
  [[nodiscard]] std::int64_t augment(std::size_t source, std::size_t sink);

  std::vector<std::vector<std::size_t>> edges_of_;
  std::vector<Edge> edges_;
  std::vector<std::int32_t> level_;
  std::vector<std::size_t> next_;  // edge of each node that is tried next
};

}  // namespace foretrace::editing
