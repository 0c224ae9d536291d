// Operator, layer, phase and category of tensors.
#include "trace/annotate/tensors/tensor_owners.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "sim/core/text.h"
#include "trace/annotate/nesting.h"
#include "trace/annotate/tensors/requested_bytes.h"

namespace foretrace::trace {
namespace {

bool starts_with_any(std::string_view text, std::span<const std::string_view> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](std::string_view prefix) { return text.starts_with(prefix); });
}

/// Where an instant lies.
struct Scene {
  EventId factory = none<EventId>;  ///< innermost operator
  EventId owner = none<EventId>;    ///< innermost operator that is not a factory
  EventId around = none<EventId>;   ///< innermost event, or the last one before if there is none
  bool clears_gradients = false;    ///< inside an Optimizer.zero_grad range
  bool communicates = false;
};

/// What names say about the events around an instant, worked out once per name.
enum Mark : std::uint8_t { known = 1, makes = 2, clears = 4, moves = 8 };

std::uint8_t marks_of(EventKind kind, std::string_view name) {
  static constexpr std::array<std::string_view, 3> communication = {
      "nccl:", "c10d::", "record_param_comms"};
  std::uint8_t marks = known;
  if (kind == EventKind::cpu_op && is_factory(name)) marks |= makes;
  if (foretrace::contains(name, "zero_grad")) marks |= clears;
  if (starts_with_any(name, communication)) marks |= moves;
  return marks;
}

/// Looks up the scenes of all [memory] instants with one pass per thread.
class Scenes {
 public:
  Scenes(const EventTable& events, const TensorHistory& history)
      : events_(events),
        memory_(history.memory),
        nesting_(nest(events)),
        scenes_(history.memory.size()) {
    std::vector<std::vector<std::uint32_t>> by_track(events.tracks.size());
    for (const DeviceMemory& device : history.lifetimes.devices) {
      for (const std::uint32_t row : device.order) {
        by_track[index(memory_[row].track)].push_back(row);
      }
    }
    marks_.assign(events.names.size(), 0);
    for (std::size_t t = 0; t < by_track.size(); ++t) {
      auto& rows = by_track[t];
      std::stable_sort(rows.begin(), rows.end(), [&](std::uint32_t a, std::uint32_t b) {
        return memory_[a].time_ns < memory_[b].time_ns;
      });
      look_up(nesting_.of(make_id<TrackId>(t)), rows);
    }
  }

  [[nodiscard]] const Scene& operator[](std::uint32_t row) const { return scenes_[row]; }

 private:
  void look_up(std::span<const EventId> order, const std::vector<std::uint32_t>& rows) {
    std::vector<EventId> open;
    std::size_t next = 0;
    for (const std::uint32_t row : rows) {
      const std::int64_t time = memory_[row].time_ns;
      for (; next < order.size() && events_.start_ns[index(order[next])] <= time; ++next) {
        close(open, events_.start_ns[index(order[next])]);
        open.push_back(order[next]);
      }
      close(open, time);
      scenes_[row] = scene(open);
      if (open.empty() && next > 0) {
        scenes_[row].around = order[next - 1];
      }
    }
  }

  void close(std::vector<EventId>& open, std::int64_t time) const {
    while (!open.empty() && events_.end_ns(open.back()) < time) open.pop_back();
  }

  [[nodiscard]] Scene scene(const std::vector<EventId>& open) {
    Scene scene;
    for (std::size_t i = open.size(); i > 0; --i) {
      const EventId event = open[i - 1];
      const std::uint8_t marks = marks_at(event);
      scene.clears_gradients = scene.clears_gradients || (marks & clears) != 0;
      scene.communicates = scene.communicates || (marks & moves) != 0;
      if (scene.around == none<EventId>) scene.around = event;
      if (events_.kind[index(event)] != EventKind::cpu_op) continue;
      if (scene.factory == none<EventId>) scene.factory = event;
      if (scene.owner == none<EventId> && (marks & makes) == 0) scene.owner = event;
    }
    return scene;
  }

  [[nodiscard]] std::uint8_t marks_at(EventId event) {
    std::uint8_t& marks = marks_[index(events_.name[index(event)])];
    if (marks == 0) marks = marks_of(events_.kind[index(event)], events_.name_of(event));
    return marks;
  }

  const EventTable& events_;
  std::span<const MemoryEvent> memory_;
  Nesting nesting_;
  std::vector<Scene> scenes_;
  std::vector<std::uint8_t> marks_;  // per name; 0 not yet known
};

class Attributor {
 public:
  Attributor(const EventTable& events, const Annotation& annotation, const TensorHistory& history)
      : events_(events),
        memory_(history.memory),
        annotation_(annotation),
        scenes_(events, history) {}

