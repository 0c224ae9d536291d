// The visits of a stage: recorded ops on its own lanes, with the links, waits and rows that they
// have in the recording. What lies on another stage is not waited for here: its message is.
#include <algorithm>

#include "models/jobs/recordings/stage_writer.h"
#include "sim/core/whole.h"

namespace foretrace {

void StageWriter::visits(const RecordedPart& part, std::uint32_t micro_batch) {
  for (const std::uint32_t number : parts_.recorded.visits_of(part)) visit(number, micro_batch);
}

void StageWriter::visit(std::uint32_t number, std::uint32_t micro_batch) {
  const RecordedVisit& about = program_.visits[number];
  const auto first = make_id<TaskId>(builder_.size());
  copies_[{micro_batch, number}] = first;
  latest_[number] = first;
  first_.try_emplace(number, first);
  const auto ops = static_cast<std::uint32_t>(program_.block_of(about).ops.size());
  for (std::uint32_t at = 0; at < ops; ++at) add_op(about, at, micro_batch);
  link(about, micro_batch, first);
  add_rows(about, micro_batch, first);
  tensors_.run(number, micro_batch, first, group_begin_ == none<TaskId> ? first : group_begin_);
}

TaskSpec StageWriter::spec_of(const RecordedVisit& about, std::uint32_t at) {
  const RecordedOp& op = program_.block_of(about).ops[at];
  const std::uint32_t number = about.first_op + at;
  TaskSpec spec;
  spec.lane = lanes_.of(op.lane);
  spec.work = op.work;
  spec.kind = op.kind;
  spec.duration_ns = program_.duration_ns[number];
  spec.segment_ns = program_.segment_ns[number];
  spec.phase = op.phase;
  spec.layer =
      op.layer == RecordedOp::no_layer
          ? LayerId{0}
          : make_id<LayerId>(index(about.first_layer) + static_cast<std::size_t>(op.layer));
  spec.step = stage_ == 0 ? program_.step[number] : -1;
  spec.provenance = program_.provenance[number];
  return spec;
}

void StageWriter::add_op(const RecordedVisit& about, std::uint32_t at, std::uint32_t micro_batch) {
  TaskSpec spec = spec_of(about, at);
  const TaskId recorded = parts_.task_of_op[about.first_op + at];
  const auto bound = [&](const std::vector<float>* of) {
    return of == nullptr || of->empty() ? 1.0F : (*of)[index(recorded)];
  };
  float low = bound(parts_.options.low);
  float high = bound(parts_.options.high);
  const bool is_first_batch = stage_ == 0 && (micro_batch == 0 || micro_batch == no_batch);
  if (!is_first_batch && spec.provenance == Provenance::measured) {
    spec.provenance = Provenance::scaled;
  }
  if (!is_device(spec.kind)) {
    // The first stage loads every micro-batch; others do nothing before their first kernel.
    if (leads_ && about.part.role == PartRole::forward && !is_first_batch) {
      const bool loads = begins_ && stage_ == 0 && about.part.layer == 0;
      spec.segment_ns = loads ? work_.loading_ns : 0;
    }
    if (spec.kind == TaskKind::launch) leads_ = false;
    const TaskId task = draft_.add(spec, low, high);
    follow(spec.lane, task, about);
    return;
  }
  spec.segment_ns = std::max<std::int64_t>(spec.segment_ns, 0);
  if (about.part.role == PartRole::update && spec.phase == Phase::update &&
      spec.kind == TaskKind::kernel && work_.update_share != 1) {
    const Cost cost = editing::moved_share(spec.duration_ns, parts_.editor.class_of(recorded),
                                           work_.update_share);
    spec.duration_ns = cost.duration_ns;
    spec.provenance = cost.provenance;
    low *= cost.low;
    high *= cost.high;
  }
  const TaskId task = draft_.add(spec, low, high);
  if (spec.kind == TaskKind::kernel) compute_ = spec.lane;
  put_on(spec.lane, task);
}

void StageWriter::put_on(LaneId lane, TaskId task) {
  std::size_t& waits = gated_[lane];
  wait_for(task, lane, std::span<const TaskId>(gates_).subspan(waits));
  waits = gates_.size();
  last_on_[lane] = task;
}

// Visits of a stage follow each other on the host, whichever thread they are on.
void StageWriter::follow(LaneId lane, TaskId task, const RecordedVisit& about) {
  const bool is_pass = about.part.role != PartRole::other && about.part.role != PartRole::input;
  if (is_pass && thread_ != none<LaneId> && thread_ != lane) {
    builder_.add_dependency(
        {.source = end_of(last_call_), .task = task, .kind = DependencyKind::hand_over});
  }
  if (is_pass) {
    if (begins_) group_begin_ = task;
    begins_ = false;
  }
  thread_ = lane;
  last_call_ = task;
}

TaskId StageWriter::copy_of(TaskId op, std::uint32_t micro_batch) const {
  const std::uint32_t v = parts_.recorded.visit_of(op);
  const RecordedPart& part = program_.visits[v].part;
  const bool is_here = part.pass == work_.pass && micro_batch != no_batch &&
                       (part.role == PartRole::forward || part.role == PartRole::backward);
  TaskId first = none<TaskId>;
  if (is_here) {
    const auto found = copies_.find({micro_batch, v});
    if (found != copies_.end()) first = found->second;
  } else if (const auto found = latest_.find(v); found != latest_.end()) {
    first = found->second;
  }
  if (first == none<TaskId>) return first;
  return make_id<TaskId>(index(first) + index(op) - program_.visits[v].first_op);
}

Point StageWriter::copy_of(Point point, std::uint32_t micro_batch) const {
  if (point == no_point) return point;
  const TaskId task = copy_of(task_of(point), micro_batch);
  if (task == none<TaskId>) return no_point;
  return is_end(point) ? end_of(task) : start_of(task);
}

void StageWriter::link(const RecordedVisit& about, std::uint32_t micro_batch, TaskId first) {
  const auto shifted = [&](Point point) {
    return point == no_point
               ? point
               : Point{static_cast<std::uint32_t>(point) + 2 * static_cast<std::uint32_t>(first)};
  };
  std::size_t lag = about.first_lag;
  for (const RecordedLink& one : program_.block_of(about).links) {
    builder_.add_dependency({shifted(one.source), make_id<TaskId>(index(first) + one.op), one.kind,
                             program_.lag_ns[lag++], one.fraction, shifted(one.late_after)});
  }
  const auto ops = static_cast<std::uint32_t>(program_.block_of(about).ops.size());
  for (const RowsByOp::Row& row :
       parts_.recorded.boundary.of(TaskId{about.first_op}, TaskId{about.first_op + ops})) {
    Dependency d = program_.boundary[row.row];
    d.source = copy_of(d.source, micro_batch);
    if (d.source == no_point) continue;
    d.task = make_id<TaskId>(index(first) + index(row.op) - about.first_op);
    d.late_after = copy_of(d.late_after, micro_batch);
    builder_.add_dependency(d);
  }
}

void StageWriter::add_rows(const RecordedVisit& about, std::uint32_t micro_batch, TaskId first) {
  const RecordedIndex& recorded = parts_.recorded;
  const GraphContext& context = program_.context;
  const TaskId from{about.first_op};
  const TaskId until{about.first_op +
                     static_cast<std::uint32_t>(program_.block_of(about).ops.size())};
  const auto copy = [&](const auto& rows, const RowsByOp::Row& row) {
    auto made = rows[row.row];
    made.task = make_id<TaskId>(index(first) + index(row.op) - about.first_op);
    return made;
  };
  for (const RowsByOp::Row& row : recorded.waits.of(from, until)) {
    Wait wait = copy(context.waits, row);
    const bool is_there = index(wait.at) < program_.size();
    const TaskId at = is_there ? copy_of(wait.at, micro_batch) : none<TaskId>;
    wait.at = at == none<TaskId> ? wait.task : at;
    wait.lane = lanes_.of(wait.lane);
    wait.rank = lanes_.rank(wait.rank);
    wait.late_after = copy_of(wait.late_after, micro_batch);
    builder_.add_wait(wait);
  }
  for (const RowsByOp::Row& row : recorded.segment_parts.of(from, until)) {
    builder_.add_segment_part(copy(context.segment_parts, row));
  }
  for (const RowsByOp::Row& row : recorded.demands.of(from, until)) {
    builder_.add_demand(copy(context.demands, row));
  }
  for (const RowsByOp::Row& row : recorded.priorities.of(from, until)) {
    builder_.context().priorities.push_back(copy(context.priorities, row));
  }
}

}  // namespace foretrace
