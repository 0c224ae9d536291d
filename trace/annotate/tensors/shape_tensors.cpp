// From shapes to allocations and frees.
#include "trace/annotate/tensors/shape_tensors.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "sim/core/text.h"
#include "trace/annotate/names.h"
#include "trace/annotate/operator_calls.h"
#include "trace/annotate/sequence.h"
#include "trace/annotate/tensors/result_shapes.h"
#include "trace/annotate/tensors/tensor_lifetimes.h"
#include "trace/annotate/tensors/tensor_owners.h"
#include "trace/annotate/tensors/tensor_pool.h"

namespace foretrace::trace {
namespace {

// Of one forward operator; more are not looked at.
constexpr std::size_t most_touched = 256;

// CUDA devices; what the device is does not depend on it.
constexpr std::int32_t device_memory = 1;

/// Collectives write into tensors that others made.
bool communicates(std::string_view name) {
  return name == "record_param_comms" || name.starts_with("nccl:") || name.starts_with("c10d::");
}

class Walk {
 public:
  Walk(const EventTable& events, const Annotation& annotation)
      : events_(events),
        annotation_(annotation),
        calls_(events, annotation),
        arguments_(events),
        gradient_of_(events.size()) {}

  ShapeTensors run() {
    if (!calls_.any_work()) return {};
    link_passes();
    if (lacks_links()) return {};
    for (const EventId event : calls_.in_order_of_return()) visit(event);
    found_.kernels = static_cast<std::size_t>(
        std::count(events_.kind.begin(), events_.kind.end(), EventKind::kernel));
    emit();
    return std::move(found_);
  }

 private:
  // ---- What is known before the walk ------------------------------------------------------------

  void link_passes() {
    NameMeanings meanings(events_);
    links_ = link_autograd(events_, calls_.nesting(), meanings);
    for (std::size_t i = 0; i < events_.size(); ++i) {
      const EventId forward = links_.source[i];
      if (forward == none<EventId>) continue;
      const TensorShape* const gradient = arguments_.of(make_id<EventId>(i)).tensor(0);
      if (gradient != nullptr && !gradient_of_[index(forward)]) {
        gradient_of_[index(forward)] = *gradient;
      }
    }
  }

  /// A backward pass that nothing ties to the forward pass: what that one saves is not known.
  [[nodiscard]] bool lacks_links() const {
    bool trains = false;
    for (std::size_t i = 0; i < events_.size(); ++i) {
      if (links_.source[i] != none<EventId>) return false;
      trains = trains || (calls_.work_of(make_id<EventId>(i)) != nullptr &&
                          annotation_.phase[i] == Phase::backward);
    }
    return trains;
  }

  // ---- The walk --------------------------------------------------------------------------------

  void visit(EventId event) {
    begin_step(events_.start_ns[index(event)]);
    const std::string_view name = events_.name_of(event);
    const OwnWork* const work = calls_.work_of(event);
    if (events_.kind[index(event)] != EventKind::cpu_op) {
      clear_gradients(event);
    } else if (is_factory(name)) {
      if (work == nullptr) note_factory(event);
    } else if (contains(name, "AccumulateGrad")) {
      accumulate(event);
    } else if (work != nullptr) {
      perform(event, *work);
    }
  }

  void begin_step(std::int64_t time) {
    while (next_step_ < annotation_.steps.size() &&
           annotation_.steps[next_step_].start_ns <= time) {
      pool_.forget_passing();
      ++next_step_;
    }
  }

  /// aten::empty and the like: a tensor on some device, if its size is recorded.
  void note_factory(EventId event) {
    const std::string_view name = events_.name_of(event);
    const OperatorArguments& arguments = arguments_.of(event);
    std::optional<TensorShape> shape;
    if (name == "aten::empty" || name == "aten::empty_strided") {
      shape = size_asked_for(arguments, name == "aten::empty_strided" ? 2 : 1);
    }
    if (shape && shape->bytes() > 0) {
      add(*shape, event, -1);
    } else if (name.starts_with("aten::empty")) {
      unsized_ = event;
    }
  }

  static std::optional<TensorShape> size_asked_for(const OperatorArguments& arguments,
                                                   std::size_t type_at) {
    const auto sizes = arguments.numbers(0);
    if (!sizes) return std::nullopt;
    return make_shape(*sizes,
                      scalar_type(type_at < arguments.values.size() ? arguments.values[type_at]
                                                                    : std::string_view{}));
  }

  TensorPool::Index add(const TensorShape& shape, EventId maker, std::int32_t device) {
    return pool_.add({.shape = shape,
                      .track = events_.track[index(maker)],
                      .allocated_ns = events_.start_ns[index(maker)],
                      .maker = maker,
                      .last_user = maker,
                      .device = device});
  }

