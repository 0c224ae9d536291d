#include "sim/engine/memory/memory_tracker.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "sim/core/result.h"
#include "sim/graph/links.h"

namespace foretrace {
namespace {

/// At one place frees come before allocations, and a tensor of no lifetime goes after it came.
enum class Action : std::uint8_t { release, allocate, release_at_once };

struct Happening {
  TaskId task{};
  std::int64_t offset_ns = 0;  ///< before the end of the task's segment
  std::uint32_t sequence = 0;
  Action action = Action::allocate;
  std::uint32_t tensor = 0;
};

/// What one host thread allocates and frees, in program order.
struct Thread {
  std::vector<Happening> happenings;
  std::size_t next = 0;
  std::int64_t at_ns = 0;  ///< of the next one
};

using Place = std::pair<std::int32_t, std::int32_t>;  ///< rank, device

struct Device {
  std::map<LaneId, Thread> by_lane;
  std::array<std::int64_t, tensor_category_count> live{};
};

[[nodiscard]] Place place_of(const TaskGraph& graph, const Tensor& tensor) {
  return {graph.rank_of(tensor), tensor.device};
}

void add(const TaskGraph& graph, const Happening& happening, Device& device) {
  device.by_lane[graph.lane_id(happening.task)].happenings.push_back(happening);
}

[[nodiscard]] std::map<Place, Device> collect(const TaskGraph& graph) {
  std::map<Place, Device> devices;
  const std::vector<Tensor>& tensors = graph.context().tensors;
  for (std::uint32_t i = 0; i < tensors.size(); ++i) {
    const Tensor& tensor = tensors[i];
    if (tensor.bytes == 0) continue;
    Device& device = devices[place_of(graph, tensor)];
    const bool at_once = is_freed_at_once(tensor);
    if (tensor.allocated_in == none<TaskId>) {
      device.live[static_cast<std::size_t>(tensor.category)] += tensor.bytes;
    } else {
      add(graph,
          {tensor.allocated_in, tensor.allocated_offset_ns, tensor.allocated_sequence,
           Action::allocate, i},
          device);
    }
    if (tensor.freed_in != none<TaskId>) {
      add(graph,
          {tensor.freed_in, tensor.freed_offset_ns, tensor.freed_sequence,
           at_once ? Action::release_at_once : Action::release, i},
          device);
    }
  }
  return devices;
}

/// Follows the threads of one device by their simulated times.
class Follower {
 public:
  Follower(const TaskGraph& graph, const Timeline& timeline, Device& device, MemoryCurve& curve)
      : graph_(graph), timeline_(timeline), device_(device), curve_(curve) {
    for (auto& [lane, thread] : device_.by_lane) {
      auto& list = thread.happenings;
      std::stable_sort(list.begin(), list.end(), [](const Happening& a, const Happening& b) {
        return std::make_tuple(a.task, -a.offset_ns, a.sequence, a.action) <
               std::make_tuple(b.task, -b.offset_ns, b.sequence, b.action);
      });
      thread.at_ns = time_of(list.front());
      threads_.push_back(&thread);
    }
    came_.assign(graph.context().tensors.size(), false);
  }

  void run() {
    live_ = std::accumulate(device_.live.begin(), device_.live.end(), std::int64_t{0});
    curve_.base_bytes = live_;
    curve_.peak_bytes = live_;
    curve_.at_peak = device_.live;
    while (Thread* const thread = earliest()) {
      happen(*thread);
    }
    curve_.end_bytes = live_;
  }

 private:
  /// Between the begin and the end of the segment before its task, never after the task's start.
  [[nodiscard]] std::int64_t time_of(const Happening& happening) const {
    const TaskId task = happening.task;
    const TaskId before = previous_on_lane(graph_, task);
    const std::int64_t from = before == none<TaskId> ? 0 : timeline_.end_ns(before);
    const std::int64_t to = std::min(from + graph_.segment_ns(task), timeline_.start_ns(task));
    return std::max(std::min(from, to), to - happening.offset_ns);
  }

