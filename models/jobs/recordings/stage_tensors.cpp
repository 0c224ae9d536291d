#include "models/jobs/recordings/stage_tensors.h"

#include <algorithm>

#include "sim/core/whole.h"

namespace foretrace {
namespace {

bool is_of_pass(const RecordedPart& part) {
  return part.role == PartRole::forward || part.role == PartRole::backward;
}

}  // namespace

// What a visit of a layer makes is the layer's own; all else is of all layers.
double StageTensors::share_of(const Tensor& recorded) const {
  const bool is_state = recorded.category == TensorCategory::weight ||
                        recorded.category == TensorCategory::gradient ||
                        recorded.category == TensorCategory::optimizer_state;
  const bool is_weight = recorded.category == TensorCategory::weight;
  double share = 1;
  if (recorded.allocated_in == none<TaskId>) {
    if (is_state) share = is_weight ? shares_.held : shares_.trained;
  } else if (part_of(recorded.allocated_in).role == PartRole::update) {
    share = shares_.trained * (is_state ? 1 : shares_.states);
  }
  switch (recorded.category) {
    case TensorCategory::weight: return share * shares_.weights;
    case TensorCategory::gradient: return share * shares_.gradients;
    case TensorCategory::optimizer_state: return share * shares_.states;
    default: return share;
  }
}

std::size_t StageTensors::add(std::uint32_t row, TaskId allocated_in) {
  Tensor made = tensor(row);
  if (const double share = share_of(made); share != 1) {
    made.bytes = to_whole(static_cast<double>(made.bytes) * share);
    made.requested_bytes = -1;
    made.provenance = Provenance::scaled;
  }
  made.allocated_in = allocated_in;
  made.freed_in = none<TaskId>;
  made.stream = lanes_.of(made.stream);
  builder_.add_tensor(made);
  return builder_.context().tensors.size() - 1;
}

void StageTensors::hold(bool is_first) {
  const auto& all = recorded_.program().context.tensors;
  for (std::uint32_t row = 0; row < all.size(); ++row) {
    if (all[row].allocated_in != none<TaskId>) continue;
    const bool is_state = all[row].category == TensorCategory::weight ||
                          all[row].category == TensorCategory::gradient ||
                          all[row].category == TensorCategory::optimizer_state;
    if (!is_first && !is_state) continue;
    const std::size_t made = add(row, none<TaskId>);
    if (!is_first) {
      Tensor& there = builder_.context().tensors[made];
      there.rank = lanes_.rank(std::max(there.rank, 0));
    }
    live_[row].push_back({no_batch, made});
  }
}

/// Gradients of weights: the first micro-batch makes them, the others add to them.
bool StageTensors::outlives_pass(std::uint32_t row, std::uint32_t pass) const {
  const TaskId end = tensor(row).freed_in;
  if (end == none<TaskId>) return true;
  const RecordedPart& part = part_of(end);
  return !is_of_pass(part) || part.pass != pass;
}

bool StageTensors::goes_elsewhere(std::uint32_t row, std::uint32_t pass) const {
  const TaskId end = tensor(row).freed_in;
  if (end == none<TaskId>) return false;
  const RecordedPart& part = part_of(end);
  return is_of_pass(part) && part.pass == pass && !layers_.contains(part.layer);
}

void StageTensors::begin_pass(std::uint32_t pass, TaskId last) {
  forward_begins_.clear();
  if (last == none<TaskId>) return;
  for (auto& [row, live] : live_) {
    const TaskId end = tensor(row).freed_in;
    if (live.empty() || end == none<TaskId>) continue;
    const RecordedPart& part = part_of(end);
    const bool is_away =
        is_of_pass(part) ? !layers_.contains(part.layer) : part.role == PartRole::input;
    if (!is_away || part.pass > pass) continue;
    for (const Live& one : live) builder_.context().tensors[one.tensor].freed_in = last;
    live.clear();
  }
}

void StageTensors::run(std::uint32_t visit, std::uint32_t micro_batch, TaskId first, TaskId begin) {
  const RecordedProgram& program = recorded_.program();
  const RecordedVisit& about = program.visits[visit];
  if (about.part.role == PartRole::forward) forward_begins_.try_emplace(micro_batch, begin);
  const TaskId from{about.first_op};
  const TaskId until{about.first_op +
                     static_cast<std::uint32_t>(program.block_of(about).ops.size())};
  const auto task_of_op = [&](TaskId op) {
    return TaskId{static_cast<std::uint32_t>(first) + static_cast<std::uint32_t>(op) -
                  about.first_op};
  };
  for (const RowsByOp::Row& one : recorded_.allocated.of(from, until)) {
    if (about.part.role == PartRole::backward && outlives_pass(one.row, about.part.pass)) {
      const auto [known, is_new] = accumulated_.try_emplace(one.row, about.part.pass);
      if (!is_new && known->second == about.part.pass) continue;
      known->second = about.part.pass;
    }
    const std::size_t made = add(one.row, task_of_op(one.op));
    if (is_of_pass(about.part) && goes_elsewhere(one.row, about.part.pass)) {
      leaving_.emplace_back(one.row, made);
    } else {
      live_[one.row].push_back({micro_batch, made});
    }
  }
  for (const RowsByOp::Row& one : recorded_.freed.of(from, until)) {
    free(one.row, micro_batch, is_of_pass(about.part), task_of_op(one.op), begin);
  }
}

void StageTensors::free(std::uint32_t row, std::uint32_t micro_batch, bool is_pass, TaskId task,
                        TaskId begin) {
  const Tensor& recorded = tensor(row);
  std::vector<Live>& live = live_[row];
  const auto go = [&](const Live& one) {
    Tensor& there = builder_.context().tensors[one.tensor];
    there.freed_in = task;
    there.freed_offset_ns = recorded.freed_offset_ns;
    there.freed_sequence = recorded.freed_sequence;
  };
  if (!is_pass) {
    for (const Live& one : live) go(one);
    live.clear();
    return;
  }
  auto own = std::find_if(live.begin(), live.end(),
                          [&](const Live& one) { return one.micro_batch == micro_batch; });
  if (own == live.end()) {
    own = std::find_if(live.begin(), live.end(),
                       [](const Live& one) { return one.micro_batch == no_batch; });
  }
  if (own != live.end()) {
    go(*own);
    live.erase(own);
  } else if (recorded.allocated_in != none<TaskId>) {
    // Another stage has sent it: in the pass that it was made in.
    const auto forward = forward_begins_.find(micro_batch);
    const bool is_kept = part_of(recorded.allocated_in).role == PartRole::forward &&
                         forward != forward_begins_.end();
    const std::size_t made = add(row, is_kept ? forward->second : begin);
    Tensor& there = builder_.context().tensors[made];
    // Before all that the task's host time does.
    there.allocated_offset_ns =
        std::max(builder_.segments()[index(there.allocated_in)], recorded.freed_offset_ns);
    there.allocated_sequence = 0;
    go({micro_batch, made});
  }
}

void StageTensors::end_group(TaskId last) {
  for (const auto& [row, made] : leaving_) {
    Tensor& there = builder_.context().tensors[made];
    there.freed_in = last;
    there.freed_offset_ns = 0;
    if (there.allocated_in == last) there.freed_offset_ns = there.allocated_offset_ns;
  }
  leaving_.clear();
}

}  // namespace foretrace