  void use(TensorPool::Index i, EventId user, std::int32_t device) {
    SeenTensor& tensor = pool_[i];
    tensor.last_user = user;
    tensor.device = device;
    tensor.call = call_;
  }

  void perform(EventId event, const OwnWork& work) {
    ++call_;
    const OperatorArguments& arguments = arguments_.of(event);
    if (communicates(events_.name_of(event))) found_.known_kernels += work.kernels;
    if (arguments.tensors.empty() || communicates(events_.name_of(event))) return;
    ++found_.operators;
    found_.known_kernels += work.kernels;
    const EventId node =
        calls_.nearest(event, [&](EventId e) { return links_.source[index(e)] != none<EventId>; });
    const EventId forward = node == none<EventId> ? node : links_.source[index(node)];
    const EventId differentiated =
        calls_.nearest(event, [&](EventId e) { return gradient_of_[index(e)].has_value(); });
    taken_.clear();
    take_arguments(event, work, forward);
    const auto arguments_taken = static_cast<std::ptrdiff_t>(taken_.size());
    const bool only_copies = !work.computes;
    if (!only_copies || work.uploads) make_results(event, work, forward, differentiated);
    if (differentiated != none<EventId>) {
      // What the backward pass reads comes last: that is where a search begins.
      if (!saves_result(events_.name_of(event))) {
        std::rotate(taken_.begin(), taken_.begin() + arguments_taken, taken_.end());
        std::reverse(taken_.end() - arguments_taken, taken_.end());
      }
      auto& touched = touched_[differentiated];
      touched.insert(touched.end(), taken_.begin(), taken_.end());
    }
    last_work_ns_ = events_.end_ns(event);
    last_work_track_ = events_.track[index(event)];
    if (annotation_.phase[index(event)] == Phase::update) {
      last_update_ns_ = last_work_ns_;
      last_update_track_ = last_work_track_;
    }
  }

  void take_arguments(EventId event, const OwnWork& work, EventId forward) {
    const OperatorArguments& arguments = arguments_.of(event);
    const TensorShape* gradient = nullptr;
    std::span<const TensorPool::Index> touched;
    if (forward != none<EventId>) {
      if (gradient_of_[index(forward)]) gradient = &*gradient_of_[index(forward)];
      if (const auto known = touched_.find(forward); known != touched_.end()) {
        touched = known->second;
        touched = touched.last(std::min(touched.size(), most_touched));
      }
    }
    for (std::size_t a = 0; a < arguments.tensors.size(); ++a) {
      if (!work.computes && a > 0 && work.uploads) break;        // from the host
      if (!work.computes && a == 0 && work.downloads) continue;  // to the host
      for (const TensorShape& shape : arguments.tensors[a]) {
        if (shape.elements() == 0) continue;
        const bool is_gradient = gradient != nullptr && shape.elements() == gradient->elements();
        if (a == 0) settle_unknown(event, shape);
        auto found = find_argument(event, shape, is_gradient ? nullptr : &touched);
        if (is_gradient) {
          gradient = nullptr;  // the others of its size are what was saved
          if (found && std::find(touched.begin(), touched.end(), *found) != touched.end()) {
            found.reset();  // the gradient is a view of something small
          }
        }
        if (found) {
          use(*found, event, work.device);
          taken_.push_back(*found);
        } else if (a == 0 && works_in_place(events_.name_of(event))) {
          fill_unsized(event, shape, work.device);
        }
      }
    }
  }

  /// What the operator before made is what this one reads first, if it may be and nobody else made
  /// it.
  void settle_unknown(EventId event, const TensorShape& shape) {
    const EventId maker = unsettled_;
    if (maker == none<EventId> || shape.elements() <= 1 ||
        events_.track[index(maker)] != events_.track[index(event)]) {
      return;
    }
    unsettled_ = none<EventId>;
    const TensorShape* const input = arguments_.of(maker).tensor(0);
    const TensorShape* const weight = arguments_.of(maker).tensor(1);
    const bool is_convolution = contains(events_.name_of(maker), "conv");
    const bool fits = input != nullptr && shape.type == input->type && shape.rank > 0 &&
                      (!is_convolution || (weight != nullptr && shape.rank == input->rank &&
                                           shape[0] == (*input)[0] && shape[1] == (*weight)[0]));
    if (!fits || (!is_convolution && find_argument(event, shape, nullptr))) return;
    add(shape, maker, calls_.work_of(maker)->device);
    --found_.unknown;
    found_.known_kernels += calls_.work_of(maker)->kernels;
    --unknown_[events_.name_of(maker)];
  }

