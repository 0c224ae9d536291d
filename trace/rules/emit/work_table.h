// What the calls and operations of a trace do, interned as works of the graph.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "sim/graph/graph_builder.h"
#include "trace/rules/assembly/assembly.h"

namespace foretrace::trace::rules {

/// Adds works and names to a builder, each distinct one once.
class WorkTable {
 public:
  WorkTable(const Assembly& assembly, GraphBuilder& builder)
      : a_(assembly), builder_(builder), names_(assembly.events.names.size(), none<NameId>) {}

  /// The graph's name of a name of the trace.
  [[nodiscard]] NameId name(NameId id);
  [[nodiscard]] WorkId of_call(const HostCall& call, TaskKind kind, TaskPart part);
  /// With the operator around the launch, its shapes and types, and the kernel's grid.
  [[nodiscard]] WorkId of_op(const DeviceOp& op, TaskPart part);

 private:
  [[nodiscard]] Work describe(const DeviceOp& op, EventId around);

  struct CachedWork {
    std::uint64_t own = 0;
    std::uint64_t around = 0;
    WorkId work{};
  };

  const Assembly& a_;
  GraphBuilder& builder_;
  std::vector<NameId> names_;
  std::unordered_map<std::uint64_t, CachedWork> works_;
};

}  // namespace foretrace::trace::rules
