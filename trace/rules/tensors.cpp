#include "trace/rules/tensors.h"

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace foretrace::trace::rules {
namespace {

/// Where an instant falls in program order: the task whose segment (or call) it lies in.
struct Position {
  TaskId task = none<TaskId>;
  std::int64_t before_task_ns = 0;
};

class Tensors {
 public:
  Tensors(const Assembly& assembly, GraphBuilder& builder)
      : a_(assembly), builder_(builder), thread_of_track_(assembly.events.tracks.size(), nothing) {
    for (std::size_t i = 0; i < a_.threads.size(); ++i) {
      thread_of_track_[index(a_.threads[i].track)] = static_cast<std::uint32_t>(i);
    }
    for (const Stream& stream : a_.streams) {
      device_ = stream.device;
    }
  }

  void run() {
    const auto& memory = a_.events.memory;
    std::vector<std::uint32_t> order;
    for (std::size_t i = 0; i < memory.size(); ++i) {
      if (memory[i].device_type != 0 && memory[i].bytes != 0) {
        order.push_back(static_cast<std::uint32_t>(i));
      }
    }
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t x, std::uint32_t y) {
      return memory[x].time_ns < memory[y].time_ns;
    });
    if (!order.empty()) {
      add_baseline(memory[order.front()]);
    }
    for (const std::uint32_t i : order) {
      memory[i].bytes > 0 ? allocate(memory[i]) : release(memory[i]);
    }
    for (const Tensor& tensor : tensors_) {
      builder_.add_tensor(tensor);
    }
  }

 private:
  /// What was allocated before the first recorded instant: its total less its own bytes.
  void add_baseline(const MemoryEvent& first) {
    const std::int64_t before = first.total_allocated - first.bytes;
    if (first.total_allocated >= 0 && before > 0) {
      before_window_ = before;
      tensors_.push_back({.bytes = before, .device = device_});
    }
  }

  void allocate(const MemoryEvent& event) {
    const Position at = position(event);
    Tensor tensor{.bytes = event.bytes, .device = device_};
    tensor.allocated_in = at.task;
    tensor.allocated_offset_ns = at.before_task_ns;
    open_[key(event)].push_back(static_cast<std::uint32_t>(tensors_.size()));
    tensors_.push_back(tensor);
  }

  void release(const MemoryEvent& event) {
    const Position at = position(event);
    const auto open = open_.find(key(event));
    std::uint32_t id = nothing;
    if (open != open_.end() && !open->second.empty()) {
      id = open->second.back();
      open->second.pop_back();
    } else {
      id = static_cast<std::uint32_t>(tensors_.size());
      tensors_.push_back({.bytes = -event.bytes, .device = device_});
      if (before_window_ > 0) {  // it was part of the baseline
        tensors_.front().bytes = std::max<std::int64_t>(0, tensors_.front().bytes + event.bytes);
      }
    }
    tensors_[id].freed_in = at.task;
    tensors_[id].freed_offset_ns = at.before_task_ns;
  }

  static std::uint64_t key(const MemoryEvent& event) {
    return event.address != 0 ? event.address : static_cast<std::uint64_t>(std::abs(event.bytes));
  }

  /// The first task of the thread that starts at or after the instant; frees on threads that are
  /// not simulated go to the thread that works at that time.
  [[nodiscard]] Position position(const MemoryEvent& event) const {
    const std::uint32_t thread = thread_of_track_[index(event.track)];
    if (a_.threads.empty()) {
      return {};
    }
    const HostThread& row = a_.threads[thread == nothing ? 0 : thread];
    const auto at = std::partition_point(
        row.calls.begin(), row.calls.end(),
        [&](std::uint32_t call) { return a_.calls[call].start_ns < event.time_ns; });
    if (at == row.calls.end()) {
      const HostCall& last = a_.calls[row.calls.back()];
      return {TaskId{last.position}, 0};
    }
    const HostCall& call = a_.calls[*at];
    return {TaskId{call.position}, call.start_ns - event.time_ns};
  }

  const Assembly& a_;
  GraphBuilder& builder_;
  std::vector<std::uint32_t> thread_of_track_;
  std::int32_t device_ = 0;
  std::int64_t before_window_ = 0;
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> open_;
  std::vector<Tensor> tensors_;
};

}  // namespace

void add_tensors(const Assembly& assembly, GraphBuilder& builder) {
  Tensors(assembly, builder).run();
}

}  // namespace foretrace::trace::rules
