// From the history of an allocator and what it holds at its end to memory over time.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "trace/formats/reader.h"

namespace foretrace::trace::formats {

/// Takes segments (the end) and events (the way there) in any order; finish() walks back from the
/// end, so that a history whose begin is lost still has its right level.
class AllocatorHistory {
 public:
  enum class BlockState : std::uint8_t { free, allocated, pending };
  struct Block {
    BlockState state = BlockState::free;
    std::int64_t bytes = 0;
    std::string line;  ///< of code that asked for it; empty: not recorded
  };
  /// "active_allocated", "active_awaiting_free", "inactive".
  [[nodiscard]] static BlockState block_state(std::string_view text);
  struct Segment {
    std::int32_t device = 0;
    std::int64_t total_bytes = 0;
    std::vector<Block> blocks{};  ///< in order of addresses
  };
  struct Event {
    std::string_view action;  ///< "alloc", "free_requested", "free_completed", "segment_alloc", ...
    std::int64_t bytes = 0;
    std::int64_t time_us = -1;  ///< -1: not recorded
    std::uint64_t address = 0;
    std::int64_t device_free_bytes = -1;  ///< "oom": left on the device
    std::string line{};                   ///< of code
  };

  void add(const Segment& segment);
  void add(std::int32_t number, const Event& event);
  [[nodiscard]] bool empty() const { return devices_.empty(); }
  /// Fills trace.memory with the device that has most events, and warns about others.
  void finish(LoadedTrace& trace);

 private:
  struct Change {
    std::int64_t time_us = 0;
    std::int64_t allocated = 0;
    std::int64_t pending = 0;
    std::int64_t reserved = 0;
    bool fails = false;  // the next of Device::failed
  };
  struct Device {
    Change level;  // at the end
    AllocatorState state;
    std::map<std::string, HeldMemory> holders;  // by line
    std::vector<FailedRequest> failed;
    std::vector<Change> changes;
    bool has_times = true;
  };
  static void hold(const Block& block, Device& device);
  static void describe_end(Device& device, MemoryTimeline& memory);
  static void fill(Device& device, LoadedTrace& trace);

  std::map<std::int32_t, Device> devices_;
};

}  // namespace foretrace::trace::formats
