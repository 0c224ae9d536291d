// Max-min fair sharing: all rates rise together until a capacity is full; knows no links, no tasks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace foretrace {

/// What a flow takes of a capacity per unit of its rate.
struct FlowUse {
  std::uint32_t capacity = 0;
  double amount = 0;
};

/// Gives every flow the largest rate such that no rate can rise without lowering a smaller one.
class MaxMin {
 public:
  /// Forgets all flows; `capacities` are the sizes to share.
  void reset(std::span<const double> capacities);
  /// `limit`: its largest rate. `count` equal flows are one entry and get the same rate each.
  void add_flow(std::span<const FlowUse> uses, double limit, double count = 1.0);
  /// The rate per flow, in order of add_flow(). Amounts of 0 or less take nothing.
  [[nodiscard]] std::span<const double> solve();

 private:
  struct Share {
    double level = 0;  ///< common rate at which the capacity would be full
    std::uint32_t capacity = 0;
    [[nodiscard]] bool before(const Share& other) const {
      return level != other.level ? level < other.level : capacity < other.capacity;
    }
  };
  void link_capacities();
  [[nodiscard]] double level_of(std::uint32_t capacity);
  void freeze(std::size_t flow, double rate);
  void push(std::uint32_t capacity);
  /// The capacity that fills first, with its level brought up to date; false if none is left.
  [[nodiscard]] bool next_share(Share& share);

  std::vector<double> left_;         ///< per capacity: what frozen flows leave
  std::vector<double> active_;       ///< per capacity: amount per unit of rate of the others
  std::vector<double> total_;        ///< per capacity: active_ before anything froze
  std::vector<std::uint32_t> open_;  ///< per capacity: uses by flows that are not frozen
  std::vector<std::uint32_t> offsets_;
  std::vector<FlowUse> uses_;
  std::vector<double> limits_;
  std::vector<double> counts_;
  std::vector<double> rates_;                ///< below 0: not frozen yet
  std::vector<std::uint32_t> flow_offsets_;  ///< per capacity: its flows
  std::vector<std::uint32_t> flows_;
  std::vector<double> amounts_;  ///< beside flows_: what each takes
  std::vector<std::uint32_t> by_limit_;
  std::vector<Share> heap_;
};

}  // namespace foretrace
