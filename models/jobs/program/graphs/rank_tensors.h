// What a rank of a modelled step holds, tensor by tensor: parameters with their gradients and
// states, and what forward passes keep for backward ones.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "models/jobs/program/estimate.h"
#include "models/jobs/program/graphs/rank_nodes.h"
#include "models/jobs/program/stages.h"
#include "sim/graph/graph_builder.h"

namespace foretrace {

/// The parameters of one operator of one block, as this rank has them.
struct OwnParameters {
  NodePlace place;
  std::uint32_t operator_index = 0;
  double elements = 0;
  double updated = 0;  ///< by this rank: its shard, and a table that two blocks share once
  bool is_expert = false;
};

class RankTensors {
 public:
  /// References live longer than it.
  RankTensors(GraphBuilder& builder, const Job& job, const RankProgram& program,
              std::uint32_t stage);

  /// Of all blocks of the stage, in the order of the model.
  [[nodiscard]] const std::vector<OwnParameters>& parameters() const { return parameters_; }
  /// Adds what is there all the time. `layer` is that of an operator.
  template <typename LayerOf>
  void hold(LaneId stream, const LayerOf& layer);
  /// The calls that launch the kernels of a node, the first and the last one.
  void run(const RankNode& node, TaskId first, TaskId last, LayerId layer);
  /// After the last node: what nothing was seen to free goes with its block.
  void end();

 private:
  using Key = std::pair<std::uint32_t, std::uint32_t>;  // micro-batch, position of the block
  struct Kept {
    std::size_t tensor = 0;  // of the builder
    std::uint32_t operator_index = 0;
  };
  struct InFlight {
    std::vector<Kept> kept;
    TaskId last_forward = none<TaskId>;
    TaskId last_backward = none<TaskId>;
  };
  static constexpr std::uint32_t whole_block = UINT32_MAX;

  void find_parameters();
  [[nodiscard]] double held_share(const OwnParameters& one, Sharding from) const;
  void add_held(double bytes, TensorCategory category, LayerId layer);
  [[nodiscard]] TaskId maker(const RankNode& node, TaskId first) const;
  void keep(const RankNode& node, double bytes, TaskId call, LayerId layer);
  [[nodiscard]] double bytes_kept(const RankNode& node) const;

  GraphBuilder& builder_;
  const Job& job_;
  const RankProgram& program_;
  std::uint32_t stage_;
  ParallelPlan plan_;
  LaneId stream_ = none<LaneId>;
  std::vector<OwnParameters> parameters_;
  std::map<Key, InFlight> in_flight_;
};

template <typename LayerOf>
void RankTensors::hold(LaneId stream, const LayerOf& layer) {
  stream_ = stream;
  const Framework& framework = *job_.framework;
  const bool is_kept = keeps_collected(job_, plan_);
  const bool is_whole = keeps_gradients(job_, plan_);
  const double whole = is_whole ? whole_gradients(job_, stage_) : 0;
  for (const OwnParameters& one : parameters_) {
    const LayerId at = layer(one);
    const auto add = [&](double bytes, Sharding from, TensorCategory category) {
      add_held(one.elements * bytes * held_share(one, from), category, at);
    };
    add(framework.weight_bytes, Sharding::parameters, TensorCategory::weight);
    if (!job_.trains()) continue;
    if (is_kept) add_held(one.elements * framework.gather_bytes, TensorCategory::weight, at);
    if (is_whole) {
      const double share = whole + (1 - whole) * held_share(one, Sharding::gradients);
      add_held(one.elements * framework.reduce_bytes * share, TensorCategory::gradient, at);
    } else {
      add(framework.gradient_bytes, Sharding::gradients, TensorCategory::gradient);
    }
    add(framework.state_bytes, Sharding::optimizer, TensorCategory::optimizer_state);
  }
  const StageMemory memory = stage_memory(job_, program_)[stage_];
  add_held(memory.buffers, TensorCategory::communication, {});
  if (job_.trains()) return;
  add_held(memory.activations, TensorCategory::kv_cache, {});
  add_held(memory.working, TensorCategory::temporary, {});
}

}  // namespace foretrace