  [[nodiscard]] TensorOwner owner_of(const TensorLifetime& tensor) const {
    TensorOwner owner;
    if (tensor.allocation == no_memory_event) {
      owner.category = category_of_older(tensor);
      return owner;
    }
    const Scene& scene = scenes_[tensor.allocation];
    owner.operator_event = scene.owner;
    owner.phase = phase_at(tensor.allocation);
    const EventId place = scene.owner != none<EventId> ? scene.owner : scene.around;
    owner.layer = place == none<EventId> ? 0 : annotation_.layer[index(place)];
    owner.category = category_of(tensor, owner);
    owner.requested_bytes = requested_bytes(events_, scene.factory, tensor.bytes);
    return owner;
  }

 private:
  [[nodiscard]] Phase phase_at(std::uint32_t row) const {
    const EventId around = scenes_[row].around;
    return around == none<EventId> ? Phase::unknown : annotation_.phase[index(around)];
  }

  [[nodiscard]] bool freed_inside_owner(const TensorLifetime& tensor, const Scene& scene) const {
    if (tensor.release == no_memory_event || scene.owner == none<EventId>) return false;
    const MemoryEvent& release = memory_[tensor.release];
    return release.track == memory_[tensor.allocation].track &&
           release.time_ns <= events_.end_ns(scene.owner);
  }

  [[nodiscard]] static TensorCategory category_in_backward(bool stays, Phase freed, bool cleared) {
    const bool outlives = stays || cleared || freed == Phase::update || freed == Phase::forward ||
                          freed == Phase::data_loading;
    return outlives ? TensorCategory::gradient : TensorCategory::activation_gradient;
  }

  [[nodiscard]] TensorCategory category_of(const TensorLifetime& tensor,
                                           const TensorOwner& owner) const {
    const Scene& scene = scenes_[tensor.allocation];
    if (scene.communicates) return TensorCategory::communication;
    if (freed_inside_owner(tensor, scene)) {
      return is_library_call(scene.owner) ? TensorCategory::workspace : TensorCategory::temporary;
    }
    const bool stays = tensor.release == no_memory_event;
    const Phase freed = stays ? Phase::unknown : phase_at(tensor.release);
    const bool cleared = !stays && scenes_[tensor.release].clears_gradients;
    switch (owner.phase) {
      case Phase::backward: return category_in_backward(stays, freed, cleared);
      case Phase::update:
        return stays ? TensorCategory::optimizer_state : TensorCategory::temporary;
      case Phase::data_loading: return TensorCategory::input;
      case Phase::communication: return TensorCategory::communication;
      case Phase::forward:
        if (is_upload(scene.owner) && owner.layer == 0) return TensorCategory::input;
        return !stays && freed == Phase::forward ? TensorCategory::temporary
                                                 : TensorCategory::activation;
      case Phase::unknown: return stays ? TensorCategory::unknown : TensorCategory::temporary;
    }
    return TensorCategory::unknown;
  }

  [[nodiscard]] TensorCategory category_of_older(const TensorLifetime& tensor) const {
    if (tensor.release == no_memory_event) return TensorCategory::unknown;
    if (scenes_[tensor.release].clears_gradients) return TensorCategory::gradient;
    switch (phase_at(tensor.release)) {
      case Phase::update: return TensorCategory::gradient;
      case Phase::backward: return TensorCategory::activation;
      default: return TensorCategory::unknown;
    }
  }

  [[nodiscard]] bool is_library_call(EventId event) const {
    static constexpr std::array<std::string_view, 9> parts = {
        "conv", "mm", "linear", "cudnn", "miopen", "rnn", "attention", "fft", "matmul"};
    const std::string_view name = event == none<EventId> ? "" : events_.name_of(event);
    return std::any_of(parts.begin(), parts.end(),
                       [&](std::string_view part) { return contains(name, part); });
  }

  [[nodiscard]] bool is_upload(EventId event) const {
    const std::string_view name = event == none<EventId> ? "" : events_.name_of(event);
    return name == "aten::to" || name == "aten::_to_copy" || name == "aten::copy_";
  }

  const EventTable& events_;
  std::span<const MemoryEvent> memory_;
  const Annotation& annotation_;
  Scenes scenes_;
};

}  // namespace

bool is_factory(std::string_view operator_name) {
  static constexpr std::array<std::string_view, 6> prefixes = {
      "aten::empty", "aten::resize_", "aten::zeros", "aten::ones", "aten::full", "aten::new_"};
  return starts_with_any(operator_name, prefixes);
}

std::vector<TensorOwner> attribute_tensors(const EventTable& events, const Annotation& annotation,
                                           const TensorHistory& history) {
  const TensorLifetimes& lifetimes = history.lifetimes;
  std::vector<TensorOwner> owners;
  if (lifetimes.tensors.empty()) return owners;
  const Attributor attributor(events, annotation, history);
  owners.reserve(lifetimes.tensors.size());
  for (const TensorLifetime& tensor : lifetimes.tensors) {
    owners.push_back(attributor.owner_of(tensor));
  }
  const bool are_blocks =
      std::none_of(lifetimes.devices.begin(), lifetimes.devices.end(),
                   [](const DeviceMemory& device) { return device.is_from_shapes; });
  if (are_blocks) undo_tails(events, lifetimes, owners);
  return owners;
}

}  // namespace foretrace::trace
