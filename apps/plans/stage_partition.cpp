#include "apps/plans/stage_partition.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace foretrace::mapping {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

class StageSearch {
 public:
  explicit StageSearch(const StageProblem& problem)
      : problem_(problem),
        most_stages_(std::min(problem.layers, problem.devices)),
        groups_(problem.groups.size()) {
    if (problem.most_stages > 0) most_stages_ = std::min(most_stages_, problem.most_stages);
    ask_options();
  }

  std::vector<StagePartition> run();

 private:
  /// Least time with room for so many micro-batches; none: a time of never.
  [[nodiscard]] const StageOption& best(std::size_t interval, std::size_t group,
                                        std::uint32_t held) const {
    return best_[(interval * groups_ + group) * most_held() + held - 1];
  }
  [[nodiscard]] std::size_t interval(std::uint32_t first, std::uint32_t last) const {
    return std::size_t{first} * (problem_.layers + 1) + last;
  }
  [[nodiscard]] std::size_t state(std::uint32_t stages, std::uint32_t layer,
                                  std::uint32_t device) const {
    return (std::size_t{stages} * (problem_.layers + 1) + layer) * (problem_.devices + 1) + device;
  }
  [[nodiscard]] std::uint32_t most_held() const {
    return std::min(most_stages_, problem_.micro_batches);
  }
  [[nodiscard]] bool has_place(std::uint32_t device, std::uint32_t group) const {
    const std::uint32_t node = problem_.node_devices;
    if (device + group > problem_.devices) return false;
    return group <= node ? device % node + group <= node : device % node == 0 && group % node == 0;
  }
  void ask_options();
  void solve(double bound);
  void solve_state(std::uint32_t stages, std::uint32_t layer, std::uint32_t device, double bound);
  [[nodiscard]] StagePartition read(std::uint32_t stages) const;

  const StageProblem& problem_;
  std::uint32_t most_stages_;
  std::size_t groups_;
  std::vector<StageOption> best_;
  std::vector<double> sum_;  // per state: of the stages from this layer and device to the end
  std::vector<StageChoice> choice_;
};

void StageSearch::ask_options() {
  const StageOption none{.time = never};
  best_.assign(std::size_t{problem_.layers + 1} * (problem_.layers + 1) * groups_ * most_held(),
               none);
  for (std::uint32_t first = 0; first < problem_.layers; ++first) {
    for (std::uint32_t last = first + 1; last <= problem_.layers; ++last) {
      for (std::size_t g = 0; g < groups_; ++g) {
        if (problem_.groups[g] > problem_.devices) continue;
        for (const StageOption& option : problem_.options(first, last, problem_.groups[g])) {
          const std::uint32_t most = std::min(option.in_flight, most_held());
          StageOption* const room = &best_[(interval(first, last) * groups_ + g) * most_held()];
          for (std::uint32_t held = 0; held < most; ++held) {
            if (option.time < room[held].time) room[held] = option;
          }
        }
      }
    }
  }
}

void StageSearch::solve_state(std::uint32_t stages, std::uint32_t layer, std::uint32_t device,
                              double bound) {
  const std::uint32_t held = std::min(stages, problem_.micro_batches);
  double& sum = sum_[state(stages, layer, device)];
  // Each of the stages behind needs a layer.
  for (std::uint32_t last = layer + 1; last + stages - 1 <= problem_.layers; ++last) {
    for (std::size_t g = 0; g < groups_; ++g) {
      const std::uint32_t group = problem_.groups[g];
      if (!has_place(device, group)) continue;
      const StageOption& option = best(interval(layer, last), g, held);
      if (!(option.time <= bound)) continue;
      const double rest = sum_[state(stages - 1, last, device + group)];
      if (!(option.time + rest < sum)) continue;
      sum = option.time + rest;
      choice_[state(stages, layer, device)] = {layer, last, group, option};
    }
  }
}

void StageSearch::solve(double bound) {
  const std::size_t states = state(most_stages_ + 1, 0, 0);
  sum_.assign(states, never);
  choice_.resize(states);
  sum_[state(0, problem_.layers, problem_.devices)] = 0;
  for (std::uint32_t stages = 1; stages <= most_stages_; ++stages) {
    for (std::uint32_t layer = 0; layer < problem_.layers; ++layer) {
      for (std::uint32_t device = 0; device < problem_.devices; ++device) {
        solve_state(stages, layer, device, bound);
      }
    }
  }
}

StagePartition StageSearch::read(std::uint32_t stages) const {
  StagePartition partition;
  std::uint32_t layer = 0;
  std::uint32_t device = 0;
  for (; stages > 0; --stages) {
    const StageChoice& choice = choice_[state(stages, layer, device)];
    partition.stages.push_back(choice);
    partition.sum += choice.option.time;
    partition.slowest = std::max(partition.slowest, choice.option.time);
    layer = choice.last;
    device += choice.group;
  }
  partition.total = partition.sum + (problem_.micro_batches - 1.0) * partition.slowest;
  return partition;
}

// The answer for a bound is that for every lower one down to its own slowest stage: the next bound
// lies below that. No lower bound has a lower sum.
std::vector<StagePartition> StageSearch::run() {
  std::vector<StagePartition> found;
  if (groups_ == 0) return found;
  double bound = std::numeric_limits<double>::max();
  double least = never;
  while (true) {
    solve(bound);
    std::uint32_t stages = 0;
    for (std::uint32_t s = 1; s <= most_stages_; ++s) {
      if (sum_[state(s, 0, 0)] < (stages > 0 ? sum_[state(stages, 0, 0)] : never)) stages = s;
    }
    if (stages == 0) return found;
    StagePartition partition = read(stages);
    if (partition.sum >= least) return found;
    least = std::min(least, partition.total);
    bound = std::nextafter(partition.slowest, 0.0);
    found.push_back(std::move(partition));
  }
}

}  // namespace

std::vector<StagePartition> stage_partitions(const StageProblem& problem) {
  return StageSearch(problem).run();
}

}  // namespace foretrace::mapping
