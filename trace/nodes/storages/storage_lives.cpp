#include "trace/nodes/storages/storage_lives.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <string_view>
#include <unordered_map>

namespace foretrace::trace {
namespace {

// 1 PiB, more than any device has; sums of a whole trace stay below 2^61.
constexpr std::int64_t most_bytes = std::int64_t{1} << 50;
constexpr std::int64_t largest_sum = std::int64_t{1} << 61;

/// Operators that list every tensor they are given: what else is read inside, they allocated.
bool lists_all_inputs(std::string_view name) {
  return name.starts_with("aten::") || name == "CompiledFunction";
}

/// Number of the device; -1 for host memory and undefined tensors.
std::int32_t device_number(std::string_view name) {
  if (name.empty() || name == "cpu" || name == "meta") return -1;
  const std::size_t colon = name.rfind(':');
  std::int32_t number = 0;
  if (colon != std::string_view::npos) {
    std::from_chars(name.data() + colon + 1, name.data() + name.size(), number);
  }
  return std::max(0, number);
}

/// From the begin of the storage to the end of the tensor; 0 if empty, -1 if absurd.
std::int64_t reach(const NodeTensor& tensor) {
  if (tensor.elements < 0 || tensor.element_bytes < 0 || tensor.offset < 0) return -1;
  if (tensor.elements == 0 || tensor.element_bytes == 0) return 0;
  if (tensor.offset > most_bytes || tensor.elements > most_bytes ||
      tensor.element_bytes > most_bytes / (tensor.offset + tensor.elements)) {
    return -1;
  }
  return (tensor.offset + tensor.elements) * tensor.element_bytes;
}

class Storages {
 public:
  Storages(const NameTable& names, const NodeGraph& nodes, const NodeSpans& spans)
      : names_(names), nodes_(nodes), spans_(spans), first_row_(nodes.size() + 1, 0) {
    found_.of_row.assign(nodes.tensors.size(), no_life);
    found_.reads_host.assign(nodes.size(), false);
    for (const NodeTensor& tensor : nodes.tensors) {
      ++first_row_[index(tensor.node) + 1];
    }
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      first_row_[i + 1] += first_row_[i];
    }
  }

  StorageLives run() {
    find_operators();
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const auto row = make_id<NodeId>(i);
      visit(row, false);
      for (NodeId node = row; node != none<NodeId> && spans_.last[index(node)] == row;
           node = node_around(nodes_, node)) {
        visit(node, true);
      }
    }
    return std::move(found_);
  }

 private:
  struct Current {
    std::uint32_t life = no_life;
    std::uint32_t touched = 0;  ///< tick of the last touch
  };

