#include "trace/nodes/storages/node_events.h"

#include <map>
#include <string_view>
#include <vector>

#include "sim/core/text.h"
#include "trace/nodes/storages/storage_lives.h"

namespace foretrace::trace {
namespace {

/// Ranges that a program names: "ProfilerStep#6", "## forward ##",
/// "DistributedDataParallel.forward".
bool is_annotation(std::string_view name) {
  return !contains(name, "::") && name.find_first_of("# .") != std::string_view::npos &&
         !name.starts_with("Torch-Compiled Region");
}

class Events {
 public:
  Events(const EventTable& recorded, const NodeGraph& nodes, const NodeSpans& spans)
      : recorded_(recorded), nodes_(nodes), spans_(spans) {
    names_.assign(recorded.names.size(), none<NameId>);
  }

  EventTable run() {
    table_.info.rank = recorded_.info.rank;
    table_.info.path = recorded_.info.path;
    for (const NodeSignature& signature : nodes_.signatures) {
      table_.descriptors.push_back({.dims = name(signature.shapes),
                                    .types = name(signature.types),
                                    .concrete = name(signature.values)});
    }
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      add(make_id<NodeId>(i));
    }
    return std::move(table_);
  }

 private:
  NameId name(NameId id) {
    NameId& mapped = names_[index(id)];
    if (mapped == none<NameId>) {
      mapped = table_.names.intern(recorded_.names[id]);
    }
    return mapped;
  }

  TrackId track_of(std::int64_t thread) {
    const auto [at, is_new] = tracks_.try_emplace(thread, make_id<TrackId>(table_.tracks.size()));
    if (is_new) {
      table_.tracks.push_back({.kind = Track::Kind::host_thread,
                               .rank = std::max(0, recorded_.info.rank),
                               .number = thread});
    }
    return at->second;
  }

  [[nodiscard]] EventKind kind_of(NodeId node) const {
    if (!is_host_node(nodes_, node) || nodes_.kind[index(node)] == NodeKind::metadata) {
      return EventKind::gpu_annotation;  // carries no work and nests nowhere
    }
    return is_annotation(recorded_.names[nodes_.name[index(node)]]) ? EventKind::user_annotation
                                                                    : EventKind::cpu_op;
  }

  void add(NodeId node) {
    const std::size_t row = index(node);
    table_.kind.push_back(kind_of(node));
    table_.name.push_back(name(nodes_.name[row]));
    table_.track.push_back(track_of(nodes_.thread[row]));
    table_.start_ns.push_back(time_of_tick(spans_.begin[row]));
    table_.duration_ns.push_back(time_of_tick(spans_.end[row]) - time_of_tick(spans_.begin[row]));
    table_.correlation.push_back(0);
    table_.external_id.push_back(0);
    table_.descriptor.push_back(DescriptorId{nodes_.signature[row]});
    if (nodes_.sequence[row] >= 0) {
      table_.sequence_numbers.push_back(
          {.event = make_id<EventId>(row), .number = nodes_.sequence[row]});
    }
  }

  const EventTable& recorded_;
  const NodeGraph& nodes_;
  const NodeSpans& spans_;
  EventTable table_;
  std::vector<NameId> names_;
  std::map<std::int64_t, TrackId> tracks_;
};

}  // namespace

EventTable node_events(const EventTable& recorded, const NodeGraph& nodes, const NodeSpans& spans) {
  return Events(recorded, nodes, spans).run();
}

}  // namespace foretrace::trace
