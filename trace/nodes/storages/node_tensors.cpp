#include "trace/nodes/storages/node_tensors.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "trace/annotate/annotate.h"
#include "trace/annotate/tensors/tensor_owners.h"
#include "trace/nodes/storages/node_events.h"
#include "trace/nodes/storages/storage_lives.h"
#include "trace/nodes/storages/storage_roles.h"

namespace foretrace::trace {
namespace {

constexpr std::int32_t type_cuda = 1;  // as in [memory] instants

/// When a storage goes.
struct Release {
  std::uint32_t tick = 0;        ///< just after it
  NodeId before = none<NodeId>;  ///< the node before whose begin it is gone
  bool is_never = true;
};

class NodeTensors {
 public:
  explicit NodeTensors(const NodeTensorTarget& target)
      : target_(target),
        nodes_(target.nodes),
        spans_(node_spans(nodes_)),
        storages_(storage_lives(target.events.names, nodes_, spans_)) {}

  AddedNodeTensors run() {
    if (storages_.lives.empty()) {
      return {};
    }
    EventTable table = node_events(target_.events, nodes_, spans_);
    const Annotation annotation = annotate(table);
    roles_ = storage_roles({nodes_, spans_, table, annotation, storages_});
    find_next_host_nodes();
    TensorLifetimes lifetimes = lifetimes_in(table);
    const std::vector<TensorOwner> owners =
        attribute_tensors(table, annotation, {table.memory, lifetimes});
    add_layers(annotation);
    for (std::size_t i = 0; i < owners.size(); ++i) {
      const std::int32_t device = lifetimes.devices[lifetimes.tensors[i].device].graph_device;
      target_.builder.add_tensor(tensor_of(i, owners[i], device, table));
    }
    return {.devices = std::move(lifetimes.devices),
            .parameters = parameters(estimate_parameters(table, annotation)),
            .note = note()};
  }

 private:
  /// Tensors come and go on host tasks.
  void find_next_host_nodes() {
    next_host_.assign(nodes_.size() + 1, make_id<NodeId>(nodes_.size()));
    for (std::size_t i = nodes_.size(); i > 0; --i) {
      next_host_[i - 1] =
          is_host_node(nodes_, make_id<NodeId>(i - 1)) ? make_id<NodeId>(i - 1) : next_host_[i];
    }
  }

  [[nodiscard]] Release release_of(std::size_t number) const {
    const StorageLife& life = storages_.lives[number];
    const StorageRole& role = roles_[number];
    const bool was_reused = life.reused_by != none<NodeId>;
    const bool is_older = life.born == none<NodeId>;
    const bool stays =
        is_older ? !is_older_gradient(role) : role.by_many_updates || role.made_by_optimizer;
    if (role.is_gradient && !is_older) {
      const bool cleared =
          role.cleared_by != none<NodeId> && (!was_reused || role.cleared_by < life.reused_by);
      if (cleared) {
        const std::size_t clearing = index(role.cleared_by);
        return {spans_.begin[clearing], after(role.cleared_by), false};
      }
      if (!was_reused && !role.is_dropped) {
        return {};
      }
    } else if (stays && !was_reused) {
      return {};
    }
    const NodeId next = after(life.last);
    // Damaged traces give the place of a tensor to a call around the one that allocated it.
    const NodeId taken = is_older ? life.reused_by : std::max(life.born, life.reused_by);
    return {spans_.end[index(life.last)], was_reused ? std::min(next, taken) : next, false};
  }

  /// The first update of several used it and no later one did: it was of the step before.
  static bool is_older_gradient(const StorageRole& role) {
    return role.by_first_update_only && !role.in_forward && !role.is_gradient;
  }

  /// The first host node that begins after the end of a node.
  [[nodiscard]] NodeId after(NodeId node) const {
    return next_host_[index(spans_.last[index(node)]) + 1];
  }