  [[nodiscard]] std::optional<TensorPool::Index> find_argument(
      EventId event, const TensorShape& shape,
      const std::span<const TensorPool::Index>* touched) const {
    const TensorPool::Query query{.shape = shape,
                                  .call = call_,
                                  .track = events_.track[index(event)],
                                  .before_ns = events_.start_ns[index(event)]};
    if (touched != nullptr) {
      if (const auto found = pool_.find_in(*touched, query)) return found;
    }
    return pool_.find(query);
  }

  /// An operator that writes into a tensor that an aten::empty of unknown size has just made.
  void fill_unsized(EventId event, const TensorShape& shape, std::int32_t device) {
    if (unsized_ == none<EventId>) return;
    const EventId parent = calls_.caller_of(event);
    const bool is_sibling = parent == none<EventId>
                                ? calls_.caller_of(unsized_) == none<EventId> &&
                                      events_.track[index(unsized_)] == events_.track[index(event)]
                                : calls_.contains(parent, unsized_);
    if (!is_sibling) return;
    taken_.push_back(add(shape, unsized_, device));
    use(taken_.back(), event, device);
    unsized_ = none<EventId>;
  }

  void make_results(EventId event, const OwnWork& work, EventId forward, EventId differentiated) {
    const EventId convolution = calls_.nearest(event, [&](EventId e) {
      const std::string_view name = events_.name_of(e);
      return name == "aten::convolution" || name == "aten::_convolution";
    });
    OperatorCall call{.name = events_.name_of(event), .arguments = &arguments_.of(event)};
    if (convolution != none<EventId>) call.convolution = &arguments_.of(convolution);
    if (forward != none<EventId>) call.forward = &arguments_.of(forward);
    if (differentiated != none<EventId>) call.gradient = &*gradient_of_[index(differentiated)];
    auto results = result_shapes(call);
    if (results && !results->empty() && is_written_in_place(event, results->front())) {
      results->erase(results->begin());
    }
    if (!results) {
      ++found_.unknown;
      found_.known_kernels -= work.kernels;
      ++unknown_[call.name];
      unsettled_ = event;
    }
    const std::int64_t start = events_.start_ns[index(event)];
    const auto made = pool_.made_since(start);
    std::vector<TensorPool::Index> inside;  // by the factories that it called
    for (const TensorPool::Index i : made) {
      if (calls_.contains(event, pool_[i].maker) && pool_[i].device < 0) inside.push_back(i);
    }
    const ElementType list_type = type_of_lists();
    auto shapes = results.value_or(std::vector<TensorShape>{});
    for (TensorShape& shape : shapes) {
      if (shape.type == ElementType::unknown) shape.type = list_type;
      if (shape.bytes() <= 0) continue;
      const auto adopted = std::find_if(inside.begin(), inside.end(), [&](TensorPool::Index i) {
        return pool_[i].shape.bytes() == shape.bytes();
      });
      TensorPool::Index i = 0;
      if (adopted != inside.end()) {
        i = *adopted;
        inside.erase(adopted);
      } else {
        i = add(shape, event, work.device);
      }
      use(i, event, work.device);
      pool_[i].last_user = pool_[i].maker;
      taken_.push_back(i);
    }
    for (const TensorPool::Index i : inside) {  // scratch space, or results that no rule knows
      use(i, event, work.device);
      pool_[i].is_scratch = results.has_value();
      pool_[i].last_user = event;
    }
  }

  /// Lists of tensors are recorded without types: that of an argument that was seen being made.
  [[nodiscard]] ElementType type_of_lists() {
    for (const TensorPool::Index i : taken_) {
      if (pool_[i].shape.type != ElementType::unknown) return pool_[i].shape.type;
    }
    return ElementType::f32;
  }

  /// True for the out-variants that operators like aten::relu_ call.
  [[nodiscard]] bool is_written_in_place(EventId event, const TensorShape& result) {
    const EventId outer = calls_.nearest(
        calls_.caller_of(event), [&](EventId e) { return works_in_place(events_.name_of(e)); });
    const TensorShape* const target =
        outer == none<EventId> ? nullptr : arguments_.of(outer).tensor(0);
    return target != nullptr && target->has_sizes_of(result);
  }

  // ---- Gradients of parameters -----------------------------------------------------------------

