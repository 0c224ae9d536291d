// Where in a recorded program something stands: visits by what they are for, rows of its context by
// the op that they hang on.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "models/jobs/recordings/recorded_program.h"

namespace foretrace {

/// Rows of a table in the order of the ops that they hang on.
class RowsByOp {
 public:
  struct Row {
    TaskId op{};
    std::uint32_t row = 0;
  };

  template <typename Rows, typename OpOf>
  RowsByOp(const Rows& rows, const OpOf& op_of) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const TaskId op = op_of(rows[i]);
      if (op != none<TaskId>) rows_.push_back({op, static_cast<std::uint32_t>(i)});
    }
    std::stable_sort(rows_.begin(), rows_.end(),
                     [](const Row& a, const Row& b) { return a.op < b.op; });
  }

  /// Of the ops [first, last).
  [[nodiscard]] std::span<const Row> of(TaskId first, TaskId last) const {
    const auto at = [this](TaskId op) {
      return std::lower_bound(rows_.begin(), rows_.end(), op,
                              [](const Row& row, TaskId wanted) { return row.op < wanted; });
    };
    return {at(first), at(last)};
  }

 private:
  std::vector<Row> rows_;
};

/// References live longer than it.
class RecordedIndex {
 public:
  explicit RecordedIndex(const RecordedProgram& program)
      : waits(program.context.waits, [](const Wait& row) { return row.task; }),
        allocated(program.context.tensors, [](const Tensor& row) { return row.allocated_in; }),
        freed(program.context.tensors, [](const Tensor& row) { return row.freed_in; }),
        segment_parts(program.context.segment_parts,
                      [](const SegmentPart& row) { return row.task; }),
        demands(program.context.demands, [](const Demand& row) { return row.task; }),
        priorities(program.context.priorities, [](const TaskPriority& row) { return row.task; }),
        boundary(program.boundary, [](const Dependency& row) { return row.task; }),
        program_(program) {
    for (std::uint32_t v = 0; v < program.visits.size(); ++v) {
      const RecordedPart& part = program.visits[v].part;
      visits_[{part.role, part.pass, part.layer}].push_back(v);
    }
  }

  [[nodiscard]] const RecordedProgram& program() const { return program_; }
  /// In the order of the run.
  [[nodiscard]] std::span<const std::uint32_t> visits_of(const RecordedPart& part) const {
    const auto found = visits_.find({part.role, part.pass, part.layer});
    return found == visits_.end() ? std::span<const std::uint32_t>{} : found->second;
  }
  [[nodiscard]] std::uint32_t visit_of(TaskId op) const {
    const auto& visits = program_.visits;
    const auto behind = std::upper_bound(
        visits.begin(), visits.end(), index(op),
        [](std::size_t wanted, const RecordedVisit& visit) { return wanted < visit.first_op; });
    return static_cast<std::uint32_t>(behind - visits.begin()) - 1;
  }

  RowsByOp waits;
  RowsByOp allocated;
  RowsByOp freed;
  RowsByOp segment_parts;
  RowsByOp demands;
  RowsByOp priorities;
  RowsByOp boundary;

 private:
  const RecordedProgram& program_;
  std::map<std::tuple<PartRole, std::uint32_t, std::uint32_t>, std::vector<std::uint32_t>> visits_;
};

}  // namespace foretrace
