// Kernels say what a part of a run is for; the calls that launch them go with them, and so does
// what the thread does behind these, until the next part. Parts are cut thread by thread: what
// another one does meanwhile cuts nothing.
#include <cstddef>
#include <map>
#include <unordered_map>
#include <utility>

#include "models/jobs/recordings/recorded_program.h"
#include "sim/graph/links.h"
#include "sim/graph/renumber.h"

namespace foretrace {
namespace {

using editing::KernelEditor;

/// What tasks are for, as far as they say so themselves.
class KnownParts {
 public:
  KnownParts(const TaskGraph& graph, std::span<const RecordedPass> passes)
      : graph_(graph), of_task_(graph.size(), unknown) {
    for (std::uint32_t p = 0; p < passes.size(); ++p) {
      add_pass(passes[p], p);
      add({PartRole::update, p, 0}, passes[p].updates);
    }
  }

  /// Null: the task does not say it.
  [[nodiscard]] const RecordedPart* of(TaskId task) const {
    const std::uint32_t part = of_task_[index(task)];
    return part == unknown ? nullptr : &parts_[part];
  }

 private:
  static constexpr std::uint32_t unknown = UINT32_MAX;

  void add_pass(const RecordedPass& pass, std::uint32_t number) {
    if (!pass.layers.ok()) {
      add({PartRole::forward, number}, pass.kernels.forward);
      add({PartRole::backward, number}, pass.kernels.backward);
      return;
    }
    for (std::uint32_t l = 0; l < pass.layers->list.size(); ++l) {
      add({PartRole::forward, number, l}, pass.layers->list[l].forward);
      add({PartRole::backward, number, l}, pass.layers->list[l].backward);
    }
  }

  void add(const RecordedPart& part, const std::vector<TaskId>& kernels) {
    const auto at = static_cast<std::uint32_t>(parts_.size());
    parts_.push_back(part);
    for (const TaskId kernel : kernels) {
      of_task_[index(kernel)] = at;
      // Of a call for several parts the first one counts.
      const TaskId call = launch_of(graph_, kernel);
      if (call != none<TaskId> && of_task_[index(call)] == unknown) of_task_[index(call)] = at;
    }
  }

  const TaskGraph& graph_;
  std::vector<RecordedPart> parts_;
  std::vector<std::uint32_t> of_task_;
};

class ProgramReader {
 public:
  ProgramReader(const TaskGraph& graph, std::span<const RecordedPass> passes)
      : graph_(graph), parts_(graph, passes), number_(graph.size()) {}

  RecordedProgram read() {
    cut();
    for (std::size_t v = 0; v < tasks_.size(); ++v) {
      program_.visits[v].first_op = static_cast<std::uint32_t>(program_.step.size());
      for (const TaskId task : tasks_[v]) {
        number_[index(task)] = make_id<TaskId>(program_.step.size());
        visit_of_[index(task)] = static_cast<std::uint32_t>(v);
        program_.duration_ns.push_back(graph_.duration_ns(task));
        program_.segment_ns.push_back(graph_.segment_ns(task));
        program_.provenance.push_back(graph_.provenance(task));
        program_.step.push_back(graph_.step(task));
      }
    }
    for (std::size_t v = 0; v < tasks_.size(); ++v) fold(v);
    program_.context = graph_.context();
    renumber(program_.context, number_);
    return std::move(program_);
  }

 private:
  /// What a thread is at.
  struct Thread {
    RecordedPart part;
    std::uint32_t visit = UINT32_MAX;
  };

  /// Whose order a task stands in: its own lane, or that of the call that launches it.
  [[nodiscard]] LaneId thread_of(TaskId task) const {
    if (!is_device(graph_.kind(task))) return graph_.lane_id(task);
    const TaskId call = launch_of(graph_, task);
    return graph_.lane_id(call == none<TaskId> ? task : call);
  }

  [[nodiscard]] RecordedPart part_of(TaskId task, const Thread& thread) const {
    const RecordedPart* known = parts_.of(task);
    if (known != nullptr) return *known;
    if (graph_.phase(task) != Phase::data_loading) return thread.part;
    const auto next = next_pass_.find(graph_.lane(task).rank);
    return {PartRole::input, next == next_pass_.end() ? 0 : next->second};
  }

  /// What a thread does before any part belongs to its first one.
  [[nodiscard]] std::map<LaneId, Thread> first_parts() const {
    std::map<LaneId, Thread> threads;
    for (std::size_t t = graph_.size(); t-- > 0;) {
      const auto task = make_id<TaskId>(t);
      const RecordedPart* known = parts_.of(task);
      if (known != nullptr) threads[thread_of(task)].part = *known;
    }
    return threads;
  }