  [[nodiscard]] bool waits_for_its_birth(const Happening& happening) const {
    return happening.action != Action::allocate && !came_[happening.tensor] &&
           graph_.context().tensors[happening.tensor].allocated_in != none<TaskId>;
  }

  /// The thread that comes next. One that would free what another has yet to allocate waits for it,
  /// unless all wait for each other.
  [[nodiscard]] Thread* earliest() const {
    Thread* best = nullptr;
    bool best_waits = true;
    for (Thread* const thread : threads_) {
      if (thread->next == thread->happenings.size()) continue;
      const bool waits = waits_for_its_birth(thread->happenings[thread->next]);
      if (best == nullptr || std::make_tuple(waits, thread->at_ns, sequence_of(*thread)) <
                                 std::make_tuple(best_waits, best->at_ns, sequence_of(*best))) {
        best = thread;
        best_waits = waits;
      }
    }
    return best;
  }
  [[nodiscard]] static std::uint32_t sequence_of(const Thread& thread) {
    return thread.happenings[thread.next].sequence;
  }

  void happen(Thread& thread) {
    const Happening& happening = thread.happenings[thread.next];
    const Tensor& tensor = graph_.context().tensors[happening.tensor];
    const bool allocates = happening.action == Action::allocate;
    const std::int64_t bytes = allocates ? tensor.bytes : -tensor.bytes;
    live_ += bytes;
    device_.live[static_cast<std::size_t>(tensor.category)] += bytes;
    came_[happening.tensor] = true;
    now_ns_ = std::max(now_ns_, thread.at_ns);
    curve_.points.push_back(
        {now_ns_, live_, happening.task, TensorId{happening.tensor}, allocates});
    if (live_ > curve_.peak_bytes) {
      curve_.peak_bytes = live_;
      curve_.peak_at_ns = now_ns_;
      curve_.peak_task = happening.task;
      curve_.peak_point = curve_.points.size() - 1;
      curve_.at_peak = device_.live;
    }
    ++thread.next;
    if (thread.next < thread.happenings.size()) {
      thread.at_ns = std::max(thread.at_ns, time_of(thread.happenings[thread.next]));
    }
  }

  const TaskGraph& graph_;
  const Timeline& timeline_;
  Device& device_;
  MemoryCurve& curve_;
  std::vector<Thread*> threads_;
  std::vector<bool> came_;
  std::int64_t live_ = 0;
  std::int64_t now_ns_ = 0;
};

}  // namespace

std::vector<MemoryCurve> track_memory(const TaskGraph& graph, const Timeline& timeline) {
  FORETRACE_CHECK(timeline.size() >= graph.size());
  std::vector<MemoryCurve> curves;
  for (auto& [place, device] : collect(graph)) {
    MemoryCurve& curve = curves.emplace_back();
    curve.rank = place.first;
    curve.device = place.second;
    Follower(graph, timeline, device, curve).run();
  }
  return curves;
}

std::vector<TensorId> live_tensors(const TaskGraph& graph, const MemoryCurve& curve,
                                   std::size_t point) {
  const std::vector<Tensor>& tensors = graph.context().tensors;
  std::vector<bool> live(tensors.size(), false);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    live[i] = tensors[i].bytes > 0 && tensors[i].allocated_in == none<TaskId> &&
              place_of(graph, tensors[i]) == Place{curve.rank, curve.device};
  }
  const std::size_t end = point == no_memory_point ? 0 : std::min(point + 1, curve.points.size());
  for (std::size_t i = 0; i < end; ++i) {
    live[index(curve.points[i].tensor)] = curve.points[i].allocates;
  }
  std::vector<TensorId> ids;
  for (std::size_t i = 0; i < live.size(); ++i) {
    if (live[i]) {
      ids.push_back(make_id<TensorId>(i));
    }
  }
  return ids;
}

}  // namespace foretrace
