// Fills a NodeGraph from nodes in any order: resolves recorded ids, counts what cannot be resolved.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "trace/table/loaded_trace.h"
#include "trace/table/node_graph.h"

namespace foretrace::trace::formats {

/// A dependency on a node by its recorded id, as our own writer records it.
struct RawTiming {
  std::uint64_t source = 0;
  std::uint64_t late_after = 0;  ///< 0: none
  NodeTiming timing{};           ///< everything but the ids
};

/// A node as a format has it. -1 and 0 as in NodeGraph.
struct RawNode {
  std::uint64_t id = 0;
  NameId name{};
  NodeKind kind = NodeKind::compute;
  NodePlace place = NodePlace::unknown;
  std::uint64_t parent = 0;  ///< 0: none
  std::int64_t start_ns = -1;
  std::int64_t duration_ns = -1;
  std::int64_t record_function = -1;
  std::int64_t sequence = -1;
  std::int64_t thread = -1;
  std::int64_t stream = -1;
  std::int16_t task_kind = -1;
  std::int64_t exact_duration_ns = -1;  ///< our own writer's; wins over the rounded ones
  std::int64_t exact_start_ns = -1;
  std::int64_t operations = -1;
  std::int64_t bytes = -1;
  NodeSignature signature;
  std::vector<std::uint64_t> data;
  std::vector<std::uint64_t> control;
  std::vector<NodeTensor> tensors;
  std::optional<NodeCommunication> communication;
  std::vector<std::pair<NameId, NameId>> attributes;
  std::vector<RawTiming> timings;
  std::uint64_t offset = 0;  ///< in the file

  [[nodiscard]] NodeCommunication& communicating() {
    return communication ? *communication : communication.emplace();
  }
};

class NodeBuilder {
 public:
  explicit NodeBuilder(LoadedTrace& trace);

  [[nodiscard]] NameId name(std::string_view text) { return trace_.events.names.intern(text); }
  [[nodiscard]] NameTable& names() { return trace_.events.names; }
  [[nodiscard]] ImportReport& report() { return trace_.report; }
  void add(RawNode node);
  void drop(std::string_view reason, std::uint64_t offset, std::string_view example);
  /// Orders nodes by id and resolves their dependencies. Call once.
  void finish(std::string_view schema);

 private:
  [[nodiscard]] std::optional<NodeId> find(std::uint64_t id) const;
  void drop_duplicates();
  void add_columns(const RawNode& node);
  void add_edges(const RawNode& node, const std::vector<std::uint64_t>& ids,
                 std::vector<NodeId>& out);
  void add_side_rows(const RawNode& node, NodeId row);
  [[nodiscard]] std::uint32_t signature_index(const NodeSignature& signature);

  LoadedTrace& trace_;
  NodeGraph& graph_;
  std::vector<RawNode> nodes_;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> signature_slots_;  // hash, index
};

}  // namespace foretrace::trace::formats