  void cut() {
    visit_of_.assign(graph_.size(), 0);
    std::map<LaneId, Thread> threads = first_parts();
    for (std::size_t t = 0; t < graph_.size(); ++t) {
      const auto task = make_id<TaskId>(t);
      Thread& thread = threads[thread_of(task)];
      const RecordedPart part = part_of(task, thread);
      if (part.role == PartRole::forward && parts_.of(task) != nullptr) {
        next_pass_[graph_.lane(task).rank] = part.pass + 1;
      }
      if (thread.visit == UINT32_MAX || part != thread.part) {
        thread = {part, static_cast<std::uint32_t>(tasks_.size())};
        tasks_.emplace_back();
        program_.visits.push_back({.part = part});
      }
      tasks_[thread.visit].push_back(task);
      if (program_.turns.empty() || program_.turns.back().visit != thread.visit) {
        program_.turns.push_back({thread.visit, 0});
      }
      ++program_.turns.back().ops;
    }
  }

  [[nodiscard]] bool is_of(Point point, std::size_t visit) const {
    return point == no_point || visit_of_[index(task_of(point))] == visit;
  }
  /// Counted from the first op of the visit.
  [[nodiscard]] Point within(Point point, const RecordedVisit& visit) const {
    renumber(point, number_);
    return point == no_point ? point
                             : Point{static_cast<std::uint32_t>(point) - 2 * visit.first_op};
  }

  void add_links(TaskId task, std::size_t v, RecordedBlock& block) {
    const RecordedVisit& visit = program_.visits[v];
    for (const Link& link : sources(graph_, task)) {
      if (link.on_lane() || link.symbolic) continue;
      if (is_of(link.source, v) && is_of(link.late_after, v)) {
        block.links.push_back({static_cast<std::uint32_t>(block.ops.size()),
                               within(link.source, visit), within(link.late_after, visit),
                               link.kind, link.fraction});
        program_.lag_ns.push_back(link.lag_ns);
        continue;
      }
      Dependency d = link.dependency();
      d.task = number_[index(task)];
      renumber(d.source, number_);
      renumber(d.late_after, number_);
      program_.boundary.push_back(d);
    }
  }

  void fold(std::size_t v) {
    RecordedVisit& visit = program_.visits[v];
    visit.first_lag = static_cast<std::uint32_t>(program_.lag_ns.size());
    RecordedBlock block;
    block.ops.reserve(tasks_[v].size());
    for (const TaskId task : tasks_[v]) {
      add_links(task, v, block);
      RecordedOp op{graph_.work_id(task), graph_.lane_id(task), graph_.kind(task),
                    graph_.phase(task)};
      if (const LayerId layer = graph_.layer(task); index(layer) > 0) {
        if (index(visit.first_layer) == 0) visit.first_layer = layer;
        op.layer = static_cast<std::int32_t>(index(layer)) -
                   static_cast<std::int32_t>(index(visit.first_layer));
      }
      block.ops.push_back(op);
    }
    visit.block = known_block(std::move(block));
  }

  std::uint32_t known_block(RecordedBlock block) {
    std::uint64_t hash = block.links.size();
    const auto mix = [&hash](std::uint64_t value) {
      hash = (hash ^ value) * 0x9E3779B97F4A7C15ULL;  // multiply-xorshift with the golden ratio
      hash ^= hash >> 32U;
    };
    for (const RecordedOp& op : block.ops) {
      mix(index(op.work));
      mix(index(op.lane) << 8U | static_cast<std::uint8_t>(op.phase));
    }
    for (const RecordedLink& link : block.links) mix(index(link.source));
    const auto [begin, end] = blocks_.equal_range(hash);
    for (auto at = begin; at != end; ++at) {
      if (program_.blocks[at->second] == block) return at->second;
    }
    const auto made = static_cast<std::uint32_t>(program_.blocks.size());
    program_.blocks.push_back(std::move(block));
    blocks_.emplace(hash, made);
    return made;
  }

  const TaskGraph& graph_;
  KnownParts parts_;
  std::vector<TaskId> number_;           // per task
  std::vector<std::uint32_t> visit_of_;  // the same
  std::vector<std::vector<TaskId>> tasks_;
  std::map<std::int32_t, std::uint32_t> next_pass_;  // by rank
  std::unordered_multimap<std::uint64_t, std::uint32_t> blocks_;
  RecordedProgram program_;
};

}  // namespace

RecordedProgram read_program(const KernelEditor& editor, std::span<const RecordedPass> passes) {
  return ProgramReader(editor.graph(), passes).read();
}

RecordedProgram read_program(const KernelEditor& editor) {
  return read_program(editor, recorded_passes(editor));
}

std::vector<TaskId> ops_in_turn(const RecordedProgram& program) {
  std::vector<TaskId> ops;
  ops.reserve(program.size());
  std::vector<std::uint32_t> done(program.visits.size());
  for (const RecordedTurn& turn : program.turns) {
    for (std::uint32_t i = 0; i < turn.ops; ++i) {
      ops.push_back(
          make_id<TaskId>(program.visits[turn.visit].first_op + std::size_t{done[turn.visit]++}));
    }
  }
  return ops;
}

}  // namespace foretrace
