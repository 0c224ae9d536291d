// The tensors of a stage of a spread run: those that its visits make, for each micro-batch, what
// comes from other stages, and its share of the model's state.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "models/jobs/recordings/recorded_index.h"
#include "models/jobs/recordings/stage_lanes.h"

namespace foretrace {

/// Of what the recorded device holds, what a rank of the stage does.
struct HeldShares {
  double held = 1;     ///< the stage's part of all parameters
  double trained = 1;  ///< and of those that are trained
  double weights = 1;  ///< of a rank that shares the stage's with others
  double gradients = 1;
  double states = 1;
};

class StageTensors {
 public:
  static constexpr std::uint32_t no_batch = UINT32_MAX;

  /// References live longer than it. `layers`: those of the stage.
  StageTensors(GraphBuilder& builder, StageLanes& lanes, const RecordedIndex& recorded,
               const HeldShares& shares, std::set<std::uint32_t> layers)
      : builder_(builder),
        lanes_(lanes),
        recorded_(recorded),
        shares_(shares),
        layers_(std::move(layers)) {}

  /// What is there before the run; all that is no state lies on the first stage.
  void hold(bool is_first);
  /// What other stages free from here on has gone by `last`.
  void begin_pass(std::uint32_t pass, TaskId last);
  /// A visit was written: its op i is task `first` + i. What comes from elsewhere comes at `begin`.
  void run(std::uint32_t visit, std::uint32_t micro_batch, TaskId first, TaskId begin);
  /// What was made since then and goes to other stages has gone by `last`.
  void end_group(TaskId last);

 private:
  struct Live {
    std::uint32_t micro_batch = no_batch;
    std::size_t tensor = 0;  ///< of the builder
  };
  [[nodiscard]] const Tensor& tensor(std::uint32_t row) const {
    return recorded_.program().context.tensors[row];
  }
  [[nodiscard]] const RecordedPart& part_of(TaskId op) const {
    return recorded_.program().visits[recorded_.visit_of(op)].part;
  }
  [[nodiscard]] bool outlives_pass(std::uint32_t row, std::uint32_t pass) const;
  [[nodiscard]] bool goes_elsewhere(std::uint32_t row, std::uint32_t pass) const;
  [[nodiscard]] double share_of(const Tensor& recorded) const;
  /// With the place that the recorded one has, but for its tasks.
  std::size_t add(std::uint32_t row, TaskId allocated_in);
  void free(std::uint32_t row, std::uint32_t micro_batch, bool is_pass, TaskId task, TaskId begin);

  GraphBuilder& builder_;
  StageLanes& lanes_;
  const RecordedIndex& recorded_;
  HeldShares shares_;
  std::set<std::uint32_t> layers_;
  std::map<std::uint32_t, TaskId> forward_begins_;      // of the pass, by micro-batch
  std::map<std::uint32_t, std::vector<Live>> live_;     // by row
  std::map<std::uint32_t, std::uint32_t> accumulated_;  // row, and the last pass that made it
  std::vector<std::pair<std::uint32_t, std::size_t>> leaving_;  // rows, and tensors of the builder
};

}  // namespace foretrace
