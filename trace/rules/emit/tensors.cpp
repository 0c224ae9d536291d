// Hangs tensors on host program order.
#include "trace/rules/emit/tensors.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "trace/annotate/tensors/shape_tensors.h"
#include "trace/annotate/tensors/tensor_owners.h"

namespace foretrace::trace::rules {
namespace {

// Operators that a note names; ranks of a job have the same ones.
constexpr std::size_t most_named = 3;

/// Where an instant falls in program order: the task in whose segment (or before whose call) it is.
struct Position {
  TaskId task = none<TaskId>;
  std::int64_t before_end_ns = 0;  ///< before the end of the segment, without waiting in it
};

class Tensors {
 public:
  explicit Tensors(const TensorTarget& target)
      : a_(target.assembly),
        target_(target),
        memory_(target.assembly.events.memory),
        thread_of_track_(target.assembly.events.tracks.size(), nothing) {
    for (std::size_t i = 0; i < a_.threads.size(); ++i) {
      thread_of_track_[index(a_.threads[i].track)] = static_cast<std::uint32_t>(i);
    }
  }

  AddedTensors run() {
    TensorLifetimes lifetimes = find_lifetimes(memory_);
    if (lifetimes.devices.empty() && a_.options.tensors_from_shapes) {
      lifetimes = lifetimes_from_shapes();
    }
    if (lifetimes.devices.empty()) {
      return {};
    }
    AddedTensors added{.parameters = estimate_parameters(a_.events, a_.annotation)};
    match_devices(lifetimes.devices);
    find_order(lifetimes.devices);
    const auto owners = attribute_tensors(a_.events, a_.annotation, {memory_, lifetimes});
    const bool has_gradients = std::any_of(owners.begin(), owners.end(), [](const auto& owner) {
      return owner.category == TensorCategory::gradient;
    });
    if (lifetimes.devices.size() > 1) {
      added.parameters = {};  // which device holds which part of the model is not known
    }
    for (const DeviceMemory& device : lifetimes.devices) {
      add_older(device, added.parameters, has_gradients);
    }
    for (std::size_t i = 0; i < owners.size(); ++i) {
      const DeviceMemory& device = lifetimes.devices[lifetimes.tensors[i].device];
      Tensor tensor = tensor_of(lifetimes.tensors[i], owners[i], device.graph_device);
      if (device.is_from_shapes) tensor.provenance = Provenance::assumed;
      target_.builder.add_tensor(tensor);
    }
    added.devices = std::move(lifetimes.devices);
    return added;
  }

 private:
  TensorLifetimes lifetimes_from_shapes() {
    ShapeTensors shapes = tensors_from_shapes(a_.events, a_.annotation);
    memory_of_shapes_ = std::move(shapes.memory);
    memory_ = memory_of_shapes_;
    TensorLifetimes lifetimes = find_lifetimes(memory_of_shapes_);
    for (DeviceMemory& device : lifetimes.devices) {
      device.is_from_shapes = true;
      device.operators = shapes.operators;
      device.unknown_results = shapes.unknown;
      device.known_share = shapes.kernels == 0 ? 1
                                               : static_cast<double>(shapes.known_kernels) /
                                                     static_cast<double>(shapes.kernels);
      for (const auto& [name, count] : shapes.unknown_names) {
        if (device.unknown_names.size() < most_named) device.unknown_names.push_back(name);
      }
    }
    return lifetimes;
  }

  /// What was there before the window and stays: weights and states as far as shapes tell, the rest
  /// unexplained. If the total was not recorded, what shapes tell is all there is.
  void add_older(const DeviceMemory& device, const ParameterEstimate& model, bool has_gradients) {
    const bool is_known = device.persistent_bytes >= 0;
    std::int64_t rest = is_known ? device.persistent_bytes : INT64_MAX;
    const auto add = [&](TensorCategory category, std::int64_t bytes) {
      if (bytes <= 0 || bytes > rest) return;
      rest -= bytes;
      target_.builder.add_tensor({.bytes = bytes,
                                  .rank = device.rank,
                                  .device = device.graph_device,
                                  .category = category,
                                  .provenance = Provenance::assumed});
    };
    // Models of language share their embedding with the last product; what that misses in others
    // stays unexplained.
    add(TensorCategory::weight, model.parameter_bytes + model.buffer_bytes - model.tied_bytes);
    if (model.trains) {
      add(TensorCategory::optimizer_state, model.states * model.parameter_bytes);
    }
    if (model.trains && !is_known && !has_gradients) {
      add(TensorCategory::gradient, model.parameter_bytes);
    }
    if (is_known && rest > 0) {
      target_.builder.add_tensor(
          {.bytes = rest, .rank = device.rank, .device = device.graph_device});
    }
  }

  /// Under ROCm kernels and [memory] instants number devices differently: where the number names no
  /// device with kernels, the order of both decides.
  void match_devices(std::vector<DeviceMemory>& devices) const {
    std::set<std::int32_t> running;
    for (const Stream& stream : a_.streams) {
      running.insert(stream.device);
    }
    const bool all_known = std::all_of(devices.begin(), devices.end(), [&](const auto& device) {
      return running.contains(device.id);
    });
    auto next = running.begin();
    for (DeviceMemory& device : devices) {
      device.rank = a_.rank;
      device.graph_device = all_known || next == running.end() ? device.id : *next++;
    }
  }

  void find_order(const std::vector<DeviceMemory>& devices) {
    sequence_.resize(memory_.size());
    for (const DeviceMemory& device : devices) {
      for (std::size_t i = 0; i < device.order.size(); ++i) {
        sequence_[device.order[i]] = static_cast<std::uint32_t>(i);
      }
    }
  }

