// A device that computes on one lane and communicates on another, each slowing the other down.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

namespace foretrace {

/// Times in ns. Collectives run one after the other in the order in which they are started.
class TwoLanes {
 public:
  TwoLanes() = default;
  explicit TwoLanes(double communication_slowdown) : slowdown_(communication_slowdown) {}

  /// Computes for `ns`; while a collective runs, `slowed` times as long.
  void compute(double ns, double slowed = 1);
  /// Starts a collective of `ns` and computes on. Returns its number.
  std::uint32_t start(double ns);
  /// Waits until this collective and all before it have ended; returns how long.
  double wait(std::uint32_t number);
  /// Waits for all of them.
  double wait_all() { return started_ == 0 ? 0 : wait(started_ - 1); }

  [[nodiscard]] double now() const { return now_; }
  /// Time during which both ran.
  [[nodiscard]] double overlapped() const { return overlapped_; }

 private:
  double slowdown_ = 1;
  double now_ = 0;
  double overlapped_ = 0;
  std::deque<double> left_;  ///< of collectives that have not ended, at full speed
  std::uint32_t started_ = 0;
  std::uint32_t ended_ = 0;
};

}  // namespace foretrace
