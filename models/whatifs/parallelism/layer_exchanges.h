// Where the nodes of a modelled job go in a recorded pass.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "models/editing/kernels/kernel_editor.h"
#include "models/editing/parameters/gradients.h"
#include "models/jobs/program/graphs/rank_nodes.h"
#include "models/jobs/recordings/pass_job.h"
#include "models/jobs/recordings/recorded_passes.h"
#include "models/whatifs/parallelism/network_calls.h"

namespace foretrace::editing {

/// A recorded pass with its nodes.
struct PassNodes {
  const RecordedPass& pass;
  const PassLayers& layers;
  const Gradients& gradients;
  const std::vector<RankNode>& nodes;
};

/// Puts collectives and copies between the recorded kernels of one pass. References live longer
/// than it.
class LayerExchanges {
 public:
  LayerExchanges(KernelEditor& editor, NetworkCalls& network, const SpreadOptions& options,
                 bool bucket_view, const PassNodes& about)
      : graph_(editor.graph()),
        editor_(editor),
        network_(network),
        options_(options),
        bucket_view_(bucket_view),
        about_(about) {}

  /// Error: nothing tells what a copy costs.
  Status put();
  [[nodiscard]] std::size_t buckets() const { return buckets_.size(); }

 private:
  using Layer = std::pair<Phase, std::uint32_t>;
  struct Bucket {
    std::vector<double> numbers;  // of its gradients
    TaskId transfer = none<TaskId>;
  };

  Status add(std::uint32_t node);
  Status enter(const RankNode& node);
  Status scatter(std::uint32_t node);
  Status fill(std::uint32_t node);
  Status finish();
  void gather_behind(std::uint32_t node);
  [[nodiscard]] TaskId transfer(std::uint32_t node, TaskId anchor, Place place);
  void issue(std::uint32_t node, TaskId anchor);
  [[nodiscard]] Result<TaskId> copy(TaskId anchor, Place place, double bytes,
                                    std::string_view name);
  [[nodiscard]] TaskId copied_out(const NodePlace& layer) const;
  [[nodiscard]] TaskId first_called(const std::vector<TaskId>& kernels) const;
  [[nodiscard]] TaskId last_called(const std::vector<TaskId>& kernels) const;
  [[nodiscard]] const std::vector<TaskId>& kernels_of(const Layer& layer) const;
  [[nodiscard]] bool shares_parameters() const {
    return options_.plan.sharding == Sharding::parameters;
  }

  const TaskGraph& graph_;
  KernelEditor& editor_;
  NetworkCalls& network_;
  const SpreadOptions& options_;
  bool bucket_view_;
  const PassNodes& about_;
  std::map<std::uint32_t, TaskId> transfers_;  // by node
  std::vector<std::uint32_t> asked_;           // nodes that collect, and are not called yet
  std::map<Layer, TaskId> copied_;             // parameters that came for it
  std::vector<Bucket> buckets_;
  std::size_t filled_ = 0;           // gradients in buckets
  TaskId divided_ = none<TaskId>;    // the last kernel of a layer whose gradients left
  TaskId reduced_ = none<TaskId>;    // the last division of gradients
  TaskId travelled_ = none<TaskId>;  // the last one of all that leave a layer
  bool is_finished_ = false;
};

}  // namespace foretrace::editing
