// A recorded run as a program: blocks, what they do, and visits, when each was done and how long
// its parts took. Equal layers are one block. Nothing is derived: links, waits and tensors are those
// of the graph, so that graph_of(read_program(graph)) is the graph.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "models/editing/kernels/kernel_editor.h"
#include "models/jobs/recordings/recorded_passes.h"
#include "sim/core/result.h"
#include "sim/graph/task_graph.h"

namespace foretrace {

/// What a part of a run is for.
enum class PartRole : std::uint8_t {
  other,    ///< of no training step, or between its parts
  input,    ///< loading
  forward,  ///< of one layer
  backward,
  update
};

/// One call of the host, or one operation of a device.
struct RecordedOp {
  static constexpr std::int32_t no_layer = INT32_MIN;

  WorkId work{};
  LaneId lane{};
  TaskKind kind = TaskKind::host;
  Phase phase = Phase::unknown;
  std::int32_t layer = no_layer;  ///< module, counted from the first one of the visit
  friend bool operator==(const RecordedOp&, const RecordedOp&) = default;
};

/// An op waits for another one of its visit. Points count from the visit's first op.
struct RecordedLink {
  std::uint32_t op = 0;
  Point source = no_point;
  Point late_after = no_point;
  DependencyKind kind = DependencyKind::none;
  float fraction = 0;
  friend bool operator==(const RecordedLink&, const RecordedLink&) = default;
};

/// What one thread does for a part of a run, with the device work that it launches, in its order.
struct RecordedBlock {
  std::vector<RecordedOp> ops;
  std::vector<RecordedLink> links;  ///< by op
  friend bool operator==(const RecordedBlock&, const RecordedBlock&) = default;
};

/// Which part of the run: layers and passes count from 0.
struct RecordedPart {
  PartRole role = PartRole::other;
  std::uint32_t pass = 0;
  std::uint32_t layer = 0;
  friend bool operator==(const RecordedPart&, const RecordedPart&) = default;
};

struct RecordedVisit {
  std::uint32_t block = 0;
  RecordedPart part;
  std::uint32_t first_op = 0;   ///< number of its first op
  std::uint32_t first_lag = 0;  ///< of its links
  LayerId first_layer{};        ///< module that the ops' count from
  friend bool operator==(const RecordedVisit&, const RecordedVisit&) = default;
};

/// So many ops of a visit follow each other before another thread goes on.
struct RecordedTurn {
  std::uint32_t visit = 0;
  std::uint32_t ops = 0;
  friend bool operator==(const RecordedTurn&, const RecordedTurn&) = default;
};

/// Ops are numbered visit by visit. Ids of tasks mean these numbers everywhere here.
struct RecordedProgram {
  std::vector<RecordedBlock> blocks;
  std::vector<RecordedVisit> visits;
  std::vector<RecordedTurn> turns;  ///< the order of the run
  // Per op:
  std::vector<std::int64_t> duration_ns;
  std::vector<std::int64_t> segment_ns;
  std::vector<Provenance> provenance;
  std::vector<std::int32_t> step;
  std::vector<std::int64_t> lag_ns;  ///< per link of the visits' blocks
  std::vector<Dependency> boundary;  ///< links from one visit to another
  GraphContext context;              ///< lanes, works, waits, tensors, parameters

  [[nodiscard]] const RecordedBlock& block_of(const RecordedVisit& visit) const {
    return blocks[visit.block];
  }
  [[nodiscard]] std::size_t size() const { return duration_ns.size(); }
};

/// Of any graph; where the layers of a pass are not known, the pass is one.
[[nodiscard]] RecordedProgram read_program(const editing::KernelEditor& editor,
                                           std::span<const RecordedPass> passes);
[[nodiscard]] RecordedProgram read_program(const editing::KernelEditor& editor);
/// Per task of the graph that was read, the number of its op.
[[nodiscard]] std::vector<TaskId> ops_in_turn(const RecordedProgram& program);

/// The run that the program states. Error: it is no graph, as where somebody has changed it so.
[[nodiscard]] Result<TaskGraph> graph_of(const RecordedProgram& program);

}  // namespace foretrace