  [[nodiscard]] Tensor tensor_of(const TensorLifetime& lifetime, const TensorOwner& owner,
                                 std::int32_t device) {
    Tensor tensor{.bytes = lifetime.bytes,
                  .requested_bytes = owner.requested_bytes,
                  .device = device,
                  .category = owner.category,
                  .phase = owner.phase,
                  .layer = target_.layers[owner.layer]};
    if (owner.operator_event != none<EventId>) {
      tensor.operator_name = target_.works.name(a_.events.name[index(owner.operator_event)]);
    }
    if (lifetime.allocation != no_memory_event) {
      const MemoryEvent& event = memory_[lifetime.allocation];
      const Position at = position(event);
      tensor.allocated_in = at.task;
      tensor.allocated_offset_ns = at.before_end_ns;
      tensor.allocated_sequence = sequence_[lifetime.allocation];
      tensor.stream = stream_of(event, owner.operator_event);
    }
    if (lifetime.release != no_memory_event) {
      const Position at = position(memory_[lifetime.release]);
      tensor.freed_in = at.task;
      tensor.freed_offset_ns = at.before_end_ns;
      tensor.freed_sequence = sequence_[lifetime.release];
    }
    return tensor;
  }

  /// The next call of a thread at or after a time; one past the last if there is none.
  [[nodiscard]] std::size_t next_call(const HostThread& thread, std::int64_t time) const {
    return static_cast<std::size_t>(
        std::partition_point(thread.calls.begin(), thread.calls.end(),
                             [&](std::uint32_t call) { return a_.calls[call].start_ns < time; }) -
        thread.calls.begin());
  }

  /// The thread itself if it is simulated, else the one whose next call is nearest.
  [[nodiscard]] const HostThread& thread_of(const MemoryEvent& event) const {
    const std::uint32_t own = thread_of_track_[index(event.track)];
    if (own != nothing) return a_.threads[own];
    const HostThread* best = &a_.threads.front();
    std::int64_t nearest = INT64_MAX;
    for (const HostThread& thread : a_.threads) {
      const std::size_t at = next_call(thread, event.time_ns);
      if (at < thread.calls.size() && a_.calls[thread.calls[at]].start_ns < nearest) {
        nearest = a_.calls[thread.calls[at]].start_ns;
        best = &thread;
      }
    }
    return *best;
  }

  [[nodiscard]] Position position(const MemoryEvent& event) const {
    if (a_.threads.empty()) {
      return {};
    }
    const HostThread& thread = thread_of(event);
    const std::size_t at = next_call(thread, event.time_ns);
    if (at == thread.calls.size()) {
      return thread.calls.empty() ? Position{}
                                  : Position{TaskId{a_.calls[thread.calls.back()].position}, 0};
    }
    const HostCall& call = a_.calls[thread.calls[at]];
    // A segment may end in waiting for another thread. What is in that silence comes after the
    // hand-over if the other thread had done its work by then, so after the mark.
    if (call.handed_by != nothing && a_.calls[call.handed_by].start_ns <= event.time_ns &&
        event.time_ns >= call.start_ns - call.silent_ns && at + 1 < thread.calls.size()) {
      const HostCall& next = a_.calls[thread.calls[at + 1]];
      return {TaskId{next.position},
              std::max<std::int64_t>(0, next.start_ns - next.silent_ns - call.start_ns)};
    }
    return {TaskId{call.position},
            std::max<std::int64_t>(0, call.start_ns - call.silent_ns - event.time_ns)};
  }

  /// The stream of the first operation that the owner launches afterwards.
  [[nodiscard]] LaneId stream_of(const MemoryEvent& event, EventId owner) const {
    const std::uint32_t thread = thread_of_track_[index(event.track)];
    if (thread == nothing || owner == none<EventId>) return none<LaneId>;
    const auto& calls = a_.threads[thread].calls;
    for (std::size_t at = next_call(a_.threads[thread], event.time_ns); at < calls.size(); ++at) {
      const HostCall& call = a_.calls[calls[at]];
      if (call.start_ns > a_.events.end_ns(owner)) break;
      if (call.op_count > 0) return target_.stream_lanes[a_.ops[call.first_op].stream];
    }
    return none<LaneId>;
  }

  const Assembly& a_;
  const TensorTarget& target_;
  std::vector<MemoryEvent> memory_of_shapes_;
  std::span<const MemoryEvent> memory_;  // as recorded, or from shapes
  std::vector<std::uint32_t> thread_of_track_;
  std::vector<std::uint32_t> sequence_;
};

}  // namespace

std::string memory_note(std::span<const DeviceMemory> memory) {
  std::size_t operators = 0;
  std::size_t unknown = 0;
  std::vector<std::string> names;
  std::int32_t rank = -1;
  for (const DeviceMemory& device : memory) {
    if (!device.is_from_shapes || device.rank == rank) continue;  // devices of a rank share them
    rank = device.rank;
    operators += device.operators;
    unknown += device.unknown_results;
    if (names.empty()) names = device.unknown_names;
  }
  if (operators == 0) return {};
  std::string text = fmt::format(
      "memory estimated from {} operator shapes (profile_memory=True measures it), without scratch "
      "space of libraries and tensors kept longer than used",
      operators);
  if (unknown > 0) {
    text += fmt::format("; unknown output of {} of them ({} and others)", unknown,
                        fmt::join(names, ", "));
  }
  return text;
}

AddedTensors add_tensors(const TensorTarget& target) { return Tensors(target).run(); }

}  // namespace foretrace::trace::rules
