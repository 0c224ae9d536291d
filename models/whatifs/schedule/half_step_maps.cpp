// Of the second sub-array a pass ends what the pass before made, and makes what the next one ends.
#include "models/whatifs/schedule/half_step_maps.h"

#include <algorithm>
#include <utility>

namespace foretrace::editing {

// Maps that are made first are needed last: they have the longest time in between.
std::vector<bool> HalfStepMaps::choose(const std::vector<Stash>& stashes) const {
  double total = 0;
  for (const Stash& stash : stashes) total += stash.bytes >= least_ ? stash.bytes : 0;
  std::vector<bool> swapped(stashes.size(), false);
  double taken = 0;
  for (std::size_t i = 0; i < stashes.size(); ++i) {
    if (stashes[i].bytes < least_ || taken + stashes[i].bytes > swap_ * total) continue;
    taken += stashes[i].bytes;
    swapped[i] = true;
  }
  return swapped;
}

void HalfStepMaps::add(std::size_t tensor, double models, TaskId from, TaskId to) {
  if (tensor == Stash::no_tensor) return;
  const auto bytes = static_cast<double>(graph_.context().tensors[tensor].bytes);
  tensors_.add_like(tensor, bytes * models, from, to);
}

void HalfStepMaps::keep_own(const TrainingPass& pass, const Stash& stash, bool swapped,
                            TaskId& issue) {
  const TaskId at = editor_.own_call(issue) != none<TaskId> ? issue : stash.needed_by;
  const TaskId from = pass.forward[stash.last_use];
  if (!swapped || editor_.own_call(at) == none<TaskId> || editor_.own_call(from) == none<TaskId>) {
    return;
  }
  const double bytes = stash.bytes * step_.first();
  const TaskId out = engine_.copy({.direction = CopyEngine::Direction::to_host,
                                   .bytes = bytes,
                                   .anchor = from,
                                   .after = pass.forward[stash.made]});
  const TaskId in = engine_.copy({.direction = CopyEngine::Direction::to_device,
                                  .bytes = bytes,
                                  .anchor = at,
                                  .place = Place::before,
                                  .after = out});
  engine_.wait(stash.needed_by, in);
  issue = stash.needed_by;
  if (!stash.recorded()) return;
  done_[stash.tensor] = true;
  const Tensor& tensor = graph_.context().tensors[stash.tensor];
  tensors_.drop(stash.tensor);
  add(stash.tensor, step_.first(), tensor.allocated_in, editor_.call_of_new(out));
  add(stash.tensor, step_.first(), editor_.call_of_new(in), tensor.freed_in);
}

HalfStepMaps::Carried HalfStepMaps::keep_twin(const TrainingPass& pass, const Stash& stash,
                                              bool swapped, TaskId& issue, const Carried& before) {
  const Twin* made = step_.twin(pass.forward[stash.made]);
  const Twin* use = step_.twin(pass.forward[stash.last_use]);
  const Twin* need = step_.twin(stash.needed_by);
  if (made == nullptr || use == nullptr || need == nullptr) return {};
  const double bytes = stash.bytes * step_.second();
  // Backward of what the step before left: it is there, or comes back.
  TaskId since = before.since;
  const TaskId at = issue != need->beside ? issue : need->earlier;
  const bool leaves = swapped && at != none<TaskId>;
  if (leaves) {
    const TaskId in = engine_.copy({.direction = CopyEngine::Direction::to_device,
                                    .bytes = bytes,
                                    .anchor = at,
                                    .place = Place::before,
                                    .after = before.left});
    engine_.wait(need->task, in);
    issue = need->beside;
    since = editor_.call_of_new(in);
  }
  add(stash.tensor, step_.second(), since, editor_.call_of_new(need->task));
  // Forward, while the first sub-array is in backward.
  Carried carried{stash.tensor, editor_.call_of_new(made->task), none<TaskId>};
  if (!leaves) return carried;
  carried.left = engine_.copy({.direction = CopyEngine::Direction::to_host,
                               .bytes = bytes,
                               .anchor = use->beside,
                               .after = made->task});
  add(stash.tensor, step_.second(), carried.since, editor_.call_of_new(carried.left));
  return {Stash::no_tensor, none<TaskId>, carried.left};
}

void HalfStepMaps::keep(const TrainingPass& pass) {
  const std::vector<Stash> stashes = editing::find_stashes(editor_, pass, 1);
  const std::vector<bool> swapped = choose(stashes);
  std::vector<std::size_t> order(stashes.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return stashes[a].needed_by < stashes[b].needed_by;
  });
  TaskId issue = pass.backward.front();
  for (const std::size_t i : order) keep_own(pass, stashes[i], swapped[i], issue);
  if (!(step_.second() > 0)) return;
  const Lane& lane = graph_.lane(pass.forward.front());
  const auto first_with_call = [&](auto from, auto to) {
    const auto at = std::find_if(
        from, to, [&](TaskId kernel) { return editor_.own_call(kernel) != none<TaskId>; });
    return at == to ? none<TaskId> : *at;
  };
  const Device device = {lane.rank, lane.device};
  const auto found = ends_.find(device);
  const TaskId last_end = found == ends_.end() ? none<TaskId> : found->second;
  std::vector<Carried>& carried = carried_[device];
  const bool same = carried.size() == stashes.size();
  std::vector<Carried> now(stashes.size());
  issue = first_with_call(pass.forward.begin(), pass.forward.end());
  for (const std::size_t i : order) {
    Carried before = same ? carried[i] : Carried{};
    if (before.since == none<TaskId>) before.since = last_end;
    now[i] = keep_twin(pass, stashes[i], swapped[i], issue, before);
  }
  // A pass with other maps than the one before: those end with the pass that made them.
  for (std::size_t i = 0; i < carried.size(); ++i) {
    const bool goes_on = same && now[i].tensor != Stash::no_tensor;
    if (!goes_on) add(carried[i].tensor, step_.second(), carried[i].since, last_end);
  }
  carried = std::move(now);
  ends_[device] = editor_.own_call(first_with_call(pass.backward.rbegin(), pass.backward.rend()));
}

// Weights, gradients and states are those of all models; what the samples fill is of one of them;
// everything else of the kernels that run at once.
void HalfStepMaps::finish() {
  for (const auto& [device, maps] : carried_) {
    for (const Carried& map : maps) add(map.tensor, step_.second(), map.since, none<TaskId>);
  }
  const auto& all = graph_.context().tensors;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (done_[i] || all[i].category == TensorCategory::input) continue;
    const bool own = all[i].category == TensorCategory::weight ||
                     all[i].category == TensorCategory::gradient ||
                     all[i].category == TensorCategory::optimizer_state ||
                     (all[i].allocated_in == none<TaskId> && all[i].freed_in == none<TaskId>);
    const double factor = own ? step_.first() + step_.second() : step_.first();
    tensors_.resize(i, static_cast<double>(all[i].bytes) * factor);
  }
}

}  // namespace foretrace::editing
