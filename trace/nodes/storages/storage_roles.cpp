#include "trace/nodes/storages/storage_roles.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "sim/core/text.h"
#include "trace/annotate/tensors/parameters.h"

namespace foretrace::trace {
namespace {

/// Positions of the tensors among the arguments of a node: where its list of other values has "".
std::vector<int> tensor_positions(std::string_view values) {
  std::vector<int> positions;
  int position = 0;
  for (std::size_t at = values.find('"'); at != std::string_view::npos; ++position) {
    std::size_t end = at + 1;
    while (end < values.size() && values[end] != '"') {
      end += values[end] == '\\' ? 2 : 1;
    }
    if (end == at + 1) {
      positions.push_back(position);
    }
    at = end < values.size() ? values.find('"', end + 1) : std::string_view::npos;
  }
  return positions;
}

bool is_accumulation(std::string_view name) {
  return name.ends_with("torch::autograd::AccumulateGrad") &&
         !name.starts_with("autograd::engine::");
}

class Roles {
 public:
  explicit Roles(const StorageScene& scene)
      : scene_(scene),
        nodes_(scene.nodes),
        roles_(scene.storages.lives.size()),
        last_update_(roles_.size(), 0),
        last_backward_(roles_.size(), 0),
        accumulation_(nodes_.size(), none<NodeId>),
        update_(nodes_.size(), 0) {}

  std::vector<StorageRole> run() {
    std::size_t row = 0;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const auto node = make_id<NodeId>(i);
      enter(node);
      const std::size_t first = row;
      while (row < nodes_.tensors.size() && nodes_.tensors[row].node == node) {
        ++row;
      }
      use(node, first, row);
    }
    settle();
    return std::move(roles_);
  }

 private:
  struct Accumulation {
    std::uint32_t life = no_life;
    std::uint32_t backward = 0;
  };

  [[nodiscard]] std::string_view name_of(NodeId node) const {
    return scene_.table.name_of(make_id<EventId>(index(node)));
  }

  /// Counts runs of the optimizer and backward passes.
  void enter(NodeId node) {
    const std::string_view name = name_of(node);
    const Phase phase = scene_.annotation.phase[index(node)];
    left_backward_ = left_backward_ || phase == Phase::forward || phase == Phase::update;
    if (contains(name, "zero_grad")) {
      clearings_.push_back(node);
    }
    const NodeId around = node_around(nodes_, node);
    if (around != none<NodeId>) {
      accumulation_[index(node)] = accumulation_[index(around)];
      update_[index(node)] = update_[index(around)];
    }
    if (name.starts_with("Optimizer.step")) {
      update_[index(node)] = ++updates_;
    }
    if (is_accumulation(name)) {
      backwards_ += left_backward_ || backwards_ == 0 ? 1 : 0;
      left_backward_ = false;
      accumulation_[index(node)] = node;
    }
  }

  void use(NodeId node, std::size_t first, std::size_t end) {
    const std::span<const NodeTensor> rows = std::span(nodes_.tensors).subspan(first, end - first);
    const std::vector<int> positions = positions_of(node, rows);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::uint32_t life = scene_.storages.of_row[first + i];
      if (life == no_life) continue;
      note_phase(node, life);
      if (i < positions.size() && !rows[i].is_output) {
        note_argument(model_argument(name_of(node), positions[i]), roles_[life]);
      }
      const NodeId accumulation = accumulation_[index(node)];
      if (accumulation != none<NodeId> && (rows[i].is_output || accumulation == node)) {
        left_in_[accumulation] = {life, backwards_};
      }
      roles_[life].made_by_optimizer = roles_[life].made_by_optimizer || makes_state(node, rows[i]);
    }
  }