  /// Adds the instants at which tensors come and go to the table.
  TensorLifetimes lifetimes_in(EventTable& table) {
    TensorLifetimes lifetimes;
    std::map<std::int32_t, std::uint32_t> device_of;
    for (const StorageLife& life : storages_.lives) {
      device_of.emplace(life.device, 0);
    }
    for (auto& [id, number] : device_of) {
      number = static_cast<std::uint32_t>(lifetimes.devices.size());
      DeviceMemory& device = lifetimes.devices.emplace_back();
      device.type = type_cuda;
      device.id = id;
      device.rank = std::max(0, target_.events.info.rank);
      device.graph_device = graph_device(id, device_of.size());
      device.has_addresses = true;
    }
    const auto add = [&](DeviceMemory& device, NodeId node, std::int64_t time, std::int64_t bytes) {
      device.order.push_back(static_cast<std::uint32_t>(table.memory.size()));
      table.memory.push_back({.time_ns = time,
                              .track = table.track[index(node)],
                              .device_type = type_cuda,
                              .device = device.id,
                              .bytes = bytes});
      return device.order.back();
    };
    for (std::size_t i = 0; i < storages_.lives.size(); ++i) {
      const StorageLife& life = storages_.lives[i];
      DeviceMemory& device = lifetimes.devices[device_of[life.device]];
      TensorLifetime lifetime{.device = device_of[life.device], .bytes = block_bytes(life.bytes)};
      if (life.born != none<NodeId>) {
        lifetime.allocation =
            add(device, life.born, time_of_tick(spans_.begin[index(life.born)]), lifetime.bytes);
        ++device.tensors;
      }
      releases_.push_back(release_of(i));
      if (!releases_.back().is_never) {
        lifetime.release =
            add(device, life.last, time_of_tick(releases_.back().tick) + 1, -lifetime.bytes);
      }
      device.freed_older += life.born == none<NodeId> && !releases_.back().is_never ? 1 : 0;
      device.left_over += life.born != none<NodeId> && releases_.back().is_never ? 1 : 0;
      lifetimes.tensors.push_back(lifetime);
    }
    return lifetimes;
  }

  [[nodiscard]] std::int32_t graph_device(std::int32_t recorded, std::size_t devices) const {
    return target_.graph_device >= 0 && devices == 1 ? target_.graph_device : recorded;
  }

  void add_layers(const Annotation& annotation) {
    layers_.push_back(LayerId{});
    for (std::size_t i = 1; i < annotation.modules.size(); ++i) {
      const ModuleInfo& module = annotation.modules[i];
      const bool is_top = module.parent == 0 || module.parent >= i;
      layers_.push_back(
          target_.builder.add_layer(module.name, is_top ? none<LayerId> : layers_[module.parent]));
    }
  }

  [[nodiscard]] Tensor tensor_of(std::size_t number, const TensorOwner& owner, std::int32_t device,
                                 const EventTable& table) const {
    const StorageLife& life = storages_.lives[number];
    const Release& release = releases_[number];
    Tensor tensor{.bytes = life.bytes > 0 ? block_bytes(life.bytes) : 0,
                  .requested_bytes = life.bytes,
                  .rank = std::max(0, target_.events.info.rank),
                  .device = device,
                  .category = category_of(number, owner),
                  .phase = owner.phase,
                  .layer = layers_[owner.layer]};
    if (owner.operator_event != none<EventId>) {
      tensor.operator_name = target_.builder.add_name(table.name_of(owner.operator_event));
    }
    if (life.born != none<NodeId>) {
      tensor.allocated_in = target_.tasks[index(life.born)];
      tensor.allocated_sequence =
          static_cast<std::uint32_t>(time_of_tick(spans_.begin[index(life.born)]));
    }
    if (!release.is_never && index(release.before) < target_.tasks.size()) {
      tensor.freed_in = target_.tasks[index(release.before)];
      tensor.freed_sequence = static_cast<std::uint32_t>(time_of_tick(release.tick) + 1);
    }
    return tensor;
  }