  void accumulate(EventId event) {
    const TensorShape* const shape = arguments_.of(event).tensor(0);
    if (shape == nullptr || shape->elements() == 0) return;
    if (last_update_ns_ > last_cleared_ns_ && last_update_ns_ > last_accumulated_ns_) {
      free_gradients(last_update_ns_,
                     last_update_track_);  // taken away after the update, outside of any range
    }
    ++call_;
    const std::int64_t start = events_.start_ns[index(event)];
    std::optional<TensorPool::Index> kept;
    const bool works = last_work_track_ == events_.track[index(event)] && last_work_ns_ > start;
    for (const TensorPool::Index i : pool_.made_since(start)) {
      if (pool_[i].device >= 0 && pool_[i].shape.elements() == shape->elements()) kept = i;
    }
    if (!works) kept = find_argument(event, *shape, nullptr);  // it becomes the gradient itself
    if (kept && pool_[*kept].device >= 0) {
      pool_[*kept].stays = true;
      gradients_.push_back(*kept);
      last_accumulated_ns_ = events_.end_ns(event);
    }
  }

  void clear_gradients(EventId range) {
    const std::int64_t start = events_.start_ns[index(range)];
    const bool works = last_work_ns_ > start && last_work_track_ == events_.track[index(range)];
    if (works) return;  // it fills them with zeros
    free_gradients(start, events_.track[index(range)]);
    last_cleared_ns_ = start;
  }

  void free_gradients(std::int64_t time, TrackId thread) {
    for (const TensorPool::Index i : gradients_) {
      pool_[i].freed_ns = time;
      pool_[i].freed_on = thread;
    }
    gradients_.clear();
  }

  /// The operator at whose return a tensor goes: the outermost one around its last use that is not
  /// around its maker too.
  [[nodiscard]] EventId scope_of(const SeenTensor& tensor) const {
    if (tensor.is_scratch) return tensor.last_user;
    EventId scope = tensor.last_user;
    const bool is_used = tensor.last_user != tensor.maker;
    EventId parent = calls_.caller_of(scope);
    for (int depth = 0; parent != none<EventId> && depth < OperatorCalls::deepest; ++depth) {
      if (is_used && calls_.contains(parent, tensor.maker)) break;
      scope = parent;
      parent = calls_.caller_of(parent);
    }
    return scope;
  }

  // ---- What comes out --------------------------------------------------------------------------

  void emit() {
    std::uint64_t address = 0;
    for (const SeenTensor& tensor : pool_.all()) {
      if (tensor.device < 0 || tensor.shape.bytes() <= 0) continue;
      const std::int64_t bytes = block_bytes(tensor.shape.bytes());
      MemoryEvent event{.time_ns = tensor.allocated_ns,
                        .track = tensor.track,
                        .device_type = device_memory,
                        .device = tensor.device,
                        .bytes = bytes,
                        .address = ++address};
      found_.memory.push_back(event);
      event.bytes = -bytes;
      if (tensor.freed_ns >= 0) {
        event.time_ns = std::max(tensor.freed_ns, event.time_ns);
        event.track = tensor.freed_on;
        found_.memory.push_back(event);
      } else if (!tensor.stays) {
        const EventId scope = scope_of(tensor);
        event.time_ns = events_.end_ns(scope);
        event.track = events_.track[index(scope)];
        found_.memory.push_back(event);
      }
    }
    std::stable_sort(
        found_.memory.begin(), found_.memory.end(),
        [](const MemoryEvent& a, const MemoryEvent& b) { return a.time_ns < b.time_ns; });
    for (const auto& [name, count] : unknown_) {
      if (count > 0) found_.unknown_names.emplace_back(name, count);
    }
    std::stable_sort(found_.unknown_names.begin(), found_.unknown_names.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
  }

  const EventTable& events_;
  const Annotation& annotation_;
  OperatorCalls calls_;
  ArgumentTable arguments_;
  AutogradLinks links_;
  std::vector<std::optional<TensorShape>> gradient_of_;                  // per forward operator
  std::unordered_map<EventId, std::vector<TensorPool::Index>> touched_;  // by forward operator
  TensorPool pool_;
  std::vector<TensorPool::Index> taken_;      // by the current call
  std::vector<TensorPool::Index> gradients_;  // of parameters, not yet cleared
  std::uint32_t call_ = 0;
  std::size_t next_step_ = 0;
  EventId unsized_ = none<EventId>;    // an aten::empty of unknown size, not yet written to
  EventId unsettled_ = none<EventId>;  // the last operator, if what it makes is not known
  std::int64_t last_update_ns_ = -1;
  TrackId last_update_track_{};
  std::int64_t last_cleared_ns_ = -1;
  std::int64_t last_accumulated_ns_ = -1;
  std::int64_t last_work_ns_ = -1;
  TrackId last_work_track_{};
  std::map<std::string_view, std::size_t> unknown_;
  ShapeTensors found_;
};

}  // namespace

ShapeTensors tensors_from_shapes(const EventTable& events, const Annotation& annotation) {
  return Walk(events, annotation).run();
}

}  // namespace foretrace::trace