  /// Empty unless the operator reads a part of the model and each tensor has one clear position.
  [[nodiscard]] std::vector<int> positions_of(NodeId node, std::span<const NodeTensor> rows) const {
    if (model_argument(name_of(node), 0) == ModelArgument::unknown) {
      return {};
    }
    const Descriptor& descriptor = scene_.table.descriptors[nodes_.signature[index(node)]];
    std::vector<int> positions = tensor_positions(scene_.table.names[descriptor.concrete]);
    const auto inputs = std::count_if(rows.begin(), rows.end(),
                                      [](const NodeTensor& tensor) { return !tensor.is_output; });
    if (positions.size() != static_cast<std::size_t>(inputs)) {
      positions.clear();
    }
    return positions;
  }

  void note_phase(NodeId node, std::uint32_t life) {
    StorageRole& role = roles_[life];
    switch (scene_.annotation.phase[index(node)]) {
      case Phase::forward: role.in_forward = true; break;
      case Phase::backward: role.in_backward = true; break;
      case Phase::update:
        role.in_update = true;
        note_update(update_[index(node)], life);
        break;
      case Phase::data_loading: role.in_loading = true; break;
      case Phase::communication: role.in_communication = true; break;
      case Phase::unknown: break;
    }
  }

  void note_update(std::uint32_t update, std::uint32_t life) {
    if (update > 0) {
      roles_[life].by_many_updates =
          roles_[life].by_many_updates || (last_update_[life] > 0 && last_update_[life] < update);
      last_update_[life] = update;
    }
  }

  static void note_argument(ModelArgument argument, StorageRole& role) {
    role.is_weight = role.is_weight || argument == ModelArgument::weight;
    role.is_buffer = role.is_buffer || argument == ModelArgument::buffer;
    role.is_data = role.is_data || argument == ModelArgument::data;
  }

  /// Optimizers make their states by these two, straight inside their step.
  [[nodiscard]] bool makes_state(NodeId node, const NodeTensor& tensor) const {
    const NodeId around = node_around(nodes_, node);
    const std::string_view name = name_of(node);
    return tensor.is_output && (name == "aten::zeros_like" || name == "aten::clone") &&
           around != none<NodeId> && name_of(around).starts_with("Optimizer.step");
  }

  /// What an accumulation put out last is the gradient now, else what it was given.
  void settle() {
    for (const auto& [node, accumulation] : left_in_) {
      roles_[accumulation.life].is_gradient = true;
      std::uint32_t& last = last_backward_[accumulation.life];
      last = std::max(last, accumulation.backward);
    }
    for (std::size_t life = 0; life < roles_.size(); ++life) {
      StorageRole& role = roles_[life];
      role.by_first_update_only = updates_ > 1 && last_update_[life] == 1;
      if (!role.is_gradient) continue;
      role.is_dropped = last_backward_[life] < backwards_;
      const std::uint32_t used = scene_.spans.end[index(scene_.storages.lives[life].last)];
      const auto next = std::partition_point(
          clearings_.begin(), clearings_.end(),
          [&](NodeId clearing) { return scene_.spans.begin[index(clearing)] <= used; });
      role.cleared_by = next == clearings_.end() ? none<NodeId> : *next;
    }
  }

  const StorageScene& scene_;
  const NodeGraph& nodes_;
  std::vector<StorageRole> roles_;
  std::vector<std::uint32_t> last_update_;    // per life: number of the last one that used it
  std::vector<std::uint32_t> last_backward_;  // per life: of its last accumulation
  std::vector<NodeId> accumulation_;          // per node: the AccumulateGrad around it
  std::vector<std::uint32_t> update_;         // per node: number of the step around it, from 1
  std::unordered_map<NodeId, Accumulation> left_in_;
  std::vector<NodeId> clearings_;  // zero_grad
  std::uint32_t updates_ = 0;
  std::uint32_t backwards_ = 0;
  bool left_backward_ = false;
};

}  // namespace

std::vector<StorageRole> storage_roles(const StorageScene& scene) { return Roles(scene).run(); }

}  // namespace foretrace::trace
