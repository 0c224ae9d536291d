#include "trace/formats/nodes/node_builder.h"

#include <algorithm>

#include <fmt/format.h>

namespace foretrace::trace::formats {
namespace {

std::uint64_t hash_of(const NodeSignature& s) {
  std::uint64_t hash = 0;
  for (const NameId id : {s.schema, s.values, s.shapes, s.types, s.output_shapes, s.output_types}) {
    hash = (hash ^ index(id)) * 0x9E3779B97F4A7C15ULL;  // 64-bit golden ratio
    hash ^= hash >> 29U;
  }
  return hash;
}

}  // namespace

NodeBuilder::NodeBuilder(LoadedTrace& trace)
    : trace_(trace), graph_(trace.content.emplace<NodeGraph>()), signature_slots_(1024) {
  graph_.signatures.emplace_back();
}

void NodeBuilder::add(RawNode node) {
  node.duration_ns = node.exact_duration_ns >= 0 ? node.exact_duration_ns : node.duration_ns;
  node.start_ns = node.exact_start_ns >= 0 ? node.exact_start_ns : node.start_ns;
  ++trace_.report.events;
  nodes_.push_back(std::move(node));
}

void NodeBuilder::drop(std::string_view reason, std::uint64_t offset, std::string_view example) {
  ++trace_.report.events;
  trace_.report.count(DamageKind::dropped, reason, offset, example);
}

std::optional<NodeId> NodeBuilder::find(std::uint64_t id) const {
  const auto at = std::lower_bound(graph_.id.begin(), graph_.id.end(), id);
  if (at == graph_.id.end() || *at != id) return std::nullopt;
  return make_id<NodeId>(static_cast<std::size_t>(at - graph_.id.begin()));
}

void NodeBuilder::drop_duplicates() {
  std::stable_sort(nodes_.begin(), nodes_.end(),
                   [](const RawNode& a, const RawNode& b) { return a.id < b.id; });
  const auto last =
      std::unique(nodes_.begin(), nodes_.end(), [&](const RawNode& first, const RawNode& again) {
        if (first.id == again.id) {
          trace_.report.count(DamageKind::dropped, "second node of the same id", again.offset,
                              fmt::format("id {}", again.id));
        }
        return first.id == again.id;
      });
  nodes_.erase(last, nodes_.end());
}

std::uint32_t NodeBuilder::signature_index(const NodeSignature& signature) {
  if (signature == NodeSignature{}) return 0;
  const std::uint64_t hash = hash_of(signature) | 1U;
  if (graph_.signatures.size() * 2 > signature_slots_.size()) {
    std::vector<std::pair<std::uint64_t, std::uint32_t>> wider(signature_slots_.size() * 4);
    for (const auto& entry : signature_slots_) {
      for (std::size_t at = entry.first & (wider.size() - 1); entry.first != 0;
           at = (at + 1) & (wider.size() - 1)) {
        if (wider[at].first == 0) {
          wider[at] = entry;
          break;
        }
      }
    }
    signature_slots_ = std::move(wider);
  }
  const std::size_t mask = signature_slots_.size() - 1;
  std::size_t at = hash & mask;
  while (signature_slots_[at].first != 0) {
    const auto [known, index] = signature_slots_[at];
    if (known == hash && graph_.signatures[index] == signature) return index;
    at = (at + 1) & mask;
  }
  const auto index = static_cast<std::uint32_t>(graph_.signatures.size());
  graph_.signatures.push_back(signature);
  signature_slots_[at] = {hash, index};
  return index;
}

void NodeBuilder::add_columns(const RawNode& node) {
  const bool is_root = node.parent == 0 || node.parent == node.id;
  const std::optional<NodeId> parent = is_root ? std::nullopt : find(node.parent);
  const bool counted_below =
      std::find(node.control.begin(), node.control.end(), node.parent) != node.control.end();
  if (!is_root && !parent && !counted_below) {
    trace_.report.count(DamageKind::repaired, "parent is not in the file", node.offset,
                        fmt::format("node {} in {}", node.id, node.parent));
  }
  graph_.name.push_back(node.name);
  graph_.kind.push_back(node.kind);
  graph_.place.push_back(node.place);
  graph_.parent.push_back(parent.value_or(none<NodeId>));
  graph_.start_ns.push_back(node.start_ns);
  graph_.duration_ns.push_back(node.duration_ns);
  graph_.record_function.push_back(node.record_function);
  graph_.sequence.push_back(node.sequence);
  graph_.thread.push_back(node.thread);
  graph_.stream.push_back(node.stream);
  graph_.task_kind.push_back(node.task_kind);
  graph_.operations.push_back(node.operations);
  graph_.bytes.push_back(node.bytes);
  graph_.signature.push_back(signature_index(node.signature));
  graph_.has_durations = graph_.has_durations || node.duration_ns >= 0;
  graph_.has_starts = graph_.has_starts || node.start_ns >= 0;
}

void NodeBuilder::add_edges(const RawNode& node, const std::vector<std::uint64_t>& ids,
                            std::vector<NodeId>& out) {
  for (const std::uint64_t id : ids) {
    const std::optional<NodeId> source = find(id);
    if (source) {
      out.push_back(*source);
    } else if (id != 0) {  // writers let roots depend on a node 0 that is not there
      trace_.report.count(DamageKind::repaired, "dependency on a node that is not in the file",
                          node.offset, fmt::format("node {} on {}", node.id, id));
    }
  }
}

void NodeBuilder::add_side_rows(const RawNode& node, NodeId row) {
  for (NodeTensor tensor : node.tensors) {
    tensor.node = row;
    graph_.tensors.push_back(tensor);
  }
  if (node.communication) {
    graph_.communications.push_back(*node.communication);
    graph_.communications.back().node = row;
  }
  for (const auto& [name, value] : node.attributes) {
    graph_.attributes.push_back({.node = row, .name = name, .value = value});
  }
  for (const RawTiming& raw : node.timings) {
    const std::optional<NodeId> source = find(raw.source);
    const std::optional<NodeId> late = raw.late_after == 0 ? std::nullopt : find(raw.late_after);
    if (!source || (raw.late_after != 0 && !late)) {
      trace_.report.count(DamageKind::repaired, "dependency on a node that is not in the file",
                          node.offset, fmt::format("node {} on {}", node.id, raw.source));
      continue;
    }
    NodeTiming timing = raw.timing;
    timing.node = row;
    timing.source = *source;
    timing.late_after = late.value_or(none<NodeId>);
    graph_.timings.push_back(timing);
  }
}

void NodeBuilder::finish(std::string_view schema) {
  graph_.schema = std::string(schema);
  drop_duplicates();
  graph_.id.reserve(nodes_.size());
  for (const RawNode& node : nodes_) {
    graph_.id.push_back(node.id);
  }
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const RawNode& node = nodes_[i];
    add_columns(node);
    graph_.data_offsets.push_back(static_cast<std::uint32_t>(graph_.data.size()));
    add_edges(node, node.data, graph_.data);
    graph_.control_offsets.push_back(static_cast<std::uint32_t>(graph_.control.size()));
    add_edges(node, node.control, graph_.control);
    add_side_rows(node, make_id<NodeId>(i));
  }
  graph_.data_offsets.push_back(static_cast<std::uint32_t>(graph_.data.size()));
  graph_.control_offsets.push_back(static_cast<std::uint32_t>(graph_.control.size()));
  trace_.report.kept = nodes_.size();
  nodes_ = {};
}

}  // namespace foretrace::trace::formats
