// Pairs allocations with frees.
#include "trace/annotate/tensors/tensor_lifetimes.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

namespace foretrace::trace {
namespace {

// Longer runs of equal times than any recording has; keeps odd inputs linear.
constexpr std::size_t longest_tie = 64;

// Sums of all sizes stay below this, so that no input overflows them.
constexpr std::int64_t largest_sum = std::int64_t{1} << 61;

bool has_total(const MemoryEvent& event) {
  return event.total_allocated >= 0 && event.total_allocated <= largest_sum;
}

/// Total before an event; -1: not recorded.
std::int64_t before(const MemoryEvent& event) {
  return has_total(event) ? event.total_allocated - event.bytes : -1;
}

/// Sorts by time and, where threads tie, by the chain of totals; counts what breaks the chain.
void put_in_order(std::span<const MemoryEvent> memory, DeviceMemory& device) {
  auto& order = device.order;
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return memory[a].time_ns < memory[b].time_ns;
  });
  std::int64_t total = -1;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (total >= 0 && before(memory[order[i]]) != total) {
      for (std::size_t j = i + 1; j < std::min(order.size(), i + longest_tie) &&
                                  memory[order[j]].time_ns == memory[order[i]].time_ns;
           ++j) {
        // Only another thread's event may overtake: a thread is in order by itself.
        const bool overtakes = std::none_of(
            order.begin() + static_cast<std::ptrdiff_t>(i),
            order.begin() + static_cast<std::ptrdiff_t>(j),
            [&](std::uint32_t row) { return memory[row].track == memory[order[j]].track; });
        if (overtakes && before(memory[order[j]]) == total) {
          std::rotate(order.begin() + static_cast<std::ptrdiff_t>(i),
                      order.begin() + static_cast<std::ptrdiff_t>(j),
                      order.begin() + static_cast<std::ptrdiff_t>(j) + 1);
          break;
        }
      }
    }
    const MemoryEvent& event = memory[order[i]];
    device.chain_breaks += total >= 0 && has_total(event) && before(event) != total ? 1 : 0;
    total = has_total(event) ? event.total_allocated : -1;
  }
}

class Pairing {
 public:
  Pairing(std::span<const MemoryEvent> memory, std::uint32_t number, DeviceMemory& device)
      : memory_(memory), number_(number), device_(device) {}

  /// Older tensors first, then those of the window in the order of their allocations.
  void run(std::vector<TensorLifetime>& tensors) {
    for (const std::uint32_t row : device_.order) {
      memory_[row].bytes > 0 ? allocate(row) : release(row);
      note_totals(memory_[row]);
    }
    std::int64_t older = 0;
    for (const TensorLifetime& tensor : older_) {
      older += tensor.bytes;
    }
    const MemoryEvent& first = memory_[device_.order.front()];
    if (before(first) >= 0) {
      device_.base_bytes = before(first);
      device_.recorded_peak_bytes = std::max(device_.recorded_peak_bytes, device_.base_bytes);
      device_.persistent_bytes = std::max<std::int64_t>(0, device_.base_bytes - older);
    }
    device_.tensors = inside_.size();
    device_.freed_older = older_.size();
    device_.left_over = static_cast<std::size_t>(std::count_if(
        inside_.begin(), inside_.end(),
        [](const TensorLifetime& tensor) { return tensor.release == no_memory_event; }));
    tensors.insert(tensors.end(), older_.begin(), older_.end());
    tensors.insert(tensors.end(), inside_.begin(), inside_.end());
  }

 private:
  static std::uint64_t key(const MemoryEvent& event) {
    const auto size = static_cast<std::uint64_t>(event.bytes);
    return event.address != 0 ? event.address : event.bytes < 0 ? 0 - size : size;
  }

  void allocate(std::uint32_t row) {
    const MemoryEvent& event = memory_[row];
    std::vector<std::uint32_t>& open = open_[key(event)];
    if (event.address != 0 && !open.empty()) {  // its free was lost
      inside_[open.back()].release = row;
      open.pop_back();
      ++device_.lost_frees;
    }
    device_.has_addresses = device_.has_addresses || event.address != 0;
    open.push_back(static_cast<std::uint32_t>(inside_.size()));
    inside_.push_back({number_, event.bytes, row, no_memory_event});
  }

  void release(std::uint32_t row) {
    const MemoryEvent& event = memory_[row];
    const auto open = open_.find(key(event));
    if (open == open_.end() || open->second.empty()) {
      older_.push_back({number_, -event.bytes, no_memory_event, row});
      return;
    }
    TensorLifetime& tensor = inside_[open->second.back()];
    open->second.pop_back();
    tensor.release = row;
  }

  void note_totals(const MemoryEvent& event) {
    if (has_total(event)) {
      device_.recorded_peak_bytes = std::max(device_.recorded_peak_bytes, event.total_allocated);
    }
    if (event.total_reserved >= 0) {
      if (device_.first_reserved_bytes < 0) {
        device_.first_reserved_bytes = event.total_reserved;
      }
      device_.peak_reserved_bytes = std::max(device_.peak_reserved_bytes, event.total_reserved);
    }
  }

  std::span<const MemoryEvent> memory_;
  std::uint32_t number_;
  DeviceMemory& device_;
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> open_;
  std::vector<TensorLifetime> older_;
  std::vector<TensorLifetime> inside_;
};

}  // namespace

TensorLifetimes find_lifetimes(std::span<const MemoryEvent> memory) {
  std::map<std::pair<std::int32_t, std::int32_t>, DeviceMemory> by_device;
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < memory.size(); ++i) {
    const std::int64_t bytes = memory[i].bytes;
    if (memory[i].device_type != 0 && bytes != 0 && bytes <= largest_sum - sum &&
        bytes >= sum - largest_sum) {
      sum += bytes < 0 ? -bytes : bytes;
      DeviceMemory& device = by_device[{memory[i].device_type, memory[i].device}];
      device.type = memory[i].device_type;
      device.id = memory[i].device;
      device.order.push_back(static_cast<std::uint32_t>(i));
    }
  }
  TensorLifetimes found;
  for (auto& [place, device] : by_device) {
    put_in_order(memory, device);
    Pairing(memory, static_cast<std::uint32_t>(found.devices.size()), device).run(found.tensors);
    found.devices.push_back(std::move(device));
  }
  return found;
}

}  // namespace foretrace::trace
