// What goes, how large it is and what it waits for, the nodes say. A recording tells more than they
// know: where each gradient is ready, and when the host comes to a layer. PyTorch's copies on the
// compute stream are put in here (torch/csrc/distributed/c10d/reducer.cpp,
// torch/distributed/fsdp/_fully_shard/_fsdp_param_group.py): a gradient is scaled into its bucket as
// it is ready and copied back behind the backward pass; parameters are copied out before their
// layer, gradients in behind it, one reduction in flight.
#include "models/whatifs/parallelism/layer_exchanges.h"

#include <algorithm>
#include <utility>

#include "models/jobs/recordings/network_name.h"
#include "sim/graph/links.h"

namespace foretrace::editing {

TaskId LayerExchanges::first_called(const std::vector<TaskId>& kernels) const {
  for (const TaskId kernel : kernels) {
    if (editor_.own_call(kernel) != none<TaskId>) return kernel;
  }
  return none<TaskId>;
}

TaskId LayerExchanges::last_called(const std::vector<TaskId>& kernels) const {
  for (std::size_t i = kernels.size(); i-- > 0;) {
    if (editor_.own_call(kernels[i]) != none<TaskId>) return kernels[i];
  }
  return kernels.back();
}

const std::vector<TaskId>& LayerExchanges::kernels_of(const Layer& layer) const {
  const PassLayer& of = about_.layers.list[layer.second];
  return layer.first == Phase::forward ? of.forward : of.backward;
}

/// A kernel that reads and writes so many bytes.
Result<TaskId> LayerExchanges::copy(TaskId anchor, Place place, double bytes,
                                    std::string_view name) {
  return network_.move_bytes(anchor, place, 2 * bytes, name);
}

TaskId LayerExchanges::transfer(std::uint32_t node, TaskId anchor, Place place) {
  const RankNode& about = about_.nodes[node];
  const NetworkName name = network_name(about, options_.plan.sharding);
  const TaskId task = network_.communicate(
      anchor, place, {about.collective, about.bytes, about.group, name.stream, name.work});
  transfers_[node] = task;
  return task;
}

/// The last parameters that were copied out when this layer had run.
TaskId LayerExchanges::copied_out(const NodePlace& layer) const {
  TaskId out = none<TaskId>;
  for (const auto& [of, task] : copied_) {
    if (of.first != layer.phase) continue;
    const bool has_run =
        layer.phase == Phase::forward ? of.second <= layer.order : of.second >= layer.order;
    if (!has_run) continue;
    out = task;
    if (layer.phase == Phase::backward) break;  // layers stand in the forward order
  }
  return out;
}

/// Before what it is called for. It takes the buffer of parameters that were copied out.
void LayerExchanges::issue(std::uint32_t node, TaskId anchor) {
  const RankNode& about = about_.nodes[node];
  const bool is_first = transfers_.empty();
  const TaskId gather = transfer(node, anchor, Place::before);
  if (is_first) {  // what comes before the pass has updated them
    const TaskId before = previous_on_lane(graph_, about_.pass.kernels.forward.front());
    if (before != none<TaskId>) network_.wait(gather, before);
  }
  for (const std::uint32_t before : about.after) {
    const NodePlace& place = about_.nodes[before].place;
    if (about_.nodes[before].action == nullptr) continue;  // a stream keeps its own order
    const TaskId out = copied_out(place);
    if (out != none<TaskId>) network_.wait(gather, out);
  }
}

/// What the layer waits for; backward, what it asks for ahead goes behind that. Forward, the host
/// asks when it comes to a layer.
Status LayerExchanges::enter(const RankNode& node) {
  const Layer layer{node.place.phase, node.place.order};
  const TaskId anchor = first_called(kernels_of(layer));
  if (anchor == none<TaskId>) return ok_status();
  for (const std::uint32_t before : node.after) {
    const auto asked = std::find(asked_.begin(), asked_.end(), before);
    if (asked != asked_.end()) {
      for (auto one = asked_.begin(); one <= asked; ++one) issue(*one, anchor);
      asked_.erase(asked_.begin(), asked + 1);
    }
    const RankNode& other = about_.nodes[before];
    if (other.collective != CollectiveKind::all_gather) continue;
    FORETRACE_TRY(const TaskId out,
                  copy(anchor, Place::before, other.bytes, "copy parameters of a layer out"));
    network_.wait(out, transfers_.at(before));
    copied_[layer] = out;
  }
  if (layer.first == Phase::forward) return ok_status();
  for (const std::uint32_t ahead : std::exchange(asked_, {})) issue(ahead, anchor);
  return ok_status();
}

/// Behind the last kernel of a layer; copies of a shard add theirs up at once.
Status LayerExchanges::scatter(std::uint32_t node) {
  const RankNode& about = about_.nodes[node];
  const TaskId last = last_called(kernels_of({Phase::backward, about.place.order}));
  divided_ = last;
  if (about.collective == CollectiveKind::all_reduce) {
    const TaskId sum = transfer(node, last, Place::after);
    network_.wait(sum, travelled_);
    travelled_ = sum;
    return ok_status();
  }
  FORETRACE_TRY(const TaskId in,
                copy(last, Place::after, about.bytes, "copy gradients of a layer in"));
  if (reduced_ != none<TaskId>) network_.wait(in, reduced_);
  reduced_ = travelled_ = transfer(node, last, Place::after);
  network_.wait(reduced_, in);
  return ok_status();
}

/// Of the gradients that were ready when the node could begin.
Status LayerExchanges::fill(std::uint32_t node) {
  const auto& list = about_.gradients.list;
  Bucket bucket;
  TaskId filled = none<TaskId>;
  for (; filled_ < about_.nodes[node].ready; ++filled_) {
    const TaskId ready = list[filled_].ready;
    const double numbers = list[filled_].numbers * options_.own_parameters;
    filled = ready;
    if (!bucket_view_) {
      FORETRACE_TRY(filled, copy(ready, Place::after, numbers * options_.gradient_bytes,
                                 "scale gradient into its bucket"));
    }
    bucket.numbers.push_back(numbers);
  }
  const bool is_share = about_.nodes[node].collective == CollectiveKind::all_reduce &&
                        options_.plan.sharding != Sharding::none;
  if (is_share && !buckets_.empty()) {  // copies of a share add up the bucket that left
    const TaskId sum = transfer(node, list[filled_ - 1].ready, Place::after);
    network_.wait(sum, buckets_.back().transfer);
    buckets_.back().transfer = sum;
    return ok_status();
  }
  if (filled == none<TaskId>) return ok_status();
  bucket.transfer = transfer(node, list[filled_ - 1].ready, Place::after);
  network_.wait(bucket.transfer, filled);
  buckets_.push_back(std::move(bucket));
  return ok_status();
}

/// What comes behind the backward pass waits, bucket by bucket.
Status LayerExchanges::finish() {
  if (std::exchange(is_finished_, true)) return ok_status();
  const TaskId last = last_called(about_.pass.kernels.backward);
  // Norms of gradients follow the last layer.
  if (travelled_ != none<TaskId>) network_.next_waits(divided_, travelled_);
  for (const Bucket& bucket : buckets_) {
    bool waits = false;
    for (const double numbers : bucket.numbers) {
      if (bucket_view_ || options_.plan.sharding != Sharding::none) break;
      FORETRACE_TRY(const TaskId back, copy(last, Place::after, numbers * options_.gradient_bytes,
                                            "copy gradient from its bucket"));
      if (!waits) network_.wait(back, bucket.transfer);
      waits = true;
    }
    if (!waits) network_.next_waits(last, bucket.transfer);
  }
  return ok_status();
}

/// Every rank has updated its share.
void LayerExchanges::gather_behind(std::uint32_t node) {
  if (about_.pass.updates.empty()) return;
  const TaskId last = about_.pass.updates.back();
  const TaskId gather = transfer(node, last, Place::after);
  network_.wait(gather, last);
  network_.next_waits(last, gather);
}

Status LayerExchanges::add(std::uint32_t node) {
  const RankNode& about = about_.nodes[node];
  if (about.type == RankNodeType::compute) {
    if (about.action != nullptr) return enter(about);
    // What computation loses beside communication, the graph tells.
    return about.place.phase == Phase::update ? finish() : ok_status();
  }
  if (about.place.phase == Phase::update) {
    gather_behind(node);
  } else if (about.collective == CollectiveKind::all_gather) {
    asked_.push_back(node);
  } else {
    return shares_parameters() ? scatter(node) : fill(node);
  }
  return ok_status();
}

Status LayerExchanges::put() {
  for (std::uint32_t node = 0; node < about_.nodes.size(); ++node) FORETRACE_TRY(add(node));
  return finish();
}

}  // namespace foretrace::editing