  [[nodiscard]] TensorCategory category_of(std::size_t number, const TensorOwner& owner) const {
    const StorageRole& role = roles_[number];
    if (role.is_gradient) return TensorCategory::gradient;
    if (storages_.lives[number].born != none<NodeId>) {
      const bool is_conversion = owner.category == TensorCategory::input &&
                                 owner.phase == Phase::forward &&
                                 owner.operator_event != none<EventId> &&
                                 !storages_.reads_host[index(owner.operator_event)];
      if (!is_conversion) return owner.category;
      return role.in_backward ? TensorCategory::activation : TensorCategory::temporary;
    }
    if (is_of_model(role)) return TensorCategory::weight;
    if (role.in_update && (role.in_backward || is_older_gradient(role))) {
      return TensorCategory::gradient;
    }
    if (role.in_update) return TensorCategory::optimizer_state;
    if (role.in_communication) return TensorCategory::communication;
    if (role.is_data || role.in_loading) return TensorCategory::input;
    return TensorCategory::unknown;
  }

  /// What optimizer it is says the estimate; what the model is say the storages.
  [[nodiscard]] ParameterEstimate parameters(const ParameterEstimate& estimate) const {
    ParameterEstimate found;
    found.optimizer = estimate.optimizer;
    found.states = estimate.states;
    found.trains = estimate.trains;
    found.is_exact = true;
    for (std::size_t i = 0; i < storages_.lives.size(); ++i) {
      const StorageLife& life = storages_.lives[i];
      if (life.born != none<NodeId> || life.bytes <= 0) continue;
      if (!is_of_model(roles_[i])) {
        const bool is_unknown = category_of(i, {}) == TensorCategory::unknown;
        found.unplaced_bytes += is_unknown ? life.bytes : 0;
        continue;
      }
      const bool is_buffer = roles_[i].is_buffer;
      ParameterTensor& tensor = found.tensors.emplace_back();
      tensor.elements = life.bytes / life.element_bytes;
      tensor.bytes = life.bytes;
      tensor.is_buffer = is_buffer;
      found.parameters += is_buffer ? 0 : tensor.elements;
      (is_buffer ? found.buffer_bytes : found.parameter_bytes) += life.bytes;
    }
    return found;
  }

  [[nodiscard]] static bool is_of_model(const StorageRole& role) {
    return !role.is_gradient &&
           (role.is_weight || role.is_buffer || (role.in_update && role.in_forward));
  }

  [[nodiscard]] std::string note() const {
    std::string text = fmt::format(
        "recorded tensors, one per storage ({}), live until the last use; scratch memory of "
        "operators and longer references are not recorded, so the true peak is at least this",
        storages_.lives.size());
    if (storages_.absurd > 0) {
      text += fmt::format("; {} uses of absurd size left out", storages_.absurd);
    }
    return text;
  }

  const NodeTensorTarget& target_;
  const NodeGraph& nodes_;
  NodeSpans spans_;
  StorageLives storages_;
  std::vector<StorageRole> roles_;
  std::vector<NodeId> next_host_;  // per node: itself or the next one of the host
  std::vector<Release> releases_;  // per life
  std::vector<LayerId> layers_;    // per module
};

}  // namespace

AddedNodeTensors add_node_tensors(const NodeTensorTarget& target) {
  return NodeTensors(target).run();
}

std::string why_no_tensors(const EventTable& events, const NodeGraph& nodes) {
  if (nodes.tensors.empty()) {
    return fmt::format("none of its {} nodes records a tensor", nodes.size());
  }
  const StorageLives found = storage_lives(events.names, nodes, node_spans(nodes));
  if (found.device_tensors > 0) {
    return {};
  }
  if (found.host_tensors > 0) {
    return fmt::format("its {} uses of tensors are all of host memory", found.host_tensors);
  }
  const bool any_on_host =
      std::any_of(nodes.tensors.begin(), nodes.tensors.end(),
                  [&](const NodeTensor& tensor) { return is_host_node(nodes, tensor.node); });
  return fmt::format(
      "its {} uses of tensors {}", nodes.tensors.size(),
      any_on_host ? "name no device, or are empty" : "belong to nodes that may not run on the CPU");
}

}  // namespace foretrace::trace
