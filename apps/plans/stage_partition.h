// Layers of a model to pipeline stages, and stages to groups of devices, each of its own size: the
// dynamic program of Zheng et al., Alpa, OSDI 2022, section 5.2.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace foretrace::mapping {

/// A way to run some layers on a group of devices. Times in any unit, the same everywhere.
struct StageOption {
  double time = 0;              ///< of one micro-batch, forward and backward
  std::uint32_t in_flight = 0;  ///< micro-batches that its memory has room for
  std::uint32_t number = 0;     ///< the caller's
};

struct StageProblem {
  std::uint32_t layers = 1;
  std::uint32_t devices = 1;  ///< all are used
  /// Of a node: a group lies in one, or is made of whole ones.
  std::uint32_t node_devices = 1;
  std::vector<std::uint32_t> groups;  ///< sizes of groups, rising
  std::uint32_t micro_batches = 1;
  std::uint32_t most_stages = 0;  ///< 0: as many as layers and devices allow
  /// Of layers [first, last) on a group of this size; empty: none.
  std::function<std::vector<StageOption>(std::uint32_t first, std::uint32_t last,
                                         std::uint32_t group)>
      options;
};

struct StageChoice {
  std::uint32_t first = 0;  ///< layer
  std::uint32_t last = 0;   ///< one past the last layer
  std::uint32_t group = 1;
  StageOption option;
  friend bool operator==(const StageChoice& a, const StageChoice& b) {
    return a.first == b.first && a.last == b.last && a.group == b.group &&
           a.option.number == b.option.number;
  }
};

/// Stages in the order of the model, on the devices in their order.
struct StagePartition {
  double sum = 0;      ///< of the times of all stages
  double slowest = 0;  ///< of them
  double total = 0;    ///< sum + (micro-batches - 1) x slowest
  std::vector<StageChoice> stages;
};

/// For every bound on the slowest stage the partition of least sum, by falling bound: the one of
/// least total is among them. A stage holds as many micro-batches as there are stages from it on
/// (1F1B), at most all. Empty: no partition fits.
[[nodiscard]] std::vector<StagePartition> stage_partitions(const StageProblem& problem);

}  // namespace foretrace::mapping