  /// The outermost operator around a node that lists all its inputs, if there is one.
  void find_operators() {
    operator_.assign(nodes_.size(), none<NodeId>);
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const NodeId around = node_around(nodes_, make_id<NodeId>(i));
      if (around != none<NodeId>) {
        const bool lists = lists_all_inputs(names_[nodes_.name[index(around)]]);
        operator_[i] =
            operator_[index(around)] == none<NodeId> && lists ? around : operator_[index(around)];
      }
    }
  }

  void visit(NodeId node, bool outputs) {
    if (!is_host_node(nodes_, node)) return;
    for (std::uint32_t at = first_row_[index(node)]; at < first_row_[index(node) + 1]; ++at) {
      const NodeTensor& tensor = nodes_.tensors[at];
      if (tensor.is_output != outputs) continue;
      const std::int32_t device = number_of(tensor.device);
      const std::int64_t bytes = reach(tensor);
      if (device < 0 && bytes > 0) {
        ++found_.host_tensors;
        found_.reads_host[index(node)] = found_.reads_host[index(node)] || !outputs;
      }
      found_.absurd += device >= 0 && bytes < 0 ? 1 : 0;
      if (device >= 0 && bytes > 0) {
        ++found_.device_tensors;
        found_.of_row[at] = outputs ? put_out(tensor, device, bytes) : read(tensor, device, bytes);
      }
    }
  }

  std::int32_t number_of(NameId device) {
    const auto [at, is_new] = devices_.try_emplace(device, 0);
    if (is_new) {
      at->second = device_number(names_[device]);
    }
    return at->second;
  }

  std::uint32_t read(const NodeTensor& tensor, std::int32_t device, std::int64_t bytes) {
    Current& current = storages_[tensor.storage];
    StorageLife fresh{.device = device, .bytes = bytes, .element_bytes = tensor.element_bytes};
    const NodeId inside = operator_[index(tensor.node)];
    const bool is_known = current.life != no_life && life(current).device == device;
    if (inside != none<NodeId> && (!is_known || current.touched < spans_.begin[index(inside)])) {
      fresh.born = allocating_around(tensor.node);
      begin(current, fresh, tensor.node);
    } else if (!is_known) {
      begin(current, fresh, tensor.node);
    } else if (bytes > life(current).bytes && !is_known_view(tensor, current)) {
      if (life(current).born == none<NodeId>) {
        grow(life(current), bytes);  // another part of a storage that was there before
      } else {
        ++found_.changed_size;
        fresh.born = tensor.node;
        begin(current, fresh, tensor.node);
      }
    }
    touch(current, tensor.node, spans_.begin[index(tensor.node)]);
    return current.life;
  }

  /// Operators of PyTorch allocate before they call another one; compiled code where it needs it.
  [[nodiscard]] NodeId allocating_around(NodeId node) const {
    const NodeId around = node_around(nodes_, node);
    const bool is_operator = names_[nodes_.name[index(around)]].starts_with("aten::");
    return is_operator ? around : node;
  }

  std::uint32_t put_out(const NodeTensor& tensor, std::int32_t device, std::int64_t bytes) {
    Current& current = storages_[tensor.storage];
    const bool is_fresh = current.life == no_life || life(current).device != device ||
                          current.touched < spans_.begin[index(tensor.node)];
    if (is_fresh) {
      begin(current,
            {.device = device,
             .bytes = bytes,
             .element_bytes = tensor.element_bytes,
             .born = tensor.node},
            tensor.node);
    } else if (bytes > life(current).bytes) {
      views_[tensor.tensor] = current.life;  // expanded: more elements than memory
    }
    touch(current, tensor.node, spans_.end[index(tensor.node)]);
    return current.life;
  }

  [[nodiscard]] bool is_known_view(const NodeTensor& tensor, const Current& current) const {
    const auto found = views_.find(tensor.tensor);
    return found != views_.end() && found->second == current.life;
  }

  StorageLife& life(const Current& current) { return found_.lives[current.life]; }

  /// Ends what the storage was until now.
  void begin(Current& current, StorageLife fresh, NodeId node) {
    if (current.life != no_life) {
      life(current).reused_by = node;
    }
    current.life = static_cast<std::uint32_t>(found_.lives.size());
    fresh.last = node;
    const std::int64_t bytes = fresh.bytes;
    fresh.bytes = 0;
    found_.lives.push_back(fresh);
    grow(found_.lives.back(), bytes);
  }

  void grow(StorageLife& life, std::int64_t bytes) {
    if (bytes - life.bytes > largest_sum - sum_) {
      ++found_.absurd;
      return;
    }
    sum_ += bytes - life.bytes;
    life.bytes = bytes;
  }

  void touch(Current& current, NodeId node, std::uint32_t tick) {
    current.touched = tick;
    NodeId& last = life(current).last;
    last = spans_.end[index(node)] > spans_.end[index(last)] ? node : last;
  }

  const NameTable& names_;
  const NodeGraph& nodes_;
  const NodeSpans& spans_;
  StorageLives found_;
  std::vector<std::uint32_t> first_row_;                    // per node into NodeGraph::tensors
  std::vector<NodeId> operator_;                            // per node
  std::map<NameId, std::int32_t> devices_;                  // number, -1 host
  std::unordered_map<std::uint64_t, Current> storages_;     // by recorded storage
  std::unordered_map<std::uint64_t, std::uint32_t> views_;  // by tensor: expanded view of a life
  std::int64_t sum_ = 0;
};

}  // namespace

StorageLives storage_lives(const NameTable& names, const NodeGraph& nodes, const NodeSpans& spans) {
  return Storages(names, nodes, spans).run();
}

bool is_host_node(const NodeGraph& nodes, NodeId node) {
  return nodes.place[index(node)] == NodePlace::host;
}

}  // namespace foretrace::trace
