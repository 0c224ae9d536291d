// A recorded program in its order as a graph.
#include <utility>

#include "models/jobs/recordings/recorded_program.h"
#include "sim/graph/graph_builder.h"
#include "sim/graph/renumber.h"

namespace foretrace {
namespace {

class RecordedGraph {
 public:
  explicit RecordedGraph(const RecordedProgram& program)
      : program_(program), task_(program.size()), done_(program.visits.size()) {}

  Result<TaskGraph> build() {
    GraphContext context = program_.context;
    for (const RecordedTurn& turn : program_.turns) take(turn);
    for (const RecordedVisit& visit : program_.visits) link(visit);
    for (Dependency d : program_.boundary) {
      d.task = task_[index(d.task)];
      renumber(d.source, task_);
      renumber(d.late_after, task_);
      dependencies_.push_back(d);
    }
    renumber(context, task_);
    GraphBuilder builder;
    builder.assign(std::move(context), std::move(columns_), std::move(duration_ns_),
                   std::move(segment_ns_), std::move(dependencies_));
    return std::move(builder).build();
  }

 private:
  void take(const RecordedTurn& turn) {
    const RecordedVisit& visit = program_.visits[turn.visit];
    const RecordedBlock& block = program_.block_of(visit);
    for (std::uint32_t i = 0; i < turn.ops; ++i) {
      const std::uint32_t at = done_[turn.visit]++;
      add(block.ops[at], visit, visit.first_op + at);
    }
  }

  void add(const RecordedOp& op, const RecordedVisit& visit, std::uint32_t number) {
    task_[number] = make_id<TaskId>(duration_ns_.size());
    columns_.lane.push_back(op.lane);
    columns_.work.push_back(op.work);
    columns_.kind.push_back(op.kind);
    columns_.phase.push_back(op.phase);
    columns_.layer.push_back(op.layer == RecordedOp::no_layer
                                 ? LayerId{0}
                                 : LayerId{static_cast<std::uint32_t>(visit.first_layer) +
                                           static_cast<std::uint32_t>(op.layer)});
    columns_.step.push_back(program_.step[number]);
    columns_.provenance.push_back(program_.provenance[number]);
    duration_ns_.push_back(program_.duration_ns[number]);
    segment_ns_.push_back(program_.segment_ns[number]);
  }

  /// In ids of the graph.
  [[nodiscard]] Point outside(Point point, const RecordedVisit& visit) const {
    if (point == no_point) return point;
    point = Point{static_cast<std::uint32_t>(point) + 2 * visit.first_op};
    renumber(point, task_);
    return point;
  }

  void link(const RecordedVisit& visit) {
    std::size_t lag = visit.first_lag;
    for (const RecordedLink& one : program_.block_of(visit).links) {
      dependencies_.push_back({outside(one.source, visit), task_[visit.first_op + one.op], one.kind,
                               program_.lag_ns[lag++], one.fraction,
                               outside(one.late_after, visit)});
    }
  }

  const RecordedProgram& program_;
  std::vector<TaskId> task_;         // per op
  std::vector<std::uint32_t> done_;  // per visit: ops of it
  TaskColumns columns_;
  std::vector<std::int64_t> duration_ns_;
  std::vector<std::int64_t> segment_ns_;
  std::vector<Dependency> dependencies_;
};

}  // namespace

Result<TaskGraph> graph_of(const RecordedProgram& program) {
  return RecordedGraph(program).build();
}

}  // namespace foretrace
